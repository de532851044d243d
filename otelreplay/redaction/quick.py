"""The short way for spans in which there is nothing to find, which are almost all.

Theory of operation. The careful way (:mod:`walker`, :mod:`scan`) takes each attribute by itself, reads its JSON and asks the
gates about each message. Here all that is new in a span - its new messages as they stand in the JSON, its ids, its name - is
put together as one text, and the gates are asked once. Gates are superset searches without anchors, so what opens none for
the whole opens none for any part; the careful way would have stopped at the gates of each part and changed nothing. That needs
four more conditions, each checked here, and each with a test of its own:

- no rule and no meaning in the attribute's name (:attr:`Walker.plain <Walker>`), and no path rule in the policy;
- no message, and no other text, that may hold one text in several pieces, which only show when they are joined;
- numbers too small for a card, and no values but texts, numbers, and short lists that were judged before;
- no events and links, and a resource and a scope that were judged before.

Whatever does not meet them goes the careful way: this one only ever says "nothing here" or "I do not know". A history whose
known beginning was changed is put together from that beginning as it was redacted and what follows.
"""

from __future__ import annotations

from typing import Final

from otelreplay.redaction.messages import Part
from otelreplay.redaction.scan import SMALL, Scanner
from otelreplay.spans import Attributes

MESSAGES: Final = 512
"""Shorter lists of messages are texts like any other."""
_ROLE: Final = '[{"role"'
"""How most lists of messages begin: no text like this is looked up as a whole, which would cost a digest of all of it."""


class Quick:
    """Judges what is new in one span at once."""

    def __init__(self, scanner: Scanner, plain: set[str], short: set[tuple[str, ...]], mark: str) -> None:
        self._scanner, self._plain, self._short, self._mark = scanner, plain, short, mark

    def attributes(self, attributes: Attributes, texts: tuple[str, ...]) -> Attributes | None:
        """The attributes under the policy, given that ``texts`` stay as they are; None: only the careful way can tell."""
        plain, seen, short, part_of = self._plain, self._scanner.seen, self._short, self._scanner.members.part
        new: list[tuple[str, str]] = []
        parts: list[tuple[str, Part]] = []
        changed: dict[str, str] = {}
        for text in texts:
            if text and seen.get(text) != text:
                new.append(("", text))
        for name, value in attributes.items():
            if name not in plain:
                return None
            kind = type(value)
            if kind is str:
                known = None if len(value) > MESSAGES and value.startswith(_ROLE) else seen.get(value)
                if known is None:
                    part = part_of(value) if len(value) > MESSAGES and value.startswith("[{") else None
                    if part is None:
                        new.append((name, value))
                    else:
                        parts.append((name, part))
                elif known != value:
                    changed[name] = known
            elif not (
                kind is bool
                or ((kind is int or kind is float) and -SMALL < value < SMALL)
                or (kind is list and is_short(value) and (name, *value) in short)
            ):
                return None
        if not self._scanner.silent([*[text for _, text in new], *[text for _, part in parts for text in part.fresh]]):
            return self._each(attributes, new, parts, changed)
        for _, text in new:
            self._scanner.settle(text)
        return self._settled(attributes, parts, changed)

    def _each(
        self, attributes: Attributes, new: list[tuple[str, str]], parts: list[tuple[str, Part]], changed: dict[str, str]
    ) -> Attributes | None:
        """Each new text by itself, which is what the careful way does with attributes like these."""
        for name, text in new:
            now = self._scanner.text(text)
            if now != text:
                if not name:
                    return None
                changed[name] = now
        quiet = []
        for name, part in parts:
            if self._scanner.silent(part.fresh):
                quiet.append((name, part))
                continue
            now = self._scanner.text(part.text)
            if now != part.text:
                changed[name] = now
        return self._settled(attributes, quiet, changed)

    def _settled(self, attributes: Attributes, parts: list[tuple[str, Part]], changed: dict[str, str]) -> Attributes | None:
        for name, part in parts:
            text = self._scanner.members.settle(part)
            if text is not part.text:
                changed[name] = text
        if not changed:
            return attributes
        if any(self._mark in text for text in changed.values()):
            return None
        return {**attributes, **changed}


def is_short(value: list[object]) -> bool:
    """A short list of short texts, such as finish reasons: worth remembering whole."""
    return len(value) <= 4 and all(type(item) is str and len(item) <= 32 for item in value)
