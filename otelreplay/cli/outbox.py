"""``outbox``: what instrumented programs have recorded and not delivered yet."""

from __future__ import annotations

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, print_json, print_text

Folder = typer.Option(
    "", "--outbox", metavar="DIR", help="Folder of the outboxes; else OTELREPLAY_OUTBOX, else in the user's state folder."
)


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    outbox = typer.Typer(
        help="Spans that programs have recorded and not delivered.", no_args_is_help=True, rich_markup_mode=None
    )
    app.add_typer(outbox, name="outbox")

    @command(outbox, "status")
    def status(folder: str = Folder, json: bool = Json) -> None:
        """Say what waits, for which receiver, and whether its process still lives."""
        from otelreplay.report.outbox import status_json, status_text
        from otelreplay.wiring.outboxes import outbox_folder, outboxes_in

        place = outbox_folder(folder)
        found = status_json(str(place), outboxes_in(place))
        print_json(found) if json else print_text(status_text(found))

    @command(outbox, "send")
    def send(
        folder: str = Folder,
        header: list[str] = typer.Option(
            [], "--header", metavar="NAME=VALUE", help="A header to send; else OTEL_EXPORTER_OTLP_HEADERS. Repeat it for more."
        ),
        timeout: float = typer.Option(60.0, "--timeout", metavar="SECONDS", help="At most this long for each receiver."),
        json: bool = Json,
    ) -> int:
        """Send what processes that are gone have left, to where it was meant to go.

        Living processes send theirs themselves. Exit 1 if something still waits.
        """
        from otelreplay.report.outbox import sending_json, sending_text
        from otelreplay.wiring.outboxes import outbox_folder, send_outboxes

        found = sending_json(send_outboxes(outbox_folder(folder), headers=header, seconds=timeout))
        print_json(found) if json else print_text(sending_text(found))
        return 1 if found["pending"] else 0
