"""Which recording answers a live call.

Of the recordings of the call's kind and operation, those whose every compared component is equal; of these the ones in the same
context, whose holes the bindings allow, and whose hard predecessors were served; of these the one with the lowest ``seq``.
Looking is by digest: the cost does not depend on how many other recordings there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from otelreplay.events import Missing
from otelreplay.events.fields import within
from otelreplay.replay.bindings import FRESH, Bindings, Pairs, normalised
from otelreplay.replay.carried import Carried, gaps_of
from otelreplay.replay.diff import component_value
from otelreplay.replay.holes import NORMALISED, TELLING, Hole, Holes, Skeletons
from otelreplay.replay.live import Live
from otelreplay.replay.score import ANYWHERE, Group, Queue, Recorded, Score, Shelf, at_once, holes_of
from otelreplay.replay.soft import Soft


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """A live call, ready to be looked for."""

    live: Live
    number: int
    """Number of the call in the run, from 1."""
    group: Group
    keys: dict[str, str]
    holes: dict[str, Holes]
    context: int | None
    """Place of the agent event around it; None where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A recording that a call equals, and what that takes."""

    item: Recorded
    pairs: Pairs = field(default_factory=list)
    assumed: tuple[Hole, ...] = ()
    unknown: tuple[str, ...] = ()
    """Live components about which the recording says nothing."""


class Finder:
    """Looks for recordings. Changes nothing."""

    def __init__(self, score: Score, bindings: Bindings, skeletons: Skeletons, soft_rules: Collection[str]) -> None:
        self._score, self._bindings, self._skeletons, self._soft_rules = score, bindings, skeletons, soft_rules

    def find(self, asked: Asked) -> tuple[Fit | None, Fit | None]:
        """(the recording that answers, else the first that would if what must come before it had been served)."""
        best: Fit | None = None
        early: Fit | None = None
        for shelf in self._score.groups.get(asked.group, {}).values():
            for fit in self._on(shelf, asked):
                if self._score.unmet(fit.item) is not None:
                    if early is None or fit.item.place < early.item.place:
                        early = fit
                    continue
                if best is None or self._rank(fit, asked) < self._rank(best, asked):
                    best = fit
                break
        return best, early if best is None else None

    @staticmethod
    def _rank(fit: Fit, asked: Asked) -> tuple[bool, bool, int]:
        """Known values before fresh ones, the same context before none, then the order of the recording."""
        return bool(fit.pairs), asked.context is not None and fit.item.context != asked.context, fit.item.place

    def _on(self, shelf: Shelf, asked: Asked) -> Iterable[Fit]:
        """The recordings of a shelf that the call equals, best first as far as that costs nothing."""
        how = shelf.how
        changes, unknown = how.extras(asked.keys)
        digests = tuple([asked.keys.get(component, "") for component in how.checked])
        if changes or "" in digests:
            return
        live = holes_of(asked.holes, how.checked)
        for queue in self._queues(shelf, digests, live, asked.context):
            for item in queue:
                fit = self._fit(item, how, live, asked, tuple(unknown))
                if fit is not None:
                    yield fit

    def _queues(self, shelf: Shelf, digests: tuple[str, ...], live: Holes, context: int | None) -> Iterable[Queue]:
        contexts = (ANYWHERE,) if context is None else (context, None)
        texts = self._bindings.known_as(live)
        if texts and FRESH not in texts:
            queues = [shelf.find(digests, c, texts) for c in contexts]
        else:
            queues = [shelf.find(digests, c) for c in contexts]
        return [queue for queue in queues if queue is not None]

    def _fit(self, item: Recorded, how: Carried, live: Holes, asked: Asked, unknown: tuple[str, ...]) -> Fit | None:
        recorded = item.holes_of(how.checked)
        pairs = self._bindings.fits(recorded, live) if recorded or live else []
        if pairs is None:
            return None
        if not how.soft:
            return Fit(item=item, pairs=pairs, unknown=unknown)
        gaps = [gap.field for gap in gaps_of(item.event) if within(gap.field, "request")]
        soft = Soft(self._skeletons, gaps, self._soft_rules)
        for component in how.soft:
            if item.keys.get(component) == asked.keys.get(component):
                more = self._bindings.fits(item.holes_of((component,)), holes_of(asked.holes, (component,)))
                if more is None:
                    return None
                pairs = [*pairs, *more]
                continue
            was, now = (component_value(r, component) for r in (item.event.request, asked.live.request))
            if not soft.fits(was, now, f"request.{component}"):
                return None
        own = [pair for pair in soft.pairs if pair not in pairs]
        if not self._bindings.allows(own):
            return None
        return Fit(item=item, pairs=[*pairs, *own], assumed=tuple(soft.assumed), unknown=unknown)

    def twin(self, fit: Fit, asked: Asked) -> Recorded | None:
        """Another waiting recording that the call equals as well, where the recording does not say which came first."""
        shelf = self._score.groups[asked.group][fit.item.how]
        digests = tuple([fit.item.keys[component] for component in fit.item.how.checked])
        queue = shelf.find(digests, ANYWHERE if asked.context is None else fit.item.context)
        for n, other in enumerate(queue or ()):
            if n > 4:
                break
            if other is fit.item or other.event.response == fit.item.event.response:
                continue
            apart = exact_of(other) != exact_of(fit.item)
            if (apart and fit.pairs) or (not apart and at_once(fit.item, other) and self._score.unmet(other) is None):
                return other
        return None


def exact_of(item: Recorded) -> tuple[str, ...]:
    """The texts of an item's holes in what is compared."""
    return tuple(hole.text for hole in item.holes_of(item.how.checked))


def normalised_in(fit: Fit, asked: Asked) -> list[tuple[str, str, str]]:
    """(component, rule, recorded placeholder) wherever different texts were taken for equal."""
    out = []
    for component in fit.item.how.checked:
        was, now = fit.item.holes.get(component, ()), asked.holes.get(component, ())
        if was or now:
            out += [(component, rule, text) for rule, text in normalised(was, now)]
    return out


def merged_in(item: Recorded) -> list[tuple[str, Hole]]:
    """(component, hole) of every hole that does not tell values apart."""
    compared = (*item.how.checked, *item.how.soft)
    found = [(component, hole) for component in compared for hole in item.holes.get(component, ())]
    return [(component, hole) for component, hole in found if hole.action not in (*TELLING, NORMALISED)]


def loose_gaps(item: Recorded) -> list[Missing]:
    """The gaps of an item's request."""
    return [gap for gap in gaps_of(item.event) if within(gap.field, "request")]
