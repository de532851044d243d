"""What is held of one trace, by identity and content: tells a retry from a conflict. No I/O.

A key is 20 bytes: 16 of the digest that ignores the order of attributes, and a checksum of the content as it was given. Copies
that differ in order only are one span to whoever counts, yet both are kept: which of them is taken must not depend on which
came first (``spans.identity``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from otelreplay.receiver.inbox import KEY, Delivery, Receipt, TraceKey, Verdict
from otelreplay.spans import LogRecord, Span

_CONTENT = 16
_ROW = 1 + 8 + KEY
_SPAN, _LOG = b"s", b"l"
_NO_ID = bytes(8)
_WEIGHT = 3
"""What a trace takes by itself, in keys."""


class Ledger:
    """The keys of one trace, and what its records add up to."""

    __slots__ = ("added", "end", "ended", "logs", "released", "spans", "start", "weight")

    def __init__(self, *, released: bool = False) -> None:
        self.spans: dict[bytes, tuple[bytes, ...]] = {}
        self.logs: dict[bytes, tuple[bytes, ...]] = {}
        self.added: list[bytes] = []
        """Rows of what was admitted since the last :meth:`rows`."""
        self.released = released
        """Its content is no longer held: what is not known is late."""
        self.start = self.end = 0
        self.weight = _WEIGHT
        self.ended = False

    def admit_span(self, span: Span, key: bytes) -> Verdict:
        """Take a span in, unless it is held already."""
        identity = bytes.fromhex(span.span_id)
        held = self.spans.get(identity, ())
        if key in held:
            return "duplicate"
        if self.released:
            return "late"
        self.spans[identity] = (*held, key)
        self._add(_SPAN + identity + key)
        if span.start and (not self.start or span.start < self.start):
            self.start = span.start
        self.end = max(self.end, span.end)
        self.ended = self.ended or (not span.parent_span_id and span.end > 0)
        if not held:
            return "new"
        return "reordered" if any(key[:_CONTENT] == other[:_CONTENT] for other in held) else "conflict"

    def admit_log(self, record: LogRecord, key: bytes) -> Verdict:
        """Take a log record in, unless it is held already."""
        held = self.logs.get(key[:_CONTENT], ())
        if key in held:
            return "duplicate"
        if self.released:
            return "late"
        self.logs[key[:_CONTENT]] = (*held, key)
        self._add(_LOG + _NO_ID + key)
        time = record.time or record.observed_time
        if time and (not self.start or time < self.start):
            self.start = time
        return "reordered" if held else "new"

    def rows(self) -> bytes:
        """What was admitted since the last call, for :meth:`load`."""
        found, self.added = b"".join(self.added), []
        return found

    def load(self, rows: Iterable[bytes]) -> None:
        """Take in what :meth:`rows` gave."""
        for data in rows:
            for at in range(0, len(data), _ROW):
                identity, key = data[at + 1 : at + 9], data[at + 9 : at + _ROW]
                if data[at : at + 1] == _SPAN:
                    self.spans[identity] = (*self.spans.get(identity, ()), key)
                else:
                    self.logs[key[:_CONTENT]] = (*self.logs.get(key[:_CONTENT], ()), key)
                self.weight += 1

    def _add(self, row: bytes) -> None:
        self.added.append(row)
        self.weight += 1


class Fresh:
    """What a round of deliveries adds to one trace."""

    __slots__ = ("ledger", "logs", "spans")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.spans: list[Span] = []
        self.logs: list[LogRecord] = []


def admit(
    deliveries: Sequence[Delivery], ledger_of: Callable[[TraceKey], Ledger]
) -> tuple[list[Receipt], dict[TraceKey, Fresh]]:
    """Sort deliveries into what is new and what is not; the ledgers know of it then."""
    fresh: dict[TraceKey, Fresh] = {}
    receipts = []

    def of(tenant: str, trace_id: str) -> Fresh:
        key = TraceKey(tenant, trace_id)
        found = fresh.get(key)
        if found is None:
            found = fresh[key] = Fresh(ledger_of(key))
        return found

    for delivery in deliveries:
        receipts.append(receipt := Receipt())
        for span, content in zip(delivery.spans, delivery.span_keys, strict=True):
            trace = of(delivery.tenant, span.trace_id)
            verdict = trace.ledger.admit_span(span, content)
            receipt.count_span(verdict)
            if verdict not in _NOT_KEPT:
                trace.spans.append(span)
        for record, content in zip(delivery.logs, delivery.log_keys, strict=True):
            trace = of(delivery.tenant, record.trace_id)
            verdict = trace.ledger.admit_log(record, content)
            receipt.count_log(verdict)
            if verdict not in _NOT_KEPT:
                trace.logs.append(record)
    return receipts, {key: trace for key, trace in fresh.items() if trace.spans or trace.logs}


_NOT_KEPT = frozenset({"duplicate", "late"})
