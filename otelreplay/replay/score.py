"""The recording as a replay reads it: what can be called, in which place, after what, and how it is found.

Served kinds are answered from the recording; what happened *inside* one of them is not called again, since its code does not
run (``inside`` names kinds for which it does). Agents are entered and left. Everything else is structure: it is looked through.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from otelreplay.canonical.paths import join
from otelreplay.events import Event
from otelreplay.matching import KeyMemo, request_components
from otelreplay.matching.semantics import PARAM_NAMES
from otelreplay.replay.bindings import exact
from otelreplay.replay.carried import Carried, Families, Traits, carried, is_own, traits_of
from otelreplay.replay.holes import Holes, Skeletons
from otelreplay.replay.unsent import filled_in, fills_in, sent

SERVED: Final = frozenset(
    {"model", "embeddings", "tool", "retrieval", "memory", "state", "clock", "random", "id"}
)  # fmt: skip
"""Kinds of events that are answered from the recording."""
_NAMELESS: Final = frozenset({"model", "embeddings", "clock", "random", "id"})
"""Kinds whose event name is no operation: a model's name is a component of its request."""
ANYWHERE: Final = -1
_NEAR: Final = 32
"""Recordings before and after one, with an equal request, that may have run beside it."""

Group = tuple[str, str]
"""Kind and operation."""


def operation_of(kind: str, name: str, skeletons: Skeletons) -> str:
    """What a call and a recording must share to be compared at all."""
    return "" if kind in _NAMELESS else str(skeletons.value(name, "name")[0])


class Recorded:
    """One event that can be called, entered, or both looked for and found."""

    __slots__ = ("_event", "_unsent", "context", "group", "holes", "how", "keys", "outer", "place", "seq", "taken")

    def __init__(
        self, event: Event, place: int, group: Group, keys: dict[str, str], holes: dict[str, Holes], *,
        unsent: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """``unsent``: what packages fill in, where params of this event were not sent."""
        self._event, self.place, self.group, self.keys, self.holes, self._unsent = event, place, group, keys, holes, unsent
        self.seq = event.seq
        self.how = Carried(())
        self.context: int | None = None
        """Place of the nearest agent around it that is entered; None for none."""
        self.outer: Recorded | None = None
        """The served event inside of which it happened."""
        self.taken = False
        """Served, or entered."""

    @property
    def event(self) -> Event:
        """The event, without the params that were not sent."""
        if self._unsent is None:
            return self._event
        return self._event.model_copy(update={"request": sent(self._event.request, self._unsent)[0]})

    def holes_of(self, components: tuple[str, ...]) -> Holes:
        """Its holes in these components, in order."""
        return holes_of(self.holes, components)


def holes_of(holes: dict[str, Holes], components: tuple[str, ...]) -> Holes:
    """The holes in these components, in order."""
    return tuple([hole for component in components for hole in holes.get(component, ())]) if holes else ()


def at_once(a: Recorded, b: Recorded) -> bool:
    """Did two recordings overlap, so that their order is chance? Told by time, else by what they came after."""
    times = [
        int(t) if t is not None and t.isdecimal() else None for t in (a.event.start, a.event.end, b.event.start, b.event.end)
    ]
    a_start, a_end, b_start, b_end = times
    if a_start is None or b_start is None or a_end is None or b_end is None:
        return a.event.after == b.event.after and a.event.parent == b.event.parent
    return a_start < b_end and b_start < a_end


def _likeness(item: Recorded) -> int:
    return hash((item.group, frozenset(item.keys.items())))


class Queue:
    """Recordings by seq. Those that are taken from the front are forgotten."""

    __slots__ = ("_head", "_items")

    def __init__(self) -> None:
        self._items: list[Recorded] = []
        self._head = 0

    def add(self, item: Recorded) -> None:
        """Put one at the end."""
        self._items.append(item)

    def __iter__(self) -> Iterator[Recorded]:
        items = self._items
        while self._head < len(items) and items[self._head].taken:
            self._head += 1
        for place in range(self._head, len(items)):
            if not items[place].taken:
                yield items[place]


class Shelf:
    """The recordings of one group that are compared in one way."""

    def __init__(self, how: Carried) -> None:
        self.how = how
        self._queues: dict[tuple[Any, ...], Queue] = {}

    def add(self, item: Recorded) -> None:
        """Put a recording where it will be looked for."""
        digests = tuple([item.keys[component] for component in self.how.checked])
        texts = exact(item.holes_of(self.how.checked))
        for context in (ANYWHERE, item.context):
            self._queue((digests, context)).add(item)
            if texts:
                self._queue((digests, context, texts)).add(item)

    def _queue(self, key: tuple[Any, ...]) -> Queue:
        return self._queues.setdefault(key, Queue())

    def find(self, digests: tuple[str, ...], context: int | None, texts: tuple[str, ...] | None = None) -> Queue | None:
        """Recordings with these digests in this context; with these very holes where ``texts`` is given."""
        return self._queues.get((digests, context) if texts is None else (digests, context, texts))


class Score:
    """All recordings of a run, indexed."""

    def __init__(
        self, events: tuple[Event, ...], *, skeletons: Skeletons, memo: KeyMemo, soft_rules: Collection[str],
        inside: Collection[str] = (), scopes: Collection[str] = (),
    ) -> None:  # fmt: skip
        """``scopes``: all packages of the recording, where that is known."""
        self.events: tuple[Event, ...] = events
        self.at: dict[int, int] = {}
        """Place of each seq; the first has it where hostile input repeats one."""
        for place, event in enumerate(events):
            self.at.setdefault(event.seq, place)
        own_agents = [event for event in events if event.kind == "agent" and is_own(event)]
        self.has_own_agents = bool(own_agents)
        self._inside = frozenset(inside)
        self.items: list[Recorded | None] = []
        self.served: list[Recorded] = []
        self.agents: list[Recorded] = []
        self.groups: dict[Group, dict[Carried, Shelf]] = {}
        self.members: dict[Group, list[Recorded]] = {}
        self._heads: dict[Group, int] = {}
        """Every recording of a group, by seq."""
        self.placeholders: set[str] = set()
        self._free: set[int] = set()
        self._known: dict[Any, Any] = {}
        """Equal values of many recordings are one object."""
        self._twins: dict[int, list[Recorded]] = {}
        """Recordings with equal requests, by :func:`_likeness`; made when it is first asked for."""
        families = Families()
        self.filled = filled_in(events) if not scopes or any(map(fills_in, scopes)) else {}
        """What packages of this run write for params that were not given."""
        traits: dict[int, Traits] = {}
        for place, event in enumerate(events):
            taken = self._take(event, place, skeletons, memo)
            if taken is not None:
                traits[place], names = taken
                families.add(traits[place].family, names)
        self._place()
        ways: dict[Carried, Carried] = {}
        for item in (*self.served, *self.agents):
            soft = [c for c, holes in item.holes.items() if any(hole.rule in soft_rules for hole in holes)]
            own = traits[item.place]
            how = carried(own, item.keys, families.of(own.family), soft)
            item.how = ways.setdefault(how, how)
            if item.outer is None:
                shelves = self.groups.setdefault(item.group, {})
                shelves.setdefault(item.how, Shelf(item.how)).add(item)
                self.members.setdefault(item.group, []).append(item)

    def _take(self, event: Event, place: int, skeletons: Skeletons, memo: KeyMemo) -> tuple[Traits, list[str]] | None:
        """Its traits, and the names of what it carries; None for what is neither served nor entered."""
        agent = event.kind == "agent" and (is_own(event) or not self.has_own_agents)
        if event.kind not in SERVED and not agent:
            self.items.append(None)
            return None
        unsent: frozenset[str] = frozenset()
        if event.kind == "model" and not is_own(event):
            request, unsent = sent(event.request, self.filled)
        else:
            request = event.request
        skeleton = skeletons.request(event.kind, request)
        keys = request_components(event.kind, event.name, skeleton.request, memo)
        keys.pop("name", None)  # the group has it
        group = (str(event.kind), operation_of(event.kind, event.name, skeletons))
        group = self._known.setdefault(group, group)
        item = Recorded(event, place, group, keys, skeleton.holes, unsent=self.filled if unsent else None)
        self.placeholders.update(hole.text for holes in skeleton.holes.values() for hole in holes)
        carries = [*keys, *(join("params", PARAM_NAMES.get(name, name)) for name in unsent)]
        self.items.append(item)
        (self.agents if agent else self.served).append(item)
        own = traits_of(event, group[1])
        return self._known.setdefault(own, own), carries

    def _place(self) -> None:
        """Context and outer event of each recording, by walking up once; circles of hostile input end the walk."""
        known: dict[int, tuple[int | None, Recorded | None]] = {}
        for place in range(len(self.events)):
            path, at = [], place
            while at not in known:
                known[at] = (None, None)  # what a circle finds
                path.append(at)
                parent = self.events[at].parent
                up = self.at.get(parent) if parent is not None else None
                if up is None:
                    break
                at = up
            else:
                path.append(at)
            self._settle(path, known)

    def _settle(self, path: list[int], known: dict[int, tuple[int | None, Recorded | None]]) -> None:
        """``path`` goes from an event up to one whose place is known."""
        for inner, upper in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
            above, context, outer = self.items[upper], *known[upper]
            if above is not None and above.group[0] == "agent":
                context = upper
            elif above is not None and outer is None and above.group[0] not in self._inside:
                outer = above
            known[inner] = (context, outer)
            item = self.items[inner]
            if item is not None:
                item.context, item.outer = context, outer if outer is not item else None  # of a circle

    def unmet(self, item: Recorded) -> Recorded | None:
        """The first recording that must have been served before this one and was not; None if all were."""
        found: Recorded | None = None
        waiting, seen = [item.place], {item.place}
        while waiting:
            at = waiting.pop()
            open_before = len(waiting)
            for seq in self.events[at].after:
                before = self.at.get(seq)
                if before is None or before >= at or before in seen or before in self._free:
                    continue  # unknown, or against the order: hostile input
                seen.add(before)
                other = self.items[before]
                while other is not None and other.outer is not None:
                    other = other.outer
                if other is None or other.group[0] == "agent":
                    waiting.append(before)
                elif not other.taken and other is not item and (found is None or other.place < found.place):
                    found = found if self._stood_in(other) else other
            if found is None and len(waiting) == open_before and at != item.place:
                self._free.add(at)
        return found

    def _stood_in(self, item: Recorded) -> bool:
        """Whether a recording was served that ran beside this one with the same request and the same answer.

        Which of the two a later call goes on from is chance in the recording, and cannot be seen in the replay.
        """
        if not self._twins:
            for other in self.served:
                if other.outer is None:
                    self._twins.setdefault(_likeness(other), []).append(other)
        near = self._twins.get(_likeness(item), [])
        middle = bisect_left(near, item.place, key=lambda twin: twin.place)
        return any(
            twin.taken and twin.keys == item.keys and twin.event.response == item.event.response and at_once(twin, item)
            for twin in near[max(middle - _NEAR, 0) : middle + _NEAR]
        )

    def first_waiting(self, group: Group) -> Recorded | None:
        """The first recording of a group that was not served yet."""
        members, at = self.members.get(group, ()), self._heads.get(group, 0)
        while at < len(members) and members[at].taken:
            at += 1
        self._heads[group] = at
        return members[at] if at < len(members) else None

    def owed(self) -> list[Recorded]:
        """What a replay of everything serves and enters, and this one did not."""
        agents = [a for a in self.agents if is_own(a.event)]
        return sorted(
            (item for item in (*self.served, *agents) if item.outer is None and not item.taken), key=lambda item: item.place
        )
