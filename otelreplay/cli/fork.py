"""``fork``: what would the program have done, had this been otherwise?"""

from __future__ import annotations

from pathlib import Path

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, print_json
from otelreplay.cli.reading import CassetteFile, Expired, opened


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "fork")
    def fork(
        *,
        cassette: str = CassetteFile,
        at: int = typer.Option(..., "--at", metavar="SEQ", help="The event to change."),
        put: list[str] = typer.Option(
            ..., "--set", metavar="FIELD=VALUE", help="A field of the event and its value, as JSON or text. May be repeated."
        ),
        reason: str = typer.Option(..., "--reason", metavar="TEXT", help="Why; kept in the fork."),
        out: Path = typer.Option(None, "--out", metavar="DIR", help="Where to; beside the cassette if left out."),
        allow_expired: bool = Expired,
        json: bool = Json,
    ) -> None:
        """Make a fork of a cassette with one event changed by hand.

        A field that is missing can be filled in the same way. The value passes the policy of the cassette. The fork names its
        parent and the reason, and is a draft without a seal; its first replay adds what was observed, and seals it. Prints the
        name of its file.
        """
        from otelreplay.wiring.forking import edits_of
        from otelreplay.wiring.forking import fork as make

        held = opened(cassette, allow_expired=allow_expired, allow_unsealed=False)
        path = make(held, cassette, seq=at, edits=edits_of(put), reason=reason, out=out)
        if json:
            print_json({"fork": str(path), "run_id": path.name.partition(".")[0], "parent": held.header.run_id})
        else:
            typer.echo(str(path))
