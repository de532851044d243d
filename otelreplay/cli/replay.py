"""``replay``: run the agent again, with the cassette in place of the world."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, columns, print_json, print_text
from otelreplay.cli.reading import CassetteFile, Expired, Unsealed, say_if_untrusted


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "replay")
    def replay(
        *,
        cassette: str = CassetteFile,
        agent: str = typer.Option(..., "--agent", metavar="MODULE:FUNCTION", help="The decorated function to call."),
        report: Path = typer.Option(None, "--report", metavar="FILE", help="Write the report to FILE, as JSON."),
        fixtures: str = typer.Option("", "--fixtures", metavar="FILE", help="Answers for events whose data is missing."),
        timeout: float = typer.Option(None, "--timeout", metavar="SECONDS", min=0.0, help="End the program after this time."),
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> int:
        """Run an agent again, offline, from its cassette.

        The agent's own code runs, in a process of its own, with the arguments that were recorded; every decorated function
        answers from the cassette. Nothing live can be reached;
        an attempt is blocked and listed. Its output passes through, and the report goes to stderr. With --json, the report goes
        to stdout, and the agent's output to stderr.
        """
        from otelreplay.report.replay import replay_text
        from otelreplay.wiring.replaying import check_report, open_for_replay, write_report
        from otelreplay.wiring.replaying import replay as run

        check_report(report)
        held = open_for_replay(cassette, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
        say_if_untrusted(held.cassette)
        found = run(held, agent=agent, fixtures=fixtures, timeout=timeout, to_stderr=json)
        write_report(report, found.report)
        if json:
            print_json(found.report)
        else:
            print_text(replay_text(found.report, columns=columns()), to=sys.stderr)
        return found.exit_code
