"""``replay``: run the agent again, with the cassette in place of the world."""

from __future__ import annotations

from pathlib import Path

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json
from otelreplay.cli.reading import CassetteFile, Expired, Unsealed, say_if_untrusted
from otelreplay.cli.reporting import Format, Observe, Output, Report, give, reporting


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "replay")
    def replay(
        *,
        cassette: str = CassetteFile,
        agent: str = typer.Option(..., "--agent", metavar="MODULE:FUNCTION", help="The decorated function to call."),
        report: Path = Report,
        format: str = Format,
        output: Path = Output,
        observe: bool = Observe,
        fixtures: str = typer.Option("", "--fixtures", metavar="FILE", help="Answers for events whose data is missing."),
        timeout: float = typer.Option(None, "--timeout", metavar="SECONDS", min=0.0, help="End the program after this time."),
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> int:
        """Run an agent again, offline, from its cassette.

        The agent's own code runs, in a process of its own, with the arguments that were recorded; every decorated function
        answers from the cassette. Nothing live can be reached; an attempt is blocked and listed. Its output passes through, and
        the report goes to stderr. With --json, or a format other than text, the report goes to stdout and the output of the
        agent to stderr; with --output, the report goes to a file.
        """
        from otelreplay.wiring.replaying import open_for_replay
        from otelreplay.wiring.replaying import replay as run

        asked = reporting(format=format, output=output, report=report, json=json)
        held = open_for_replay(cassette, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
        say_if_untrusted(held.cassette)
        found = run(held, agent=agent, fixtures=fixtures, timeout=timeout, to_stderr=asked.takes_stdout, observe=observe)
        give(asked, [(str(found.report.get("cassette", cassette)), found.report)])
        return found.exit_code
