"""A bounded memory of texts that were judged.

Two generations of plain dicts: what is asked for moves to the young one, and when that is full the old one is forgotten.
Bounded by entries and by characters (of the text alone unless ``weigh`` says what an entry holds). No lock: under one
interpreter lock each step is atomic, and the worst that two threads can do to each other is to judge a text twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

K = TypeVar("K", str, bytes)
V = TypeVar("V")
_ENTRIES: Final = 20_000
_CHARACTERS: Final = 16 << 20


class Memory(Generic[K, V]):
    """From text to verdict."""

    def __init__(
        self, entries: int = _ENTRIES, characters: int = _CHARACTERS, weigh: Callable[[K, V], int] | None = None
    ) -> None:
        self.young: dict[K, V] = {}
        """What was asked for last; for reading where a call would cost too much."""
        self._old: dict[K, V] = {}
        self._entries, self._characters, self._held = entries, characters, 0
        self._weigh: Callable[[K, V], int] | None = weigh

    def get(self, text: K) -> V | None:
        """The verdict on ``text``, if it is remembered."""
        found = self.young.get(text)
        if found is None:
            found = self._old.get(text)
            if found is not None:
                self.put(text, found)
        return found

    def put(self, text: K, verdict: V) -> None:
        """Remember a verdict."""
        size = len(text) if self._weigh is None else self._weigh(text, verdict)
        if size * 4 > self._characters:
            return
        if len(self.young) >= self._entries or self._held > self._characters:
            self._old = dict(self.young)
            self.young.clear()
            self._held = 0
        self.young[text] = verdict
        self._held += size
