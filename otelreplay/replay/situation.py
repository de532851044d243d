"""What a session knows when something has to be explained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from otelreplay.events import Missing
from otelreplay.replay.answers import Served
from otelreplay.replay.bindings import Bindings
from otelreplay.replay.finding import Asked
from otelreplay.replay.holes import Skeletons
from otelreplay.replay.score import Recorded, Score


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
    """Answers by seq."""

    def agree(self, item: Recorded, asked: Asked) -> None:
        """A call was found."""
        self.agreed.append(Agreed(item, asked.number, asked.live.where))

    def in_reach(self, item: Recorded, context: int | None) -> bool:
        """Whether a call in this context may mean this recording."""
        return context is None or item.context is None or item.context == context
