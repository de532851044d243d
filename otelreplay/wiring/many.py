"""Every cassette of a folder replayed, each in processes of its own, and the failures grouped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from otelreplay.canonical import dumps
from otelreplay.errors import InputError, OtelReplayError, UsageError
from otelreplay.replay.grouping import Case, Facts, Group, facts_of, grouped
from otelreplay.wiring.processes import Processes, Ran, Task
from otelreplay.wiring.reading import cassette_files, open_cassette
from otelreplay.wiring.reports import curtain

_PRECEDENCE: Final = (130, 70, 2, 5, 6, 4, 3, 1)
"""Which exit code stands for several; one that is not here (a signal) is like 1."""
_ENDED: Final = {2: "usage", 5: "integrity", 6: "unreadable", 70: "bug", 130: "interrupted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """What the replays of a folder came to."""

    cases: tuple[Case, ...]
    groups: tuple[Group, ...]
    reports: Mapping[str, Mapping[str, Any]]
    """Cassette → its report."""

    @property
    def exit_code(self) -> int:
        """0 only if every replay ended with 0, and there was one."""
        codes = {case.exit_code for case in self.cases}
        return next((code for code in _PRECEDENCE if code in codes), 1 if codes != {0} else 0)

    def each(self) -> list[tuple[str, Mapping[str, Any]]]:
        """(cassette, report) of each; one that never began has an outcome and no more."""
        return [(case.name, self.reports.get(case.name) or _case_json(case)) for case in self.cases]

    def as_json(self) -> dict[str, Any]:
        """The report of all."""
        return {
            "outcome": "as_recorded" if self.exit_code == 0 else "failures",
            "exit_code": self.exit_code,
            "replayed": len(self.cases),
            "passed": sum(case.exit_code == 0 for case in self.cases),
            "failed": sum(case.exit_code != 0 for case in self.cases),
            "groups": [group.as_json() for group in self.groups],
            "cassettes": [_case_json(case) for case in self.cases],
        }


def replay_all(
    folder: Path, words: Sequence[str], *, jobs: int = 0, allow_unsealed: bool = False,
    done: Callable[[int, int], None] | None = None,
) -> Many:  # fmt: skip
    """Replay every cassette under ``folder`` by these words of the command line, ``{cassette}`` and ``{report}`` among them.

    Raises InputError if there is none.
    """
    paths = list(cassette_files(folder))
    if not paths:
        raise InputError(
            "there is no cassette in this folder", code="input.no_cassettes", where=str(folder),
            next_step="name a folder that holds *.cassette.jsonl files",
        )  # fmt: skip
    tasks = [
        Task(name=str(path), words=[str(path) if word == "{cassette}" else word for word in words]) for path in paths
    ]  # fmt: skip
    ended = [0]

    def step(_: Ran) -> None:
        ended[0] += 1
        if done is not None:
            done(ended[0], len(tasks))

    ran = Processes(jobs).run(tasks, step)
    cases = tuple(_case(one, allow_unsealed=allow_unsealed) for one in ran)
    reports = {one.name: one.report for one in ran if one.report is not None}
    return Many(cases=cases, groups=tuple(grouped(cases)), reports=reports)


def _case(ran: Ran, *, allow_unsealed: bool) -> Case:
    report = ran.report or {}
    first = report.get("first_divergence")
    again = str((first or {}).get("reproduce") or "")
    outcome = str(report.get("outcome") or _ENDED.get(ran.exit_code, "ended without a report"))
    return Case(
        name=ran.name, exit_code=ran.exit_code if ran.exit_code >= 0 else 1, outcome=outcome, first=first, code=ran.code,
        problem=ran.problem, reproduce=again, facts=_facts(ran.name, allow_unsealed=allow_unsealed),
    )  # fmt: skip


def _facts(name: str, *, allow_unsealed: bool) -> Facts:
    try:
        held = open_cassette(name, allow_expired=True, allow_unsealed=allow_unsealed)
    except OtelReplayError:
        return Facts()
    found = facts_of(held)
    clean = curtain(held.header.policy).text
    return Facts(
        features={n: frozenset(map(clean, values)) for n, values in found.features.items()}, began=found.began,
        events=found.events,
    )  # fmt: skip


def _case_json(case: Case) -> dict[str, Any]:
    code = (case.first or {}).get("code") or case.code
    return {"cassette": case.name, "outcome": case.outcome, "exit_code": case.exit_code, "code": code, "problem": case.problem}


def check_reports(place: Path | None) -> None:
    """Raise UsageError if no report can be written there."""
    if place is not None and place.exists() and not place.is_dir() and not place.is_file():
        raise UsageError("no report can be written there", code="output.unwritable", where=str(place))


def write_reports(place: Path | None, found: Many, folder: Path) -> None:
    """One file for all; or into a folder that exists: ``summary.json``, and the report of each cassette under its name."""
    if place is None:
        return
    if not place.is_dir():
        place.write_bytes(dumps(found.as_json()) + b"\n")
        return
    (place / "summary.json").write_bytes(dumps(found.as_json()) + b"\n")
    for name, report in found.reports.items():
        inner = Path(name).relative_to(folder) if Path(name).is_relative_to(folder) else Path(Path(name).name)
        file = place / inner.with_name(f"{inner.name.removesuffix('.zst').removesuffix('.jsonl')}.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(dumps(dict(report)) + b"\n")
