"""``diff``: two recordings side by side."""

from __future__ import annotations

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, columns, print_json, print_text
from otelreplay.cli.reading import CASSETTE_HELP, Expired, Unsealed, opened


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "diff")
    def diff(
        *,
        first: str = typer.Argument(..., metavar="CASSETTE", help=CASSETTE_HELP),
        second: str = typer.Argument(..., metavar="OTHER", help="The cassette to compare it with."),
        every: bool = typer.Option(False, "--all", help="Show equal events too, also where there are many."),
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> int:
        """Compare two recordings.

        The second is played against the first as a replay plays a running program. Times, ids, durations and token counts do
        not matter. An answer that differs is told apart from a request that differs, and what only follows from an earlier
        difference says so. Exit 0 if they are equal in all that counts, 1 if they are not.
        """
        from otelreplay.report.diff import diff_text
        from otelreplay.wiring.differing import compare

        held = [opened(name, allow_expired=allow_expired, allow_unsealed=allow_unsealed) for name in (first, second)]
        found = compare(held[0], held[1], names=(first, second))
        print_json(found) if json else print_text(diff_text(found, columns=columns(), every=every))
        return int(found["exit_code"])
