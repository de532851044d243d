"""Where a difference comes from: its cause class, and the answer that brought the differing value in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from otelreplay.events import Missing
from otelreplay.events.fields import get, within
from otelreplay.replay.answers import Served
from otelreplay.replay.diff import Difference
from otelreplay.replay.divergence import CauseClass
from otelreplay.replay.holes import holes_in
from otelreplay.replay.normalizers import timestamps, uuids
from otelreplay.replay.score import Recorded
from otelreplay.replay.situation import ANSWERS, Agreed, Situation

MADE: Final = ("clock", "random", "id")
"""Kinds whose values are made up anew each time."""
_OF_KIND: Final[dict[str, CauseClass]] = {
    "clock": "clock",
    "random": "random",
    "id": "random",
    "tool": "tool result",
    "retrieval": "tool result",
}
_TIMES, _IDS = timestamps(), uuids()
_WORD: Final = re.compile(r"[^\s\"'`,;:(){}\[\]<>]+")
_LONG_ENOUGH: Final = 4
_LEAVES: Final = 2_000


def cause_of(difference: Difference, request: dict[str, Any]) -> CauseClass:
    """The class of a difference in a request, by its place."""
    path = difference.path
    made = _made_up(difference)
    if made is not None:
        return made
    if isinstance(difference.expected, str) and "[TRUNCATED:" in difference.expected:
        return "truncation"
    if any(hole.text for hole in holes_in([difference.expected, difference.received])):
        return "redaction"
    if within(path, "request.messages") or within(path, "request.system"):
        return "tool result" if _in_result(path, request) else "prompt"
    if within(path, "request.tools"):
        return "tool schema"
    if within(path, "request.model") or within(path, "request.params"):
        return "model options"
    return "code"


def _made_up(difference: Difference) -> CauseClass | None:
    """A date, a time or an identifier where another one stood: nothing else differs between the two texts."""
    was, now = difference.expected, difference.received
    if not isinstance(was, str) or not isinstance(now, str):
        return None
    for pattern, cause in ((_TIMES, "clock"), (_IDS, "random")):
        if pattern.normal("request", was) == pattern.normal("request", now):
            return cause  # type: ignore[return-value]
    return None


def cause_of_gap(mark: Missing) -> CauseClass:
    """The class of what the recording does not hold."""
    return {"truncated": "truncation", "redacted": "redaction"}.get(mark.cause, "missing data")  # type: ignore[return-value]


def _in_result(path: str, request: dict[str, Any]) -> bool:
    """Whether a message field lies in what a tool gave."""
    found = re.match(r"request\.(messages\[\d+\])(?:\.parts\[(\d+)\])?", path)
    message = get(request, found[1]) if found else None
    if not isinstance(message, dict):
        return False
    part = get(message, f"parts[{found[2]}]") if found and found[2] else None
    return message.get("role") == "tool" or (isinstance(part, dict) and part.get("type") == "tool_call_response")


class Provenance:
    """Finds the answers that values were taken from. Looks through what was served; used only when something differs."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation

    def source(self, difference: Difference) -> Served | None:
        """The latest answer that holds what was received and not expected."""
        texts = _told_apart(difference.received, difference.expected)
        return next((s for s in self._answers() if _holds([s.value, s.chunks], texts)), None) if texts else None

    def expected_from(self, difference: Difference) -> Recorded | None:
        """The recording of a clock, a random number or an id that holds what was expected and not received."""
        texts = _told_apart(difference.expected, difference.received)
        if not texts:
            return None
        made = [item for item in self._situation.score.served if item.group[0] in MADE]
        return next((item for item in made[:ANSWERS] if _holds((item.event.response or {}).get("result"), texts)), None)

    def taken_early(self, kind: str) -> Agreed | None:
        """The first call of this kind that took a recording before one that had ended when it began: an additional call."""
        number = {a.item: a.number for a in self._situation.agreed}
        latest: dict[int | None, tuple[int, int]] = {}
        found: list[Agreed] = []
        agreed = {a.item: a for a in self._situation.agreed}
        for item in self._situation.score.served:
            mine = number.get(item)
            when = latest.get(item.context)
            start, end = _time(item.event.start), _time(item.event.end)
            if item.group[0] == kind and mine is not None and when is not None and when[0] > mine and when[1] <= start:
                found.append(agreed[item])
            if item.group[0] not in MADE:
                sort = mine if mine is not None else 1 << 62
                latest[item.context] = max(when or (0, 0), (sort, end))
        return min(found, key=lambda a: a.number, default=None)

    def not_read(self, item: Recorded, cause: CauseClass) -> Recorded | None:
        """A clock, random number or id right before this recording that was not asked for, where such a value differs."""
        for other in reversed(self._situation.score.served[:ANSWERS]):
            near = other.place < item.place and other.context == item.context and not other.taken and other.outer is None
            if near and _OF_KIND.get(other.group[0]) == cause and cause in ("clock", "random"):
                return other
        return None

    def class_of_made(self, kind: str) -> CauseClass:
        """The cause class of a call that makes a value up; of any other, ``code``."""
        return _OF_KIND[kind] if kind in MADE else "code"

    def class_of(self, kind: str) -> CauseClass | None:
        """The cause class of a value that came from an answer of this kind."""
        return _OF_KIND.get(kind)

    def made_up_in(self, item: Recorded) -> str | None:
        """The kind of made-up value that the request of a recording holds; None if it holds none."""
        held = list(_texts(item.event.request))
        for other in self._situation.score.served[:ANSWERS]:
            if other.group[0] in MADE and other.place < item.place:
                texts = [t for t in _texts((other.event.response or {}).get("result")) if len(t) >= _LONG_ENOUGH]
                if any(text in leaf for text in texts for leaf in held):
                    return other.group[0]
        return None

    def _answers(self) -> Iterator[Served]:
        held = list(self._situation.served.values())
        return iter(held[: -ANSWERS - 1 : -1])


def _time(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0


def _told_apart(value: Any, other: Any) -> list[str]:
    """The words of a value that the other one does not have."""
    if isinstance(value, bool) or value is None:
        return []
    words = dict.fromkeys(word for text in _texts(value) for word in (text, *_WORD.findall(text)))
    known = {word for text in _texts(other) for word in (text, *_WORD.findall(text))}
    return [word for word in words if word not in known and len(word) >= _LONG_ENOUGH]


def _holds(value: Any, texts: list[str]) -> bool:
    return any(text in leaf for leaf in _texts(value) for text in texts)


def _texts(value: Any) -> Iterator[str]:
    waiting, seen = [value], 0
    while waiting and seen < _LEAVES:
        item = waiting.pop()
        seen += 1
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
        elif item is not None and not isinstance(item, bool):
            yield str(item)
