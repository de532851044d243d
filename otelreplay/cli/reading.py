"""The commands that read cassettes: ``list``, ``show``, ``events``, ``report``, ``verify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, columns, print_json, print_json_lines, print_text

if TYPE_CHECKING:
    from otelreplay.cassette import Cassette

CASSETTE_HELP = "A *.cassette.jsonl file, also .zst; - reads standard input."
CassetteFile = typer.Argument(..., metavar="CASSETTE", help=CASSETTE_HELP)
Expired = typer.Option(False, "--allow-expired", help="Read it although it has expired.")
NormalizerWords = typer.Option(
    [],
    "--normalizer",
    metavar="KIND[:FIELD]",
    help="What may differ: timestamps, uuids, addresses, numbers:FIELD, unordered:FIELD, regex:FIELD:PATTERN; repeatable.",
)
NormalizersFile = typer.Option("", "--normalizers", metavar="FILE", help="A file of them, one a line.")
Unsealed = typer.Option(False, "--allow-unsealed", help="Read what an unfinished or cut cassette holds, up to its end.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for add in (_list, _show, _events, _report, _verify):
        add(app)


def opened(name: str, *, allow_expired: bool, allow_unsealed: bool) -> Cassette:
    """The cassette, as every command that reads one opens it."""
    from otelreplay.wiring.reading import open_cassette

    held = open_cassette(name, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
    say_if_untrusted(held)
    return held


def say_if_untrusted(held: Cassette) -> None:
    """Whoever reads a cassette is told when nobody they trust has sealed it."""
    from otelreplay.wiring.reading import is_trusted

    if held.seal is not None and not is_trusted(held):
        said = f"otelreplay: sealed by {held.seal.signer}, who is not in the trust store: its content is that signer's word "
        typer.echo(said + "alone. If you know the signer: otelreplay keys trust FILE [cassette.untrusted]", err=True)


def _list(app: typer.Typer) -> None:
    @command(app, "list")
    def list_cassettes(
        folder: Path = typer.Argument(Path(), metavar="DIR", help="Where to look, at any depth; hidden folders are left out."),
        json: bool = Json,
    ) -> int:
        """List the cassettes in a folder.

        A file that cannot be read as one is listed with the reason. Exit 5 if one of them is not what its seal says, or not
        sealed; else 6 if one cannot be read at all.
        """
        from otelreplay.report.cassette import inventory_code, inventory_json, inventory_text
        from otelreplay.wiring.reading import cassettes_in

        found = list(cassettes_in(folder))
        if json:
            print_json_lines(map(inventory_json, found))
        else:
            print_text(inventory_text(found, columns=columns()))
        return inventory_code(found)


def _show(app: typer.Typer) -> None:
    @command(app, "show")
    def show(
        *,
        cassette: str = CassetteFile,
        event: int = typer.Option(None, "--event", metavar="SEQ", help="Show this event in full."),
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> None:
        """Show the timeline of a run, or one event in full."""
        from otelreplay.report.cassette import event_of, show_json, show_text
        from otelreplay.report.event import event_json, event_text
        from otelreplay.report.timeline import began
        from otelreplay.wiring.reports import curtain

        held = opened(cassette, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
        veil = curtain(held.header.policy)
        if event is None:
            print_json(show_json(held, clean=veil.text)) if json else print_text(
                show_text(held, columns=columns(), clean=veil.text)
            )
            return
        (found,) = veil.events([event_of(held, event)])
        if json:
            print_json(event_json(found))
        else:
            print_text(event_text(found, origin=began(held.events), columns=columns()))


def _events(app: typer.Typer) -> None:
    @command(app, "events")
    def events(
        *,
        cassette: str = CassetteFile,
        kind: str = typer.Option("", "--kind", metavar="KIND", help="Only events of this kind, such as model or tool."),
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> None:
        """Print the events of a run in full.

        With --json, one JSON object a line, in the form that `otelreplay schema` describes, exactly as the cassette holds it.
        """
        from otelreplay.report.event import event_json, event_text
        from otelreplay.report.timeline import began

        held = opened(cassette, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
        wanted = [event for event in held.events if kind in ("", event.kind)]
        if json:
            print_json_lines(map(event_json, wanted))
            return
        from otelreplay.wiring.reports import curtain

        origin = began(held.events)
        for number, event in enumerate(curtain(held.header.policy).events(wanted)):
            print_text(("\n" if number else "") + event_text(event, origin=origin, columns=columns()))


def _report(app: typer.Typer) -> None:
    @command(app, "report")
    def report(
        *,
        cassette: str = CassetteFile,
        require_complete: bool = typer.Option(False, "--require-complete", help="Exit with 3 unless the verdict is full."),
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> int:
        """Say what a cassette holds and what it lacks.

        Every gap has its cause, and the exact switch that would have recorded it.
        """
        from otelreplay.report.cassette import report_json, report_text
        from otelreplay.wiring.reports import curtain

        held = opened(cassette, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
        clean = curtain(held.header.policy).text
        found = report_json(held, clean=clean)
        print_json(found) if json else print_text(report_text(held, columns=columns(), clean=clean))
        return 3 if require_complete and found["verdict"] != "full" else 0


def _verify(app: typer.Typer) -> None:
    @command(app, "verify")
    def verify(cassette: str = CassetteFile, json: bool = Json) -> int:
        """Check seal and signer of a cassette.

        Exit 0 only if it is unaltered and its signer is trusted; else 5, and what was altered where.
        """
        from otelreplay.report.verification import cleaned_verification, verification_json, verification_text
        from otelreplay.wiring.reading import verify_file
        from otelreplay.wiring.reports import curtain

        found = cleaned_verification(verify_file(cassette), curtain().text)
        print_json(verification_json(found)) if json else print_text(verification_text(found, columns=columns()))
        return 0 if found.ok else 5
