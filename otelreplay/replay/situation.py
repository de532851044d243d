"""What a session knows when something has to be explained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from otelreplay.events import Missing
from otelreplay.replay.answers import Served
from otelreplay.replay.bindings import Bindings
from otelreplay.replay.finding import Asked
from otelreplay.replay.holes import Skeletons
from otelreplay.replay.score import Recorded, Score

ANSWERS: Final = 2_000
"""How many answers are looked through for where a value came from."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """One recording that was found, and by which call."""

    item: Recorded
    number: int
    where: str


@dataclass(slots=True, kw_only=True)
class Situation:
    """Grows with the run; read by :class:`otelreplay.replay.diagnosis.Diagnosis`."""

    score: Score
    skeletons: Skeletons
    bindings: Bindings
    gaps: Sequence[Missing]
    """Run-level gaps of the recording."""
    ended: bool
    """Whether the recording goes to the end of its run."""
    show: Callable[[Any], Any]
    calls: int = 0
    agreed: list[Agreed] = field(default_factory=list)
    """In the order of the calls."""
    served: dict[int, Served] = field(default_factory=dict)
    """The latest answers by seq, as many as are looked through for where a value came from."""
    origins: dict[int, str] = field(default_factory=dict)
    """Of each answer, by seq."""

    doubts: dict[int, Asked] = field(default_factory=dict)
    """By place: a recording that was passed over, and the call that may have been meant for it: it equals a later one of which
    not everything is compared."""

    def agree(self, item: Recorded, asked: Asked) -> None:
        """A call was found."""
        if item.how.loose and item.group[0] != "agent":
            passed = self.score.first_waiting(item.group)
            if passed is not None and passed.place < item.place and self.in_reach(passed, asked.context):
                self.doubts.setdefault(passed.place, asked)
        self.agreed.append(Agreed(item, asked.number, asked.live.where))

    def serve(self, served: Served) -> None:
        """An answer was given."""
        self.origins[served.seq] = served.origin
        self.served[served.seq] = served
        if len(self.served) > ANSWERS:
            del self.served[next(iter(self.served))]

    def in_reach(self, item: Recorded, context: int | None) -> bool:
        """Whether a call in this context may mean this recording."""
        return context is None or item.context is None or item.context == context
