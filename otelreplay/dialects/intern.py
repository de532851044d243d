"""Equal messages and tool definitions of a run are one object.

Every model call repeats the history, so a run of n turns holds n²/2 copies of its messages. Whatever is done to a message later
(redaction, digest, storage) is done once per object, which makes the whole run linear. Two cheap ways in: a list that goes on
where the one before it ended is parsed from there on, and an element that was seen before is known by its bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.events import Mark, Message

_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Interner:
    """The messages and definitions of one run, each once."""

    def __init__(self) -> None:
        self._by_text: dict[tuple[str, bytes], tuple[Any, ...]] = {}
        self._recent: dict[str, list[tuple[str, list[Any]]]] = {}
        """By form: lists as (text without the last bracket, elements), the latest last."""
        self._messages: dict[tuple[bytes, tuple[Mark, ...]], Message] = {}
        self._values: dict[bytes, Any] = {}

    @property
    def size(self) -> int:
        """How many elements are known by their bytes."""
        return len(self._by_text)

    def message(self, value: dict[str, Any], marks: tuple[Mark, ...] = (), *, typed: bool = False) -> Message:
        """The one Message equal to this dict (key order does not count) with these marks.

        ``typed``: it holds values that JSON cannot say, which are equal only to themselves.
        """
        key = (canonical.jcs(value) if typed else _key(value), marks)
        found = self._messages.get(key)
        if found is None:
            found = self._messages[key] = Message(value, marks)
        return found

    def value(self, value: Any) -> Any:
        """The one object equal to this value."""
        return self._values.setdefault(_key(value), value)

    def each(self, text: str, form: str, read: Callable[[Any], tuple[Any, ...]]) -> list[Any] | None:
        """The elements of a JSON list, each through ``read`` (one element may give several); None if it is no JSON list.

        ``form`` names what ``read`` does, so that the same text read in two ways gives two results.
        """
        recent = self._recent.setdefault(form, [])
        rest, out, goes_on = _goes_on(text, recent)
        try:
            raw = _elements(rest)
        except (ValueError, UnicodeError, RecursionError):
            known, values = canonical.read_json(text)
            return [out for v in values for out in read(v)] if known and isinstance(values, list) else None
        for element in raw:
            key = (form, bytes(element))
            found = self._by_text.get(key)
            if found is None:
                _, value = canonical.read_json(key[1].decode())
                found = self._by_text[key] = read(value)
            out.extend(found)
        if text[-1:] == "]":
            del recent[goes_on : goes_on + 1]
            recent.append((text[:-1], out))
            del recent[:-_RECENT]
        return list(out)


_RECENT = 8
"""Lists that are remembered: as many conversations may go on side by side."""


def _goes_on(text: str, recent: list[tuple[str, list[Any]]]) -> tuple[str, list[Any], int]:
    """(what is still to be parsed, the elements before it, which of ``recent`` it goes on from: their number for none)."""
    for n in range(len(recent) - 1, -1, -1):
        before, known = recent[n]
        if not text.startswith(before):
            continue
        rest = text[len(before) :].lstrip()
        if rest[:1] == "," and known and rest[1:].lstrip()[:1] != "]":
            return "[" + rest[1:], list(known), n
        if rest == "]":
            return "[]", list(known), n
    return text, [], len(recent)


def _key(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value, order="sorted")
    except (TypeError, ValueError, UnicodeError, OverflowError, RecursionError):
        return canonical.jcs(value)
