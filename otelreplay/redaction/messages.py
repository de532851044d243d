"""Lists of messages in JSON, member by member.

Every model call repeats the history: the text of a call's messages is new each time, its members are not. Each member that
has a ``role`` is a text of its own (pieces of one text never lie in two messages), is judged once and remembered. A list that
continues one that was just seen is not even taken apart: what comes after the known beginning is all that is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from otelreplay.redaction.memory import Memory

Edit = tuple[int, int, str]


class _Message(msgspec.Struct):
    role: str


_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_MEMBER: Final = msgspec.json.Decoder(_Message)
_FAULTS: Final = (msgspec.DecodeError, RecursionError, UnicodeError)
_HEAD: Final = 160
"""Characters by which a conversation is recognised; then its known text is compared as a whole."""


class Members:
    """Remembers members of lists, and the last list of each conversation."""

    def __init__(self, judge: Callable[[str, int], str]) -> None:
        self._judge = judge
        self._memory: Memory[bytes, str] = Memory()
        self._last: Memory[str, tuple[str, list[Edit]]] = Memory(entries=4_000)

    def edits(self, text: str, layer: int) -> list[Edit] | None:
        """Edits of a list of messages; None where ``text`` is none, or no valid JSON."""
        head = text[:_HEAD]
        known = self._last.get(head)
        at, edits = 0, []
        if known is not None and text.startswith(known[0]):
            at, edits = len(known[0]), known[1]
            if text[at:] == "]":
                return edits
            if not text.startswith(",", at):
                at, edits = 0, []
        new = self._from(text, at, layer)
        if new is None:
            return None
        edits = edits + new if new else edits
        if text.endswith("]"):
            self._last.put(head, (text[:-1], edits))
        return edits

    def _from(self, text: str, at: int, layer: int) -> list[Edit] | None:
        """Edits of the members from ``at`` on, which is the list's begin or the comma after a member."""
        part = f"[{text[at + 1 :]}" if at else text
        try:
            members = _LIST.decode(part)
        except _FAULTS:
            return None
        news: list[tuple[bytes, str]] = []
        for member in members:
            raw = bytes(member)
            new = self._memory.get(raw)
            if new is None:
                new = self._member(raw, layer)
                if new is None:
                    return None
                self._memory.put(raw, new)
            news.append((raw, new))
        return _placed(text, at, news) if any(new for _, new in news) else []

    def _member(self, raw: bytes, layer: int) -> str | None:
        """Empty where the member stays; None where it is no message."""
        try:
            _MEMBER.decode(raw)
        except _FAULTS:
            return None
        text = raw.decode("utf-8")
        new = self._judge(text, layer)
        return "" if new == text else new


def _placed(text: str, at: int, news: list[tuple[bytes, str]]) -> list[Edit]:
    """Members stand one after the other with only commas and space between, so each is found where the search begins."""
    edits: list[Edit] = []
    for raw, new in news:
        old = raw.decode("utf-8")
        start = text.index(old, at)
        at = start + len(old)
        if new:
            edits.append((start, at, new))
    return edits
