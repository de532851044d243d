"""The digest of a message list, which grows with the list.

Theory of operation. Conventions disagree about where a message ends and how its parts are ordered, so a list is taken as
*turns*: what one role says before another does. What depends on the rest of the list is which call a result answers; that is
said by ordinals and enters only the *chain*: ``c[n + 1] = SHA-256(c[n] + digest of turn n + its ordinals)``. A list that
continues another continues its chain, with the last turn still open. ``docs/matching-keys.md`` has the exact bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from otelreplay.matching.parts import Atom


class _Ids:
    """The call ids of a list by ordinal. Shared by every chain that continues another; a chain sees its own first ``count``."""

    __slots__ = ("latest", "log")

    def __init__(self, log: list[str | None]) -> None:
        self.log = log
        self.latest = {call: n for n, call in enumerate(log) if call is not None}


class Chain(msgspec.Struct, frozen=True):
    """The digest of a message list so far, and what is needed to go on."""

    closed: bytes
    """The chain over all turns but the last."""
    turn: bytes = b""
    """The last turn: whose it is; empty for no turn at all."""
    items: tuple[bytes, ...] = ()
    text: Any = None
    """The hash of a text that may go on."""
    calls: tuple[bytes, ...] = ()
    ordinals: tuple[int, ...] = ()
    count: int = 0
    """Ordinals given so far."""
    waiting: tuple[tuple[int, str | None], ...] = ()
    """Calls without a result yet."""
    ids: _Ids | None = None

    @classmethod
    def start(cls) -> Chain:
        """The empty list."""
        return cls(hashlib.sha256(b"otelreplay messages 1").digest())

    def digest(self) -> bytes:
        """The digest of the list."""
        if not self.turn:
            return self.closed
        return _closed(self.closed, self.turn, _said(self.items, self.text, self.calls), self.ordinals)

    def extend(self, atoms: Iterable[Atom]) -> Chain:
        """The chain after these atoms. Leaves this one usable."""
        going = _Going(self)
        for atom in atoms:
            going.take(atom)
        return going.chain()


def _said(items: Sequence[bytes], text: Any, calls: Sequence[bytes]) -> bytes:
    """What stands in one turn."""
    return b"".join([*items, *calls] if text is None else [*items, text.digest(), *calls])


def _closed(closed: bytes, turn: bytes, said: bytes, ordinals: Sequence[int]) -> bytes:
    """The chain with one more turn."""
    own = hashlib.sha256(turn + said).digest()
    return hashlib.sha256(closed + own + ",".join(map(str, ordinals)).encode()).digest()


class _Going:
    """A chain under way."""

    def __init__(self, chain: Chain) -> None:
        ids = chain.ids or _Ids([])
        self._ids = ids if len(ids.log) == chain.count else _Ids(ids.log[: chain.count])
        self._waiting = list(chain.waiting)
        self._closed, self._turn = chain.closed, chain.turn
        self._items, self._calls, self._ordinals = list(chain.items), list(chain.calls), list(chain.ordinals)
        self._text = None if chain.text is None else chain.text.copy()

    def _open(self, turn: bytes) -> None:
        self._turn, self._text = turn, None
        self._items, self._calls, self._ordinals = [], [], []

    def chain(self) -> Chain:
        parts = tuple(self._items), self._text, tuple(self._calls), tuple(self._ordinals)
        return Chain(self._closed, self._turn, *parts, len(self._ids.log), tuple(self._waiting), self._ids)

    def take(self, atom: Atom) -> None:
        if atom.turn != self._turn:
            if self._turn:
                said = _said(self._items, self._text, self._calls)
                self._closed = _closed(self._closed, self._turn, said, self._ordinals)
            self._open(atom.turn)
        if atom.kind == "text":
            if atom.text:
                text = atom.text.encode("utf-8", "surrogatepass")
                if self._text is None:
                    self._text = hashlib.sha256(b"\x00" + text)
                else:
                    self._text.update(text)
        elif atom.kind == "call":  # does not end a text: calls are put last
            self._calls.append(atom.digest)
            self._ordinals.append(self._call(atom.call_id))
        elif atom.kind != "nothing":
            if self._text is not None:
                self._items.append(self._text.digest())
                self._text = None
            self._items.append(atom.digest)
            if atom.kind == "result":
                self._ordinals.append(self._answered(atom.call_id))

    def _new(self, call: str | None) -> int:
        ordinal = len(self._ids.log)
        self._ids.log.append(call)
        if call is not None:
            self._ids.latest[call] = ordinal
        return ordinal

    def _call(self, call: str | None) -> int:
        """Every call is a new one: an id may be used again."""
        ordinal = self._new(call)
        self._waiting.append((ordinal, call))
        return ordinal

    def _answered(self, call: str | None) -> int:
        """The ordinal of the call that a result answers.

        By id: the oldest open call of that id, else the last one answered. Without a known id: the oldest open call (of those
        without an id, if the result has one). Else a call from before this list, which is a new ordinal.
        """
        known = self._ids.latest.get(call) if call is not None else None
        for place, (ordinal, other) in enumerate(self._waiting):
            if call is None or other == (None if known is None else call):
                del self._waiting[place]
                return ordinal
        return self._new(call) if known is None else known
