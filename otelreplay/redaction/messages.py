"""Lists of messages in JSON, member by member.

Every model call repeats the history: the text of a call's messages is new each time, its members are not. Each member that
has a ``role`` is a text of its own (pieces of one text never lie in two messages), is judged once and remembered. A list that
continues one that was just seen is not even taken apart: what comes after the known beginning is all that is looked at.

:meth:`Members.part` says what that is, so that it can be put to the gates together with other texts; where they stay shut,
:meth:`Members.settle` keeps the verdict and gives the list as it is to stand. Where not, :meth:`Members.edits` judges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from otelreplay.redaction.jsontext import splice
from otelreplay.redaction.memory import Memory

Edit = tuple[int, int, str]


class _Message(msgspec.Struct):
    role: str


class Known(msgspec.Struct, frozen=True):
    """The beginning of a list, without its closing bracket."""

    text: str
    edits: list[Edit]
    new: str
    """``text`` with the edits made."""


class Part(msgspec.Struct, frozen=True):
    """A list of messages, and what of it has not been judged yet."""

    text: str
    known: Known | None
    fresh: list[str]
    """Members after the known beginning that no memory knows."""


_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_MESSAGES: Final = msgspec.json.Decoder(list[_Message])
_MEMBER: Final = msgspec.json.Decoder(_Message)
_FAULTS: Final = (msgspec.DecodeError, RecursionError, UnicodeError)
_HEAD: Final = 160
"""Characters by which a conversation is recognised; then its known text is compared as a whole."""


class Members:
    """Remembers members of lists, and the last list of each conversation."""

    def __init__(self, judge: Callable[[str, int], str]) -> None:
        self._judge = judge
        self._memory: Memory[bytes, str] = Memory()
        self._last: Memory[str, Known] = Memory(entries=4_000, weigh=_weight)

    def edits(self, text: str, layer: int) -> list[Edit] | None:
        """Edits of a list of messages; None where ``text`` is none, or no valid JSON."""
        known, at = self._known(text)
        edits = known.edits if known is not None else []
        if known is not None and at == len(text) - 1:
            return edits
        new = self._from(text, at, layer)
        if new is None:
            return None
        edits = edits + new if new else edits
        self._keep(text, edits, splice(text[:-1], edits) if edits else None)
        return edits

    def part(self, text: str) -> Part | None:
        """What of a list of messages is new; None where it is no such list."""
        known, at = self._known(text)
        if known is not None and at == len(text) - 1:
            return Part(text, known, [])
        rest = f"[{text[at + 1 :]}" if at else text
        try:
            members = [bytes(member) for member in _LIST.decode(rest)]
            _MESSAGES.decode(rest)
        except _FAULTS:
            return None
        verdicts = [self._memory.get(member) for member in members]
        if any(verdicts):
            return None
        return Part(text, known, [m.decode("utf-8") for m, verdict in zip(members, verdicts, strict=True) if verdict is None])

    def settle(self, part: Part) -> str:
        """The list under the policy, for a part whose new members hold nothing."""
        text, known = part.text, part.known
        for member in part.fresh:
            self._memory.put(member.encode("utf-8"), "")
        if known is None or not known.edits:
            self._keep(text, [], None)
            return text
        new = known.new + text[len(known.text) :]
        self._keep(text, known.edits, new[:-1])
        return new

    def _known(self, text: str) -> tuple[Known | None, int]:
        """The beginning that was judged before, and where it ends: at a comma after a member, or at the closing bracket."""
        known = self._last.get(text[:_HEAD])
        if known is None or not text.startswith(known.text):
            return None, 0
        at = len(known.text)
        goes_on = text.startswith(",", at) or (text.endswith("]") and at == len(text) - 1)
        return (known, at) if goes_on else (None, 0)

    def _keep(self, text: str, edits: list[Edit], new: str | None) -> None:
        if text.endswith("]"):
            known = text[:-1]
            self._last.put(text[:_HEAD], Known(known, edits, known if new is None else new))

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


def _weight(head: str, known: Known) -> int:
    return len(head) + len(known.text) + (0 if known.new is known.text else len(known.new))


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
