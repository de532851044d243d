"""``--observe``: a replay that goes on after a divergence, to see what else there is.

The call that diverged is answered with the recording that was meant or is nearest (:meth:`Diagnosis.stand_in` has the rule),
and that answer is listed as assumed. Where there is none of its kind and operation, or none with an answer, the program is
stopped as always. What follows from an assumed answer may be a knock-on of the first divergence; the first stays the first.

A call that was taken for a changed one is named again, as put in, when the one that it was taken for comes afterwards.
"""

from __future__ import annotations

from collections.abc import Callable

from otelreplay.replay.answers import Absent, Served
from otelreplay.replay.diagnosis import Diagnosis
from otelreplay.replay.divergence import Divergence
from otelreplay.replay.finding import Asked, Fit
from otelreplay.replay.score import Recorded, Score


class Observing:
    """Finds answers for calls that have diverged. Knows which recordings were given in place of others."""

    def __init__(self, score: Score, diagnosis: Diagnosis, answer_of: Callable[[Recorded, Asked], Served | Absent]) -> None:
        self._score, self._diagnosis, self._answer_of = score, diagnosis, answer_of
        self._given: dict[Recorded, Divergence] = {}
        """Recordings that answered another call, by the divergence that this was."""
        self.passed_over: list[Recorded] = []
        """Recordings that the program went past; they count as unused."""

    def answer(self, asked: Asked, divergence: Divergence, early: Fit | None) -> Served | None:
        """An answer all the same; None if there is nothing to answer with."""
        if divergence.kind == "response_missing":
            return None
        item = self._diagnosis.stand_in(asked, divergence, early)
        if item is None:
            return None
        served = self._answer_of(item, asked)
        if isinstance(served, Absent):
            return None
        if not item.taken:
            if divergence.kind == "request_changed":
                self._given[item] = divergence
            item.taken = True
        self._pass_over(item)
        return served

    def taken_back(self, asked: Asked) -> tuple[Recorded, Divergence, Divergence] | None:
        """(recording, what was said, what is so) if this call is one for which another was taken before."""
        for item, said in self._given.items():
            if item.group == asked.group and item.keys == asked.keys:
                del self._given[item]
                return item, said, self._diagnosis.put_in(said)
        return None

    def _pass_over(self, item: Recorded) -> None:
        """What must come before this one was left out: it has been reported, and holds nothing up any more."""
        while (before := self._score.unmet(item)) is not None:
            before.taken = True
            self.passed_over.append(before)
