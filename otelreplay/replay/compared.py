"""What the comparison of two recordings came to: a timeline of both, and the first difference. Values, and their JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from otelreplay.events import Event
from otelreplay.replay.divergence import Divergence

EQUAL, CHANGED, ANSWER, ADDED, REMOVED, ORDER = "equal", "changed", "answer", "added", "removed", "order"
ANSWER_CHANGED: Final = "diff.answer_changed"


@dataclass(slots=True, kw_only=True)
class Row:
    """One line of the timeline: an event of the first recording, of the second, or of both."""

    state: str
    first: int | None
    """seq in the first recording."""
    second: int | None
    boundary: str
    operation: str
    agent: str
    place: tuple[int, int]
    """Sorts the timeline."""
    divergence: Divergence | None = None
    """Of the request: what a replay of the first recording would have said."""
    follows: int | None = None
    """seq of the event in which all of this differed before."""
    answer: Divergence | None = None
    """How the answer differs."""
    answer_cause: str = ""
    answer_follows: int | None = None

    def differences(self) -> list[dict[str, Any]]:
        """What differs here, the request first, each in the shape of ``first_divergence``."""
        out = []
        both = {"seq": self.first, "other_seq": self.second}
        if self.divergence is not None:
            expected = {"seq": self.divergence.seq} if self.first is None else {}
            out.append(self.divergence.as_json() | both | expected | {"follows": self.follows})
        if self.answer is not None:
            said = {"code": ANSWER_CHANGED, "kind": "answer_changed", "cause": self.answer_cause}
            out.append(self.answer.as_json() | said | both | {"follows": self.answer_follows})
        return out

    def as_json(self) -> dict[str, Any]:
        """A row of the timeline."""
        names = ("state", "first", "second", "boundary", "operation", "agent")
        return {name: getattr(self, name) for name in names} | {"differences": self.differences()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The whole."""

    rows: tuple[Row, ...]
    unchecked: tuple[dict[str, Any], ...]
    normalised: tuple[dict[str, Any], ...]
    assumed: tuple[dict[str, Any], ...]
    made: tuple[str, ...]
    """Kinds whose values each run made for itself, and that stand for each other."""
    nothing: Divergence | None = None
    """Nothing was compared: there is no pair of events."""
    command: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def equal(self) -> bool:
        """Equal in all that counts, and in something."""
        return self.nothing is None and all(row.state == EQUAL for row in self.rows)

    def timeline(self) -> list[Row]:
        """Both recordings in one order: the first one's, with what only the second has after what came before it there."""
        return sorted(self.rows, key=lambda row: row.place)

    def found(self) -> list[dict[str, Any]]:
        """Every difference: causes before what follows from them, in the order of the timeline, agents' endings last."""
        said = [(d, row) for row in self.timeline() for d in row.differences()]
        late = {id(d): d["code"] == ANSWER_CHANGED and row.boundary == "agent" for d, row in said}
        ordered = sorted(said, key=lambda pair: (pair[0]["follows"] is not None, late[id(pair[0])]))
        nothing = [] if self.nothing is None else [self.nothing.as_json() | {"other_seq": None, "follows": None}]
        return [*nothing, *(d | {"reproduce": self.command} for d, _ in ordered)]

    def as_json(self) -> dict[str, Any]:
        """The report: the members of a replay's, and ``timeline`` and ``counts``."""
        found = self.found()
        rows = self.timeline()
        made = [
            {"field": "", "rule": kind, "reason": "each run made its own", "count": 1, "seqs": []} for kind in self.made
        ]  # fmt: skip
        return {
            "outcome": "equal" if self.equal else "different",
            "exit_code": 0 if self.equal else 1,
            "counts": {state: sum(row.state == state for row in rows) for state in _STATES},
            "first_divergence": found[0] if found else None,
            "others": found[1:],
            "timeline": [row.as_json() for row in rows],
            "unchecked": list(self.unchecked),
            "normalised": [*self.normalised, *made],
            "assumed": list(self.assumed),
            "notes": list(self.notes),
        }


_STATES: Final = (EQUAL, CHANGED, ANSWER, ADDED, REMOVED, ORDER)


def row_of(
    state: str, ours: Event | None, theirs: Event | None, show: Callable[[str], str], *, place: tuple[int, int],
    divergence: Divergence | None = None, follows: int | None = None,
) -> Row:  # fmt: skip
    """A row about these events, with their names as a report may show them."""
    event = ours or theirs
    assert event is not None
    return Row(
        state=state, first=ours.seq if ours else None, second=theirs.seq if theirs else None, boundary=event.kind,
        operation=show(event.name), agent=show(event.agent or ""), place=place, divergence=divergence, follows=follows,
    )  # fmt: skip
