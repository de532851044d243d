"""Where two requests differ: the smallest fields, in the order in which they stand.

Works on redacted values. What the keys do not see (ids, transport, holes that fit) is no difference here either. Members of
lists are aligned first (:mod:`otelreplay.replay.alignment`): one that was put in, left out or moved is one difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from otelreplay.canonical import Tagged, digest_value
from otelreplay.canonical.paths import join
from otelreplay.events.fields import within
from otelreplay.matching.parts import arguments_of, settled
from otelreplay.matching.semantics import PARAM_NAMES, PART_FIELDS, TRANSPORT_PARAMS
from otelreplay.replay.alignment import aligned
from otelreplay.replay.divergence import Change
from otelreplay.replay.holes import Skeletons
from otelreplay.replay.ordinals import answers_another

MOST: Final = 20
"""Differences that are looked for."""
_DEPTH: Final = 150
_LEAVES: Final = 400
"""Words of a member that its likeness to another is told by."""
_NAMING: Final = ("role", "type")


class _Nothing:
    """Stands for what is not there."""


NOTHING: Final = _Nothing()


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not the same on both sides."""

    path: str
    """On the recorded side; of what was added, on the other."""
    expected: Any
    received: Any
    change: Change
    received_path: str = ""
    """On the other side, where it is another place there."""


def differences(
    recorded: dict[str, Any], live: dict[str, Any], components: list[str], skeletons: Skeletons, most: int = MOST
) -> list[Difference]:
    """The differences in these components, at most so many; one for each at least."""
    out: list[Difference] = []
    for component in components:
        if len(out) >= most:
            break
        was, now, field = *(component_value(side, component) for side in (recorded, live)), f"request.{component}"
        found = list(islice(_Walk(skeletons).of(was, now, _Place(field)), most - len(out)))
        out += found or [Difference(*(answers_another(was, now, field) or (field, _plain(was), _plain(now))), "changed")]
    return out


def compare(was: Any, now: Any, field: str, skeletons: Skeletons, most: int = MOST) -> list[Difference]:
    """The differences of two values."""
    return list(islice(_Walk(skeletons).of(was, now, _Place(field)), most))


def component_value(request: dict[str, Any], component: str) -> Any:
    """The value behind a component key of a request; :data:`NOTHING` if it is not there."""
    for name, value in request.items():
        if join("", name) == component:
            return settled(value)
    for spread in ("params", "arguments"):
        if within(component, spread):
            inside = arguments_of(request.get(spread)) if spread == "arguments" else request.get(spread)
            if isinstance(inside, dict):
                for name, value in inside.items():
                    if (
                        isinstance(name, str)
                        and join(spread, PARAM_NAMES.get(name, name) if spread == "params" else name) == component
                    ):
                        return value
    return NOTHING


def _plain(value: Any) -> Any:
    return None if value is NOTHING else value


@dataclass(frozen=True, slots=True)
class _Place:
    """A place on both sides, below a field."""

    base: str
    old: tuple[str | int, ...] = ()
    new: tuple[str | int, ...] = ()

    def at(self, old: str | int, new: str | int | None = None) -> _Place:
        return _Place(self.base, (*self.old, old), (*self.new, old if new is None else new))

    @property
    def field(self) -> str:
        """As it is spelled on the recorded side."""
        return join(self.base, *self.old)

    @property
    def generic(self) -> str:
        """With ``[*]`` for every index, as normalisers know it."""
        field = self.base
        for step in self.old:
            field = f"{field}[*]" if isinstance(step, int) else join(field, step)
        return field

    def difference(self, was: Any, now: Any, change: Change) -> Difference:
        field, received = self.field, join(self.base, *self.new)
        if change == "added":
            return Difference(received, None, now, change)
        same = received == field or change == "removed"
        return Difference(field, was, _plain(now), change, "" if same else received)


class _Walk:
    def __init__(self, skeletons: Skeletons) -> None:
        self._skeletons = skeletons

    def of(self, was: Any, now: Any, place: _Place) -> Iterator[Difference]:
        if was is NOTHING or now is NOTHING:
            if was is not now:
                yield place.difference(was, now, "added" if was is NOTHING else "removed")
            return
        if _kind(was) == _kind(now) and len(place.old) < _DEPTH:
            if isinstance(was, dict):
                yield from self._dicts(was, now, place)
                return
            if isinstance(was, list | tuple):
                yield from self._lists(was, now, place)
                return
            if isinstance(was, Tagged) and was.tag == now.tag:
                yield from self._dicts(dict(was.members), dict(now.members), place)
                return
        if was is not now and self._digest(was, place.generic) != self._digest(now, place.generic):
            yield place.difference(was, now, "changed" if _kind(was) == _kind(now) else "retyped")

    def _digest(self, value: Any, field: str) -> str:
        """Equal but for the text of holes is equal."""
        return digest_value(self._skeletons.value(value, field)[0])

    def _dicts(self, was: dict[Any, Any], now: dict[Any, Any], place: _Place) -> Iterator[Difference]:
        matters = _semantic(was, now, place.field)
        for key in dict.fromkeys([*was, *now]):
            if matters(key):
                step = key if isinstance(key, str) else str(key)
                a, b = was.get(key, NOTHING), now.get(key, NOTHING)
                if key in ("arguments", "response", "parameters"):
                    a, b = (settled(v) if v is not NOTHING else v for v in (a, b))
                yield from self.of(a, b, place.at(step))

    def _lists(self, was: Any, now: Any, place: _Place) -> Iterator[Difference]:
        generic = place.generic
        old, new = ([self._digest(_said(item), f"{generic}[*]") for item in side] for side in (was, now))
        unordered = self._skeletons.is_set(generic)
        if unordered and sorted(old) == sorted(new):
            return
        words: dict[str, frozenset[str]] = {}

        def like(i: int, j: int) -> float:
            return _likeness(
                was[i], now[j], *(_words_of(side, key, words) for side, key in ((was[i], old[i]), (now[j], new[j])))
            )

        for match in aligned(old, new, like):
            if match.moved:
                if not unordered:
                    here = place.at(match.old or 0, match.new)
                    yield here.difference(was[match.old or 0], now[match.new or 0], "moved")
            elif match.old is None:
                yield place.at(match.new or 0).difference(NOTHING, now[match.new or 0], "added")
            elif match.new is None:
                yield place.at(match.old).difference(was[match.old], NOTHING, "removed")
            else:
                yield from self.of(was[match.old], now[match.new], place.at(match.old, match.new))


def _likeness(was: Any, now: Any, old: frozenset[str], new: frozenset[str]) -> float:
    """How much two members are alike: what they are, and the words in them."""
    if _kind(was) != _kind(now):
        return 0.0
    shared = (len(old & new) / (len(old | new) or 1)) ** 2  # words that any two texts share count for little
    if isinstance(was, dict) and any(was.get(key) != now.get(key) for key in _NAMING):
        shared /= 2
    return shared


def _words_of(item: Any, key: str, known: dict[str, frozenset[str]]) -> frozenset[str]:
    """The words of a member, up to a bound; remembered by its digest."""
    found = known.get(key)
    if found is None:
        words: set[str] = set()
        waiting, seen = [item], 0
        while waiting and seen < _LEAVES and len(words) < _LEAVES:
            value = waiting.pop()
            seen += 1
            if isinstance(value, dict):
                waiting += [v for k, v in value.items() if k not in _NAMING]
            elif isinstance(value, list | tuple | set | frozenset):
                waiting += value
            else:
                words.update(str(value)[: _LEAVES * 10].split()[:_LEAVES])
        found = known[key] = frozenset(words)
    return found


def _said(item: Any) -> Any:
    """A member of a list with only what is compared of it: a message or a part without its ids."""
    if not isinstance(item, dict):
        return item
    if isinstance(item.get("parts"), list):
        return {"role": item.get("role"), "name": item.get("name"), "parts": [_said(part) for part in item["parts"]]}
    fields = PART_FIELDS.get(item["type"]) if isinstance(item.get("type"), str) else None
    if fields is None:
        return item
    return {"type": item["type"], **{f: settled(item[f]) for f in (*fields, "result") if item.get(f) is not None}}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else type(value).__name__ if not isinstance(value, dict) else "dict"


def _semantic(was: dict[Any, Any], now: dict[Any, Any], field: str) -> Callable[[Any], bool]:
    """Which keys of these objects are compared at all."""
    if within(field, "request.params") or "arguments" in field:
        return lambda key: key not in TRANSPORT_PARAMS if field == "request.params" else True
    if "parts" in was and "parts" in now:
        return lambda key: key in ("role", "parts", "name") and not (was.get(key) is None and now.get(key) is None)
    kind = was.get("type")
    if kind == now.get("type") and isinstance(kind, str) and kind in PART_FIELDS and "messages" in field:
        known = (*PART_FIELDS[kind], "type", "result")
        return lambda key: key in known and not (was.get(key) is None and now.get(key) is None)
    return lambda _: True
