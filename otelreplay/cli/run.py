"""``run``: any program again, with the cassette in place of the world."""

from __future__ import annotations

from pathlib import Path

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.many import Jobs, SelfCheck, checked, keep_observed, replay_folder
from otelreplay.cli.output import Json
from otelreplay.cli.reading import CASSETTE_HELP, Expired, NormalizersFile, NormalizerWords, Unsealed, say_if_untrusted
from otelreplay.cli.reporting import Format, Observe, Output, Report, give, reporting
from otelreplay.errors import UsageError

Tools = typer.Option(
    (),
    "--tool",
    metavar="[NAME=]MODULE:FUNCTION",
    help="A Python function that is answered from the cassette. May be repeated.",
)
Mcp = typer.Option(
    (), "--mcp", metavar="NAME", help="A tool that the program calls over MCP, where the recording does not show it; * for all."
)
LiveTools = typer.Option(
    (),
    "--live-tool",
    metavar="[NAME=]MODULE:FUNCTION",
    help="A Python function that really runs, in place of its recording. May be repeated.",
)
Clock = typer.Option("machine", "--clock", metavar="machine|recorded", help="Whose wall clock Python programs see.")
Fixtures = typer.Option("", "--fixtures", metavar="FILE", help="Answers for events whose data is missing.")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "run")
    def run(
        *,
        cassette: str = typer.Argument(..., metavar="CASSETTE|DIR", help=f"{CASSETTE_HELP} Or a folder of them."),
        words: list[str] = typer.Argument(..., metavar="COMMAND...", help="The program and its arguments, behind `--`."),
        tool: list[str] = Tools,
        mcp: list[str] = Mcp,
        live_tool: list[str] = LiveTools,
        clock: str = Clock,
        report: Path = Report,
        format: str = Format,
        output: Path = Output,
        observe: bool = Observe,
        fixtures: str = Fixtures,
        normalizer: list[str] = NormalizerWords,
        normalizers: str = NormalizersFile,
        timeout: float = typer.Option(None, "--timeout", metavar="SECONDS", min=0.0, help="End the program after this time."),
        self_check: bool = SelfCheck,
        jobs: int = Jobs,
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> int:
        """Run any program again, offline, from its cassette.

        The program needs no preparation: its requests to a model are answered from the cassette in the provider's own shape,
        the functions that --tool names are replaced, and everything else that would go live is blocked and listed. Its output
        passes through, and the report goes to stderr. With --json, or a format other than text, the report goes to stdout and
        the program's output to stderr; with --output, the report goes to a file.

        For a folder, the program is run once for every cassette in it, as `replay` does.
        """
        from otelreplay.wiring.replaying import open_for_replay
        from otelreplay.wiring.running import Options
        from otelreplay.wiring.running import run as start

        many = Path(cassette).is_dir()
        asked = reporting(format=format, output=output, report=None if many else report, json=json)
        options = Options(
            tools=tuple(tool),
            mcp=tuple(mcp),
            live_tools=tuple(live_tool),
            fixtures=fixtures,
            clock=_follows(clock),
            observe=observe,
            normalizer=tuple(normalizer),
            normalizers=normalizers,
        )
        if self_check or many:
            more = [*options.words(), *_further(timeout, expired=allow_expired, unsealed=allow_unsealed), "--", *words]
            if not many:
                return checked(["run", cassette, *more], jobs=jobs, asked=asked, name=cassette)
            every = ["run", "{cassette}", *(["--self-check", "--jobs", "1"] if self_check else []), *more]
            return replay_folder(Path(cassette), every, jobs=jobs, asked=asked, report=report, allow_unsealed=allow_unsealed)
        held = open_for_replay(cassette, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
        say_if_untrusted(held.cassette)
        found = start(held, words, options=options, timeout=timeout, to_stderr=asked.takes_stdout)
        give(asked, [(str(found.report["cassette"]), found.report)])
        keep_observed(held.cassette, cassette, found.report)
        return found.exit_code


def _follows(clock: str) -> bool:
    if clock not in ("machine", "recorded"):
        raise UsageError(
            "there is no such clock", code="run.clock", where=f"--clock {clock}", next_step="write --clock machine or recorded"
        )
    return clock == "recorded"


def _further(timeout: float | None, *, expired: bool, unsealed: bool) -> list[str]:
    """The rest of the options, for a process that does one run of several."""
    words = ["--report", "{report}", *(["--timeout", str(timeout)] if timeout is not None else [])]
    return words + [name for name, wanted in {"--allow-expired": expired, "--allow-unsealed": unsealed}.items() if wanted]
