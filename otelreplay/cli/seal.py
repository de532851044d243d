"""``seal``: turn what is pending in a store into cassettes now."""

from __future__ import annotations

from pathlib import Path

import typer

from otelreplay.cli.exits import command, say
from otelreplay.cli.output import Json, print_json, print_text


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "seal")
    def seal(
        *,
        run: str = typer.Argument("", metavar="[RUN]", help="Only this run: its id, or the id of one of its traces."),
        store: Path = typer.Option(..., "--store", metavar="DIR", help="Folder of the store."),
        policy: str = typer.Option(
            "", "--policy", metavar="FILE|default|off", help="Where nothing serves the store; by default the policy of then."
        ),
        wait: float = typer.Option(60.0, "--wait", min=0, metavar="SECONDS", help="How long a serving process may take."),
        json: bool = Json,
    ) -> int:
        """Seal what is pending in a store now.

        Also runs that have not ended: those are visibly incomplete, and revised by what follows. Works while
        `otelreplay serve` runs on the store, which then does it, and when nothing serves it.
        """
        from otelreplay.report.receiving import sealed_text
        from otelreplay.wiring.serving import seal_store

        answer = seal_store(store, run=run, policy=policy or None, wait=wait)
        print_json(answer) if json else print_text(sealed_text(answer))
        for problem in answer["problems"]:
            say(problem)
        return 6 if answer["problems"] else 0
