"""Values that two recordings of one program are bound to differ in, because each made its own: times, random numbers, ids.

The n-th clock of one recording stands for the n-th of the other, and likewise random numbers and ids. Wherever the second
recording holds what its own gave, the first one's is put there before the two are compared. Only recorded boundaries count: a
time that a program read past every boundary is a difference like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from otelreplay.events import Event, Message
from otelreplay.replay.causes import MADE

_WORD: Final = re.compile(r"[0-9A-Za-z](?:[0-9A-Za-z_.:+-]*[0-9A-Za-z])?")
_LONG_ENOUGH: Final = 4
"""Characters below which a text may stand somewhere by chance."""
_DEPTH: Final = 200


@dataclass(slots=True)
class Counterparts:
    """Rewrites the events of the second recording. Equal messages stay one object."""

    table: Mapping[Any, Any]
    used: set[str] = field(default_factory=set)
    """Kinds of boundary whose values were found anywhere."""
    _memo: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def event(self, event: Event) -> Event:
        """The event with the first recording's values in it; the same object where there is none."""
        if not self.table or event.kind in MADE:
            return event
        request, response = self._value(event.request, 0), self._value(event.response, 0)
        if request is event.request and response is event.response:
            return event
        return event.model_copy(update={"request": request, "response": response})

    def _value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, bool) or depth > _DEPTH:
            return value
        if isinstance(value, dict | list):
            known = self._memo.get(id(value))
            if known is None:
                known = self._memo[id(value)] = (value, self._inside(value, depth))
            return known[1]
        if isinstance(value, int | float | datetime):
            return self._found((type(value), value), value)
        return value

    def _inside(self, value: Any, depth: int) -> Any:
        if isinstance(value, dict):
            made = {key: self._value(item, depth + 1) for key, item in value.items()}
            if all(made[key] is item for key, item in value.items()):
                return value
            return Message(made, value.marks) if isinstance(value, Message) else made
        items = [self._value(item, depth + 1) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items

    def _text(self, text: str) -> Any:
        whole = self._found((str, text), text)
        if whole is not text:
            return whole
        made = _WORD.sub(lambda m: self._found((str, m[0]), m[0]), text)
        return made if made != text else text

    def _found(self, key: Any, value: Any) -> Any:
        found = self.table.get(key)
        if found is None:
            return value
        self.used.add(found[0])
        return found[1]


def counterparts(first: Sequence[Event], second: Sequence[Event]) -> Counterparts:
    """What stands for what, from the events of two recordings in order."""
    table: dict[Any, Any] = {}
    for kind in MADE:
        for ours, theirs in zip(_results(first, kind), _results(second, kind), strict=False):
            for was, now in zip(_forms(ours), _forms(theirs), strict=False):
                if type(was) is type(now) and was != now:
                    table.setdefault((type(now), now), (kind, was))
    return Counterparts(table)


def _results(events: Sequence[Event], kind: str) -> Iterator[Any]:
    return ((event.response or {}).get("result") for event in events if event.kind == kind)


def _forms(value: Any) -> list[Any]:
    """A value in the forms in which a program hands it on: itself, and as text."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, datetime):
        return [value, value.isoformat(), str(value)]
    text = str(value)
    if len(text) < _LONG_ENOUGH or not isinstance(value, str | int | float):
        return []
    return [value] if isinstance(value, str) else [value, text]
