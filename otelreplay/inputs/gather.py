"""Collects what a form reads until it makes a batch.

A batch is one export request or one line, because equal log records inside one request are several records, while in two
requests they may be one that was sent again. Only what is too large for memory is handed on in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from otelreplay.inputs.tally import Tally
from otelreplay.spans.model import Batch, LogRecord, Rejected, Resource, Scope, Span

_FULL = 16 << 20
_MANY = 20_000
_REMEMBERED = 256
LISTED = 20_000
"""Refusals of one batch that are listed, and traces of further ones that are told apart; the rest is counted."""
_Group = TypeVar("_Group", Resource, Scope)


class Gather:
    """Spans, logs and refusals of one source. Equal resources and scopes become one object, whatever group they stand in."""

    def __init__(self, name: str, tally: Tally, *, groups_of: Gather | None = None) -> None:
        self.name, self.tally = name, tally
        self.spans: list[Span] = []
        self.logs: list[LogRecord] = []
        self.rejected: list[Rejected] = []
        self.refused = 0
        """How many were refused since the start."""
        self._unlisted = 0
        self._unlisted_traces: set[str] = set()
        self.weight = 0
        """Bytes of input behind what is held; whoever reads them adds them."""
        self._groups: dict[bytes, Resource | Scope] = {} if groups_of is None else groups_of._groups
        self._encode = msgspec.msgpack.Encoder().encode

    @property
    def full(self) -> bool:
        """True when memory demands that a batch is handed on before its request or line is complete."""
        return self.weight >= _FULL or len(self.spans) + len(self.logs) + len(self.rejected) >= _MANY

    def refuse(self, where: str, reason: str, ids: tuple[str, str] = ("", "")) -> None:
        """Note what is not taken in. Neither text may quote the input. ``ids``: trace id and span id, as far as valid."""
        trace_id, span_id = ids
        self.refused += 1
        if len(self.rejected) < LISTED:
            place = ": ".join(part for part in (self.name, where) if part)
            self.rejected.append(Rejected(place, reason, trace_id, span_id))
        else:
            self._unlisted += 1
            self._unlisted_traces.add(trace_id if len(self._unlisted_traces) < LISTED else "")

    def batch(self) -> Batch:
        """Everything since the last call."""
        more = frozenset(self._unlisted_traces)
        made = Batch(tuple(self.spans), tuple(self.logs), tuple(self.rejected), self._unlisted, more)
        self.spans, self.logs, self.rejected, self.weight = [], [], [], 0
        self._unlisted, self._unlisted_traces = 0, set()
        return made

    def take(self, other: Gather) -> None:
        """The records that ``other`` holds, with its counts; one that refuses nothing."""
        self.spans += other.spans
        self.logs += other.logs
        self.tally.notes.update(other.tally.notes)

    def join(self, parts: Sequence[Batch]) -> None:
        """Put the records of earlier batches before what is held: the next batch is all of it."""
        self.spans[:0] = [span for part in parts for span in part.spans]
        self.logs[:0] = [record for part in parts for record in part.logs]
        self.rejected[:0] = [each for part in parts for each in part.rejected]
        self._unlisted += sum(part.unlisted for part in parts) + len(self.rejected[LISTED:])
        self._unlisted_traces.update(*(part.unlisted_traces for part in parts), (r.trace_id for r in self.rejected[LISTED:]))
        del self.rejected[LISTED:]

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
