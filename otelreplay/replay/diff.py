"""Where two requests differ: the smallest fields, in the order in which they stand.

Works on redacted values. What the keys do not see (ids, transport, holes that fit) is no difference here either.
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
from otelreplay.replay.divergence import Change
from otelreplay.replay.holes import Skeletons

MOST: Final = 20
"""Differences that are looked for."""
_DEPTH: Final = 150


class _Nothing:
    """Stands for what is not there."""


NOTHING: Final = _Nothing()


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not the same on both sides."""

    path: str
    expected: Any
    received: Any
    change: Change


def differences(
    recorded: dict[str, Any], live: dict[str, Any], components: list[str], skeletons: Skeletons, most: int = MOST
) -> list[Difference]:
    """The differences in these components, at most so many; one for each at least."""
    out: list[Difference] = []
    for component in components:
        if len(out) >= most:
            break
        was, now, field = *(component_value(side, component) for side in (recorded, live)), f"request.{component}"
        found = list(islice(_Walk(skeletons).of(was, now, field), most - len(out)))
        out += found or [Difference(field, _plain(was), _plain(now), "changed")]
    return out


def compare(was: Any, now: Any, field: str, skeletons: Skeletons, most: int = MOST) -> list[Difference]:
    """The differences of two values."""
    return list(islice(_Walk(skeletons).of(was, now, field), most))


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


class _Walk:
    def __init__(self, skeletons: Skeletons) -> None:
        self._skeletons = skeletons

    def same(self, was: Any, now: Any, field: str) -> bool:
        """Equal but for the text of holes."""
        if was is now:
            return True
        if was is NOTHING or now is NOTHING:
            return False
        return digest_value(self._skeletons.value(was, field)[0]) == digest_value(self._skeletons.value(now, field)[0])

    def of(self, was: Any, now: Any, field: str, depth: int = 0) -> Iterator[Difference]:
        if was is NOTHING or now is NOTHING:
            if was is not now:
                yield Difference(field, _plain(was), _plain(now), "added" if was is NOTHING else "removed")
            return
        if _kind(was) == _kind(now) and depth < _DEPTH:
            if isinstance(was, dict):
                yield from self._dicts(was, now, field, depth)
                return
            if isinstance(was, list | tuple):
                yield from self._lists(was, now, field, depth)
                return
            if isinstance(was, Tagged) and was.tag == now.tag:
                yield from self._dicts(dict(was.members), dict(now.members), field, depth)
                return
        if not self.same(was, now, field):
            yield Difference(field, was, now, "changed" if _kind(was) == _kind(now) else "retyped")

    def _dicts(self, was: dict[Any, Any], now: dict[Any, Any], field: str, depth: int) -> Iterator[Difference]:
        matters = _semantic(was, now, field)
        for key in dict.fromkeys([*was, *now]):
            if matters(key):
                step = key if isinstance(key, str) else str(key)
                a, b = was.get(key, NOTHING), now.get(key, NOTHING)
                if key in ("arguments", "response", "parameters"):
                    a, b = (settled(v) if v is not NOTHING else v for v in (a, b))
                yield from self.of(a, b, join(field, step), depth + 1)

    def _lists(self, was: Any, now: Any, field: str, depth: int) -> Iterator[Difference]:
        """What leads and what ends both lists is the same; what is between is compared item by item."""
        generic = f"{field}[*]"
        lead = 0
        while lead < min(len(was), len(now)) and self._alike(was[lead], now[lead], generic):
            lead += 1
        tail = 0
        while tail < min(len(was), len(now)) - lead and self._alike(was[-1 - tail], now[-1 - tail], generic):
            tail += 1
        old, new = was[lead : len(was) - tail], now[lead : len(now) - tail]
        for n in range(max(len(old), len(new))):
            a = old[n] if n < len(old) else NOTHING
            b = new[n] if n < len(new) else NOTHING
            yield from self.of(a, b, join(field, lead + n), depth + 1)

    def _alike(self, was: Any, now: Any, field: str) -> bool:
        return was is now or self.same(_said(was), _said(now), field)


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
    if kind == now.get("type") and isinstance(kind, str) and kind in PART_FIELDS and within(field, "request"):
        known = (*PART_FIELDS[kind], "type", "result")
        return lambda key: key in known and not (was.get(key) is None and now.get(key) is None)
    return lambda _: True
