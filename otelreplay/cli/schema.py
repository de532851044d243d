"""``schema``: the published shape of an event."""

from __future__ import annotations

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import print_text


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "schema")
    def schema() -> None:
        """Print the JSON Schema of an event."""
        from otelreplay.events.schema import schema_text

        print_text(schema_text())
