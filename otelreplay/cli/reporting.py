"""How the report of a replay is given: the options that ``replay`` and ``run`` share, and what they do.

--format text     to stderr, since stdout is the program's; the others to stdout, and the program's own output to stderr
--output FILE     the chosen format into FILE; the text to stderr all the same
--report FILE     JSON into FILE, whatever else
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from otelreplay.cli.output import columns, print_json, print_text
from otelreplay.errors import UsageError

FORMATS: Final = ("text", "json", "sarif", "junit")
Format = typer.Option("text", "--format", metavar="FORMAT", help="Form of the report: text, json, sarif or junit.")
Output = typer.Option(None, "--output", metavar="FILE", help="Write the report to FILE, in that form.")
Report = typer.Option(None, "--report", metavar="FILE", help="Write the report to FILE, as JSON.")
Observe = typer.Option(False, "--observe", help="Go on after a divergence where that is possible, and list them all.")

Replays = Sequence[tuple[str, Mapping[str, Any]]]
"""(name of the cassette, JSON report)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """What was asked for."""

    format: str
    output: Path | None
    report: Path | None

    @property
    def takes_stdout(self) -> bool:
        """Whether stdout is the report's, so that the program's output has to go to stderr."""
        return self.format != "text" and self.output is None


def reporting(*, format: str, output: Path | None, report: Path | None, json: bool = False) -> Reporting:
    """What was asked for, checked before anything runs. Raises UsageError."""
    from otelreplay.wiring.replaying import check_report

    if format not in FORMATS or (json and format not in ("text", "json")):
        what = f"there is no format {format}" if format not in FORMATS else f"--json and --format {format} ask for two things"
        raise UsageError(what, code="output.format", next_step=f"choose one of {', '.join(FORMATS)}")
    for file in (output, report):
        check_report(file)
    return Reporting(format="json" if json else format, output=output, report=report)


def give(asked: Reporting, replays: Replays) -> None:
    """Print and write the report of one replay, or of several."""
    from otelreplay.report.replay import replay_text
    from otelreplay.wiring.replaying import write_report

    for _, report in replays:
        write_report(asked.report, report)
    if asked.format != "text" and asked.output is None:
        if asked.format == "json":
            for _, report in replays:
                print_json(report)
        else:
            print_text(rendered(asked.format, replays))
        return
    if asked.output is not None:
        asked.output.write_text(rendered(asked.format, replays), encoding="utf-8")
    for _, report in replays:
        print_text(replay_text(report, columns=columns()), to=sys.stderr)


def rendered(format: str, replays: Replays) -> str:
    """The report in a form, as text with a line end."""
    from otelreplay import __version__
    from otelreplay.canonical import dumps
    from otelreplay.report.junit import junit_xml
    from otelreplay.report.replay import replay_text
    from otelreplay.report.sarif import sarif

    if format == "sarif":
        return dumps(sarif(replays, version=__version__)).decode() + "\n"
    if format == "junit":
        return junit_xml(replays)
    if format == "json":
        return "".join(dumps(report).decode() + "\n" for _, report in replays)
    return "\n".join(replay_text(report, columns=100) for _, report in replays)
