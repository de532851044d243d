"""``replay``: run the agent again, with the cassette in place of the world."""

from __future__ import annotations

from pathlib import Path

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.many import Jobs, SelfCheck, checked, keep_observed, replay_folder
from otelreplay.cli.output import Json
from otelreplay.cli.reading import CASSETTE_HELP, Expired, NormalizersFile, NormalizerWords, Unsealed, say_if_untrusted
from otelreplay.cli.reporting import Format, Observe, Output, Report, give, reporting


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "replay")
    def replay(
        *,
        cassette: str = typer.Argument(..., metavar="CASSETTE|DIR", help=f"{CASSETTE_HELP} Or a folder of them."),
        agent: str = typer.Option(..., "--agent", metavar="MODULE:FUNCTION", help="The decorated function to call."),
        report: Path = Report,
        format: str = Format,
        output: Path = Output,
        observe: bool = Observe,
        fixtures: str = typer.Option("", "--fixtures", metavar="FILE", help="Answers for events whose data is missing."),
        normalizer: list[str] = NormalizerWords,
        normalizers: str = NormalizersFile,
        timeout: float = typer.Option(None, "--timeout", metavar="SECONDS", min=0.0, help="End the program after this time."),
        self_check: bool = SelfCheck,
        jobs: int = Jobs,
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> int:
        """Run an agent again, offline, from its cassette.

        The agent's own code runs, in a process of its own, with the arguments that were recorded; every decorated function
        answers from the cassette. Nothing live can be reached; an attempt is blocked and listed. Its output passes through, and
        the report goes to stderr. With --json, or a format other than text, the report goes to stdout and the output of the
        agent to stderr; with --output, the report goes to a file.

        For a folder, every cassette in it is replayed, several at once, and the failures are grouped by their first divergence.
        --report FILE then holds all of it, --report DIR a file for each cassette.
        """
        from otelreplay.wiring.normalizing import options as as_options
        from otelreplay.wiring.replaying import open_for_replay
        from otelreplay.wiring.replaying import replay as run

        many = Path(cassette).is_dir()
        asked = reporting(format=format, output=output, report=None if many else report, json=json)
        if self_check or many:
            words = _words(agent, fixtures, timeout, observe=observe, expired=allow_expired, unsealed=allow_unsealed)
            words += as_options(normalizer, normalizers)
            if not many:
                return checked(["replay", cassette, *words], jobs=jobs, asked=asked, name=cassette)
            words += ["--self-check", "--jobs", "1"] if self_check else []
            every = ["replay", "{cassette}", *words]
            return replay_folder(Path(cassette), every, jobs=jobs, asked=asked, report=report, allow_unsealed=allow_unsealed)
        held = open_for_replay(cassette, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
        say_if_untrusted(held.cassette)
        found = run(
            held, agent=agent, fixtures=fixtures, normalizer=normalizer, normalizers=normalizers, timeout=timeout,
            to_stderr=asked.takes_stdout, observe=observe,
        )  # fmt: skip
        give(asked, [(str(found.report.get("cassette", cassette)), found.report)])
        keep_observed(held.cassette, cassette, found.report)
        return found.exit_code


def _words(agent: str, fixtures: str, timeout: float | None, *, observe: bool, expired: bool, unsealed: bool) -> list[str]:
    """The options of one replay, for a process that does one of several."""
    words = ["--agent", agent, "--report", "{report}"]
    words += ["--fixtures", fixtures] if fixtures else []
    words += ["--timeout", str(timeout)] if timeout is not None else []
    flags = {"--observe": observe, "--allow-expired": expired, "--allow-unsealed": unsealed}
    return words + [name for name, wanted in flags.items() if wanted]
