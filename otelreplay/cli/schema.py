"""``schema``: the published shape of an event, and of a replay's report."""

from __future__ import annotations

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import print_text


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "schema")
    def schema(
        *, report: bool = typer.Option(False, "--report", help="The schema of a replay's report in place of an event's.")
    ) -> None:
        """Print the JSON Schema of an event or of a replay's report."""
        if report:
            from otelreplay.report.schema import schema_text as text
        else:
            from otelreplay.events.schema import schema_text as text

        print_text(text())
