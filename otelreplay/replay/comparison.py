"""Two recordings, compared as a replay compares: the events of the second are played as calls against the first.

Theory of operation. A replay knows the past of the running program and nothing of its future; here both runs are known whole.
So an event of the second recording whose exact counterpart comes later is left to it, and every event finds its place:

    equals a recording, in its place                              equal; only now are the two answers compared
    equals one, but what it depends on has its own counterpart    order
    equals one, and what it depends on has none                   that one is removed, and it is tried again
    the expected operation with other content                     changed
    nothing                                                       added
    left in the first recording                                   removed

One difference leads to others: an answer stands in every later request. Where all that differs in an event was seen to differ
before, the event *follows* from that one, and is no cause of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from otelreplay.canonical import digest_value
from otelreplay.cassette.read import Cassette
from otelreplay.events import Event
from otelreplay.redaction import Redactor
from otelreplay.replay import words
from otelreplay.replay.answered import Answers
from otelreplay.replay.causes import MADE
from otelreplay.replay.compared import ADDED, ANSWER, CHANGED, EQUAL, ORDER, REMOVED, Compared, Row, row_of
from otelreplay.replay.counterparts import counterparts
from otelreplay.replay.diff import Difference
from otelreplay.replay.divergence import Divergence
from otelreplay.replay.finding import Asked, Fit
from otelreplay.replay.live import Live
from otelreplay.replay.normalizers import Normalizer
from otelreplay.replay.rules import soft_rules
from otelreplay.replay.score import Recorded, Score, at_once
from otelreplay.replay.session import Scope, Session

_LOOKED_AT: Final = 200
_CAUSES: Final = {"model": "model answer", "embeddings": "model answer", "agent": "code"}


@dataclass(slots=True, eq=False)
class _Place:
    """Where an event of the second recording is to stand."""

    asked: Asked
    theirs: Recorded
    item: Recorded | None = None
    state: str = ADDED
    divergence: Divergence | None = None
    differences: tuple[Difference, ...] = ()


class Comparison(Session):
    """One comparison. Made, run once, and thrown away."""

    def __init__(
        self, first: Cassette, second: Cassette, *, redactor: Redactor, show: Redactor | None = None, command: str = "",
        normalizers: Sequence[Normalizer] = (),
    ) -> None:  # fmt: skip
        """``redactor``: the first cassette's policy; each cassette has passed the policy of the other already."""
        super().__init__(first, redactor=redactor, show=show, command=command, normalizers=normalizers)
        events = tuple(sorted(second.events, key=lambda event: event.seq))
        self._made = counterparts(self._score.events, events)
        rewritten = tuple(self._made.event(event) for event in events)
        table = [str(p.get("rule")) for p in second.header.placeholders if isinstance(p, dict)]
        soft = soft_rules(redactor, table)
        self._theirs = Score(rewritten, skeletons=self._skeletons, memo=self._memo, soft_rules=soft)
        self._answers = Answers(self._skeletons, self._bindings)
        self._scopes: dict[int, Scope] = {}
        self._later: dict[Recorded, Recorded] = {}
        self._seen: dict[tuple[str, str], int] = {}
        self._rows: list[Row] = []
        self._pairs: list[tuple[Recorded, Recorded, Row]] = []

    def compare(self) -> Compared:
        """Play the second recording against the first."""
        self._later = self._reserved()
        for item in self._theirs.items:
            if item is not None and item.outer is None:
                self._play(item)
        skipped = max((i.place for i in (*self._score.served, *self._score.agents) if i.taken), default=-1)
        for item in self._score.owed():
            self._remove(item, self._diagnosis.left_over(item, skipped=item.place < skipped))
        for ours, theirs, row in reversed(self._pairs):  # an agent's ending comes after all that is inside it
            self._end(ours, theirs, row)
        paired = any(r.first is not None and r.second is not None and r.boundary != "agent" for r in self._rows)
        unchecked, normalised, assumed = (self._lists[name].entries() for name in ("unchecked", "normalised", "assumed"))
        return Compared(
            rows=tuple(self._rows), unchecked=unchecked, normalised=normalised, assumed=assumed, command=self._command,
            made=tuple(sorted(self._made.used)), nothing=None if paired else self._diagnosis.nothing_to_serve(),
        )  # fmt: skip

    # --- one event ----------------------------------------------------------------------------------------------------

    def _play(self, theirs: Recorded) -> None:
        event = theirs.event
        parent = self._scopes.get(theirs.context) if theirs.context is not None else None
        live = Live(kind=event.kind, name=event.name, request=event.request, parent=parent, versions=event.versions)
        asked = self._ask(live)
        if event.kind == "agent" and not self._score.has_own_agents:
            fit = self._by_name(asked)
            place = _Place(asked, theirs, fit.item if fit else None, EQUAL if fit else ADDED)
            if fit is None and not self._score.agents:
                self._list_unchecked(-1, "agent", event.name, "request.input", "one recording holds no agent")
                return
        else:
            place = self._placed(asked, theirs)
        if place.item is not None:
            place.item.taken = True
        if event.kind == "agent":
            self._scopes[theirs.place] = Scope(live, place.item)
        self._row(place)

    def _placed(self, asked: Asked, theirs: Recorded) -> _Place:
        for _ in range(len(self._score.items) + 1):
            fit, early, asked = self._find(asked, theirs)
            if fit is not None:
                fit = self._twin(fit, asked, theirs.event)
                self._agree(fit, asked)
                drift = self._divergences.pop() if self._divergences else None
                return _Place(asked, theirs, fit.item, CHANGED if drift else EQUAL, drift)
            with self._hidden(theirs):
                found = self._diagnosis.unmatched(asked, early)
            found = self._expecting(found)
            before = self._score.unmet(early.item) if early is not None else None
            if early is not None and before in self._later.values():
                return _Place(asked, theirs, early.item, ORDER, found)
            item = self._item(found)
            if before is not None and not before.taken:
                self._remove(before, found)
            elif found.kind == "missing_call" and item is not None and item not in self._later.values():
                self._remove(item, found)
            elif found.kind == "request_changed" and item is not None:
                return self._changed(asked, theirs, item, found)
            else:
                return _Place(asked, theirs, None, ADDED, found)
        return _Place(asked, theirs)

    def _changed(self, asked: Asked, theirs: Recorded, item: Recorded, found: Divergence) -> _Place:
        """The fields that differ, those first that did not differ before."""
        every = self._diagnosis._differences(item, asked)
        new = [d for d in every if _pair(d) not in self._seen]
        if new and new[0] is not every[0]:
            found = self._diagnosis._with("request_changed", item, asked, [*new, *(d for d in every if d not in new)])
        return _Place(asked, theirs, item, CHANGED, found, tuple(every))

    def _find(self, asked: Asked, theirs: Recorded) -> tuple[Fit | None, Fit | None, Asked]:
        """As in a replay; what the other recording does not carry is taken from the recording that it may be."""
        fit, early = self._finder.find(asked)
        if fit is not None or not (theirs.how.soft or theirs.how.loose or theirs.how.closed is not None):
            return fit, early, asked
        nearest: Asked | None = None
        for item in [m for m in self._score.members.get(asked.group, ())[:_LOOKED_AT] if not m.taken]:
            names = [c for c in (*item.how.checked, *item.how.soft) if _silent(theirs, c)]
            if not names:
                continue
            keys = asked.keys | {c: item.keys[c] for c in names}
            holes = asked.holes | {c: item.holes[c] for c in names if c in item.holes}
            whole = replace(asked, keys=keys, holes=holes)
            nearest = nearest or whole
            fit, found = self._finder.find(whole)
            if fit is not None or found is not None:
                for c in names:
                    reason = "not carried by the other recording"
                    self._list_unchecked(item.seq, item.event.kind, asked.group[1], f"request.{c}", reason)
                return fit, found, whole
        return None, early, nearest or asked

    def _twin(self, fit: Fit, asked: Asked, event: Event) -> Fit:
        """Of recordings that cannot be told apart and ran at once, the one that was answered alike."""
        if asked.group[0] in MADE or self._answers.same(fit.item.event, event):
            return fit
        for shelf in self._score.groups.get(asked.group, {}).values():
            for other in self._finder._on(shelf, asked):
                free = not other.item.taken and self._score.unmet(other.item) is None
                if free and at_once(fit.item, other.item) and self._answers.same(other.item.event, event):
                    return other
        return fit

    # --- what is known of the future ----------------------------------------------------------------------------------

    def _reserved(self) -> dict[Recorded, Recorded]:
        """Event of the second recording → the event of the first that it equals, one for one, in order."""
        waiting: dict[Any, list[Recorded]] = {}
        for ours in reversed([i for i in self._score.items if i is not None and i.outer is None]):
            waiting.setdefault(_exactly(ours), []).append(ours)
        out = {}
        for item in self._theirs.items:
            if item is not None and item.outer is None and waiting.get(_exactly(item)):
                out[item] = waiting[_exactly(item)].pop()
        return out

    @contextmanager
    def _hidden(self, theirs: Recorded) -> Iterator[None]:
        """While something is explained, recordings that a later event equals are not to be taken for it."""
        self._later.pop(theirs, None)
        held = [item for item in self._later.values() if not item.taken]
        for item in held:
            item.taken = True
        try:
            yield
        finally:
            for item in held:
                item.taken = False

    def _expecting(self, found: Divergence) -> Divergence:
        """With the event that was expected then, also where that is left to its own counterpart."""
        ready = (i for i in self._score.owed() if i.group[0] != "agent" and self._score.unmet(i) is None)
        due = next(ready, None) if found.kind == "unexpected_call" and found.seq is None else None
        return found if due is None else replace(found, seq=due.seq, span=due.event.id)

    def _item(self, found: Divergence) -> Recorded | None:
        item = self._score.items[self._score.at[found.seq]] if found.seq in self._score.at else None
        return item if item is not None and not item.taken and item.outer is None else None

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _remove(self, item: Recorded, found: Divergence) -> None:
        item.taken = True
        self._rows.append(row_of(REMOVED, item.event, None, self._diagnosis.shown, divergence=found, place=(item.place, 0)))

    def _row(self, place: _Place) -> None:
        ours, theirs = place.item, place.theirs
        self._later.pop(theirs, None)
        at = (ours.place, 0) if ours is not None else (self._rows[-1].place[0] if self._rows else -1, theirs.place + 1)
        follows = self._follows(place.differences, ours.seq) if ours is not None else None
        row = row_of(
            place.state, ours.event if ours else None, theirs.event, self._diagnosis.shown, place=at,
            divergence=place.divergence, follows=follows,
        )  # fmt: skip
        self._rows.append(row)
        if ours is None:
            return
        if theirs.event.kind == "agent":
            self._pairs.append((ours, theirs, row))
        elif theirs.group[0] not in MADE:
            self._end(ours, theirs, row)

    def _end(self, ours: Recorded, theirs: Recorded, row: Row) -> None:
        """Compare the answers of a pair."""
        found, lost = self._answers.differ(ours.event, theirs.event)
        for field, reason in lost:
            self._list_unchecked(ours.seq, ours.event.kind, ours.group[1], field, reason)
        if not found:
            return
        new = [d for d in found if _pair(d) not in self._seen]
        follows = self._follows(found, ours.seq)
        first = (new or found)[0]
        row.answer = replace(
            self._diagnosis._with("request_changed", ours, None, [first, *(d for d in found if d is not first)]),
            detail=words.ENDED if ours.event.kind == "agent" else "", accept="",
        )  # fmt: skip
        row.answer_cause = _CAUSES.get(ours.event.kind, "tool result")
        row.answer_follows = follows
        row.state = ANSWER if row.state == EQUAL else row.state

    def _follows(self, found: Iterable[Difference], seq: int) -> int | None:
        """The event in which all of this was seen to differ before; from now on, all of it was seen."""
        pairs = [_pair(d) for d in found]
        known = [self._seen.get(pair) for pair in pairs]
        for pair in pairs:
            self._seen.setdefault(pair, seq)
        return None if not known or None in known else known[0]


def _pair(difference: Difference) -> tuple[str, str]:
    return digest_value(difference.expected), digest_value(difference.received)


def _silent(theirs: Recorded, component: str) -> bool:
    """Whether a recording says nothing of a component, or not all."""
    if component in theirs.how.soft or not theirs.how.compares(component):
        return True
    return component not in theirs.keys and component in theirs.how.extras([component])[1]


def _exactly(item: Recorded) -> Any:
    return (item.group, *sorted(item.keys.items()))
