"""What ``replay`` and ``run`` do beyond one replay of one cassette: all of a folder, and one under many settings."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from otelreplay.cli.output import columns, print_text
from otelreplay.cli.progress import Steps
from otelreplay.cli.reporting import Reporting, give, rendered

if TYPE_CHECKING:
    from otelreplay.cassette import Cassette

Jobs = typer.Option(
    0, "--jobs", metavar="N", min=0, help="So many replays at once; as many as there are processors if left out."
)
SelfCheck = typer.Option(
    False, "--self-check", help="Replay under other hash seeds, time zones, locales and schedules too, and compare the ends."
)


def replay_folder(
    folder: Path, words: Sequence[str], *, jobs: int, asked: Reporting, report: Path | None, allow_unsealed: bool
) -> int:
    """Replay every cassette of a folder; the exit code. ``words``: of the command line for one, with ``{cassette}``."""
    from otelreplay.canonical import dumps
    from otelreplay.report.many import many_text
    from otelreplay.wiring.many import check_reports, replay_all, write_reports

    check_reports(report)
    with Steps("replaying") as steps:
        found = replay_all(folder, words, jobs=jobs, allow_unsealed=allow_unsealed, done=steps)
    write_reports(report, found, folder)
    if asked.format in ("sarif", "junit"):
        made = rendered(asked.format, found.each())
    elif asked.format == "json":
        made = dumps(found.as_json()).decode() + "\n"
    else:
        made = many_text(found.as_json(), columns=columns())
    if asked.output is not None:
        asked.output.write_text(made, encoding="utf-8")
    else:
        print_text(made)
    return found.exit_code


def checked(words: Sequence[str], *, jobs: int, asked: Reporting, name: str) -> int:
    """Replay one cassette under several settings; the exit code. ``words``: of the command line, with ``{report}``."""
    from otelreplay.report.many import check_text
    from otelreplay.wiring.checking import self_check

    with Steps("replaying") as steps:
        found = self_check(words, jobs=jobs, done=steps)
    code = int(found.report["exit_code"]) or (0 if found.steady else 1)
    outcome = "unsteady" if code and not int(found.report["exit_code"]) else found.report["outcome"]
    give(asked, [(name, {**found.report, "outcome": outcome, "exit_code": code, "self_check": found.as_json()})])
    if not asked.takes_stdout:
        print_text("\n" + check_text(found.as_json(), columns=columns()), to=sys.stderr)
    return code


def keep_observed(cassette: Cassette, name: str, report: Mapping[str, Any]) -> None:
    """After the replay of a fork: what was observed becomes part of it, or of a child. Not within a self-check."""
    from otelreplay.cli.exits import say
    from otelreplay.wiring.forking import conclude
    from otelreplay.wiring.replaying import watched

    path = None if watched() else conclude(cassette, name, report)
    if path is not None:
        say(f"what this fork showed is sealed in {path}")
