"""Lists of messages in JSON, member by member.

Every model call repeats the history, so the text of a call's messages is new each time and its members are not. Each member that
has a ``role`` is a text of its own (pieces of one text never lie in two messages), is judged once and remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from otelreplay.redaction.memory import Memory


class _Message(msgspec.Struct):
    role: str


_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_MEMBER: Final = msgspec.json.Decoder(_Message)


class Members:
    """Remembers members of lists: their JSON text to its redacted form."""

    def __init__(self, judge: Callable[[str, int], str]) -> None:
        self._judge = judge
        self._memory: Memory[bytes, str] = Memory()

    def edits(self, text: str, layer: int) -> list[tuple[int, int, str]] | None:
        """Edits of a list of messages; None where ``text`` is none, or no valid JSON."""
        try:
            members = [bytes(raw) for raw in _LIST.decode(text)]
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return None
        memory = self._memory
        news: list[str] = []
        dirty = False
        for raw in members:
            new = memory.get(raw)
            if new is None:
                new = self._member(raw, layer)
                if new is None:
                    return None
                memory.put(raw, new)
            dirty = dirty or new != ""
            news.append(new)
        return self._place(text, members, news) if dirty else []

    def _member(self, raw: bytes, layer: int) -> str | None:
        """Empty where the member stays; None where it is no message."""
        try:
            _MEMBER.decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return None
        text = raw.decode("utf-8")
        new = self._judge(text, layer)
        return "" if new == text else new

    @staticmethod
    def _place(text: str, members: list[bytes], news: list[str]) -> list[tuple[int, int, str]]:
        edits = []
        at = 0
        for raw, new in zip(members, news, strict=True):
            old = raw.decode("utf-8")
            start = text.index(old, at)
            at = start + len(old)
            if new:
                edits.append((start, at, new))
        return edits
