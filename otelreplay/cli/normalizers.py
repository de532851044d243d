"""``normalizers``: what may differ between a recording and its replay."""

from __future__ import annotations

from pathlib import Path

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, columns, print_json, print_text
from otelreplay.cli.reading import CASSETTE_HELP, Expired, Unsealed, opened


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    normalizers = typer.Typer(help="Values that may differ in a replay.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(normalizers, name="normalizers")

    @command(normalizers, "learn")
    def learn(
        *,
        first: str = typer.Argument(..., metavar="CASSETTE", help=CASSETTE_HELP),
        second: str = typer.Argument(..., metavar="OTHER", help="Another recording of the same program with the same input."),
        out: Path = typer.Option(None, "--out", metavar="FILE", help="Write what was learned to FILE, for --normalizers."),
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> int:
        """Propose the fewest normalizers under which two recordings of one program match.

        Only what is made anew in each run is learned: times, UUIDs, addresses, counters with another beginning, the order of
        sets, tokens that nobody wrote. Everything else is listed as not learned, with the reason. What an answer or the input
        brought in needs no normalizer: a replay gives the recorded one. Exit 1 if something was not learned.
        """
        from otelreplay.report.normalizers import learned_lines, learned_text
        from otelreplay.wiring.learning import learned
        from otelreplay.wiring.replaying import check_report

        check_report(out)
        held = [opened(name, allow_expired=allow_expired, allow_unsealed=allow_unsealed) for name in (first, second)]
        found = learned(held[0], held[1])
        if out is not None:
            out.write_text(learned_lines(found), encoding="utf-8")
        print_json(found) if json else print_text(learned_text(found, columns=columns()))
        return int(not found["equal"])
