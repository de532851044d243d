"""``status``: what a receiver took in, refused and sealed."""

from __future__ import annotations

from pathlib import Path

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, print_json, print_text


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "status")
    def status(
        *,
        store: Path = typer.Option(None, "--store", metavar="DIR", help="Folder of the store, served or not."),
        url: str = typer.Option("", "--url", metavar="URL", help="A serving receiver, as http://127.0.0.1:4318."),
        token: str = typer.Option("", "--token", envvar="OTELREPLAY_TOKEN", help="Bearer token for --url."),
        json: bool = Json,
    ) -> None:
        """Show what a receiver took in and sealed.

        What was refused and why, what came twice, differed or came too late, and what is pending. Counts of a store
        are those of up to a second ago.
        """
        from otelreplay.report.receiving import status_text
        from otelreplay.wiring.status import status_of

        found = status_of(store=store, url=url, token=token)
        print_json(found) if json else print_text(status_text(found))
