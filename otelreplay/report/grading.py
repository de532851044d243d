"""How much of what crossed the boundaries of a run is in hand: field by field, by rule, and as one number.

The number
----------
A run's *grade* is the share of its content fields (what went in, what came out; see ``events.completeness``) that are in
hand, from 0 to 1:

- a field that was recorded, or inferred (quoted elsewhere in the telemetry; the mark says where and by which rule), counts 1;
- an *assumed* one counts ½: no place quotes it, a rule of :data:`ASSUMED` concludes it from what is beside it;
- one that is held in part (a piece of it is missing, or was cut) counts half of that;
- an absent one counts 0, and each gap that no event can hold (the run-level ``missing``) counts as two of those.

A field that is not owed (see ``OWING`` there) and of which nothing is said counts neither way. Without any field there is no
grade. It says how much can be replayed from what is there, not how good the agent was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from otelreplay.events import Event, Inferred, Missing, expand
from otelreplay.events.completeness import HELD_IN_PART, content_states, covers
from otelreplay.report.cleaning import Clean, as_it_is

State = Literal["recorded", "inferred", "assumed", "absent"]
STATES: tuple[State, ...] = ("recorded", "inferred", "assumed", "absent")
WEIGHTS: dict[State, float] = {"recorded": 1.0, "inferred": 1.0, "assumed": 0.5, "absent": 0.0}
ASSUMED = frozenset(
    {"empty_content_in_record", "empty_reply_from_finish_reason", "role_from_other_request", "scalar_read_from_json_text"}
)
"""Rules whose value no place in the telemetry quotes; ``docs/dialects.md`` says what each does."""
_INSTEAD = {
    "response.result": ("response.as_seen", "response.chunks"),
    "response.messages": ("response.chunks", "response.result"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldGrade:
    """One content field of an event."""

    field: str
    state: State
    in_part: bool = False
    """A piece of it is missing, or was cut."""
    rules: tuple[str, ...] = ()
    """The rules by which it, or pieces of it, were inferred."""
    causes: tuple[str, ...] = ()
    """Why it, or pieces of it, are missing."""

    @property
    def weight(self) -> float:
        """What it counts, from 0 to 1."""
        return WEIGHTS[self.state] / (2 if self.in_part else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryGrade:
    """One event; ``fields`` are its content fields, those of the request before those of the response."""

    seq: int
    kind: str
    name: str
    fields: tuple[FieldGrade, ...]

    def side(self, side: str) -> tuple[FieldGrade, ...]:
        """The fields of ``request`` or ``response``."""
        return tuple(each for each in self.fields if each.field.partition(".")[0] == side)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGrade:
    """One run: of a cassette, or of a trace file that was converted in memory."""

    run_id: str
    verdict: str
    boundaries: tuple[BoundaryGrade, ...]
    missing: tuple[tuple[str, str], ...] = ()
    """(field, cause) of boundaries that no event could be made of."""

    @property
    def fields(self) -> Counter[State]:
        """How many content fields are in which state."""
        return Counter(each.state for boundary in self.boundaries for each in boundary.fields)

    @property
    def grade(self) -> float | None:
        """The number that the module describes."""
        return _share(_sums(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGrade:
    """One file: its runs, or why it could not be read."""

    name: str
    runs: tuple[RunGrade, ...] = ()
    refused: int = 0
    """Records of a trace file that could not be read."""
    problem: str = ""
    exit_code: int = 0
    """What a command that reads this file alone would end with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grades:
    """Everything that was graded; ``folder``: many files were asked for, rather than one."""

    files: tuple[FileGrade, ...]
    folder: bool = False

    @property
    def runs(self) -> tuple[RunGrade, ...]:
        """The runs of all files."""
        return tuple(run for file in self.files for run in file.runs)

    @property
    def grade(self) -> float | None:
        """The share over all fields of all runs."""
        sums = [_sums(run) for run in self.runs]
        return _share((sum(held for held, _ in sums), sum(owed for _, owed in sums)))

    @property
    def exit_code(self) -> int:
        """0 if every file could be read; else 5 before 6, as for ``list``."""
        return min((file.exit_code for file in self.files if file.exit_code), default=0)


def grade_run(
    run_id: str, verdict: str, events: Iterable[Event], missing: Iterable[Missing] = (), *, clean: Clean = as_it_is
) -> RunGrade:
    """The grade of a run. ``clean`` redacts the names of its events."""
    boundaries = tuple(_boundary(expand(event), clean) for event in events)
    return RunGrade(
        run_id=run_id,
        verdict=verdict,
        boundaries=boundaries,
        missing=tuple((clean(gap.field), gap.cause) for gap in missing),
    )


def _boundary(event: Event, clean: Clean) -> BoundaryGrade:
    fields = tuple(_field(event, name, state) for name, state in content_states(event))
    return BoundaryGrade(seq=event.seq, kind=event.kind, name=clean(event.name), fields=fields)


def _field(event: Event, name: str, state: str) -> FieldGrade:
    names = (name, *_INSTEAD.get(name, ()))
    marks = [mark for mark in event.inferred if any(covers(mark, each) or _inside(mark.field, each) for each in names)]
    gaps = [gap for gap in event.missing if covers(gap, name) or _inside(gap.field, name)]
    return FieldGrade(
        field=name,
        state=_state(state, marks),
        in_part=state != "absent" and any(_inside(gap.field, name) or gap.cause in HELD_IN_PART for gap in gaps),
        rules=tuple(sorted({mark.rule for mark in marks})) if state != "absent" else (),
        causes=tuple(sorted({gap.cause for gap in gaps})),
    )


def _state(state: str, marks: list[Inferred]) -> State:
    if state == "inferred":
        return "assumed" if marks and all(mark.rule in ASSUMED for mark in marks) else "inferred"
    return "recorded" if state == "recorded" else "absent"


def _inside(inner: str, outer: str) -> bool:
    """Is ``inner`` a smaller part of the field ``outer``?"""
    return inner.startswith(outer) and inner[len(outer) : len(outer) + 1] in (".", "[") and inner != outer


def _sums(run: RunGrade) -> tuple[float, int]:
    """(what is in hand, how many fields there are), a boundary without an event as two fields."""
    fields = [each for boundary in run.boundaries for each in boundary.fields]
    return sum(each.weight for each in fields), len(fields) + 2 * len(run.missing)


def _share(sums: tuple[float, int]) -> float | None:
    held, owed = sums
    return held / owed if owed else None
