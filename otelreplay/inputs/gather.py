"""Collects what a form reads until it makes a batch."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from otelreplay.inputs.tally import Tally
from otelreplay.spans.model import Batch, LogRecord, Rejected, Resource, Scope, Span

_FULL = 500
_REMEMBERED = 256
_Group = TypeVar("_Group", Resource, Scope)


class Gather:
    """Spans, logs and refusals of one source. Equal resources and scopes become one object, whatever group they stand in."""

    def __init__(self, name: str, tally: Tally, *, groups_of: Gather | None = None) -> None:
        self.name, self.tally = name, tally
        self.spans: list[Span] = []
        self.logs: list[LogRecord] = []
        self.rejected: list[Rejected] = []
        self._groups: dict[bytes, Resource | Scope] = {} if groups_of is None else groups_of._groups
        self._encode = msgspec.msgpack.Encoder().encode

    @property
    def full(self) -> bool:
        """True when it is time to hand a batch on."""
        return len(self.spans) + len(self.logs) + len(self.rejected) >= _FULL

    def refuse(self, where: str, reason: str) -> None:
        """Note what is not taken in. Neither text may quote the input."""
        self.rejected.append(Rejected(f"{self.name}: {where}" if self.name else where, reason))

    def batch(self) -> Batch:
        """Everything since the last call."""
        made = Batch(tuple(self.spans), tuple(self.logs), tuple(self.rejected))
        self.spans, self.logs, self.rejected = [], [], []
        return made

    def take(self, other: Gather) -> None:
        """Everything that ``other`` holds, with its counts."""
        self.spans += other.spans
        self.logs += other.logs
        self.rejected += other.rejected
        self.tally.notes.update(other.tally.notes)

    def drain(self) -> tuple[Batch, ...]:
        """The last batch, if there is anything to put into it."""
        return (self.batch(),) if self.spans or self.logs or self.rejected else ()

    def resource(self, value: Resource) -> Resource:
        """``value``, or the equal object that was given before."""
        return self._same(value, b"r")

    def scope(self, value: Scope) -> Scope:
        """``value``, or the equal object that was given before."""
        return self._same(value, b"s")

    def _same(self, value: _Group, kind: bytes) -> _Group:
        try:
            key = kind + self._encode(value)
        except (UnicodeEncodeError, OverflowError):
            return value
        if len(self._groups) >= _REMEMBERED:
            self._groups.clear()
        known = self._groups.setdefault(key, value)
        return known if isinstance(known, type(value)) else value
