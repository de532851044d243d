"""Where redacted spans and log records wait: what any inbox promises, and the values that go in and out.

An inbox knows for each trace of a tenant which spans and log records it holds, by identity and by content. A second delivery of
the same content is a duplicate and adds nothing; another content under a known span id is a conflict and is kept beside the
first, for reconstruction to settle. What arrives after a trace was released cannot become part of its run any more: it is late.

Times are wall clock, in ns since the epoch. Frame numbers rise with every delivery that added something.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from otelreplay.errors import OtelReplayError
from otelreplay.spans import LogRecord, Span
from otelreplay.spans.identity import as_given, fingerprint


class InboxError(OtelReplayError):
    """The inbox cannot keep anything now. Nothing of the delivery was kept; sending it again later may help."""

    exit_code = 2
    retryable = True


class TraceKey(NamedTuple):
    """Which trace of whom."""

    tenant: str
    trace_id: str


Verdict = Literal["new", "reordered", "conflict", "duplicate", "late"]
"""``reordered``: equal to one that is held, but for the order of attributes."""
KEY = 20
"""Bytes of a content key."""


def content_key(record: Span | LogRecord) -> bytes:
    """16 bytes of the digest that ignores the order of attributes, and a checksum of the content as it was given.

    Copies that differ in order only count as one, yet both are kept: which of them is taken must not depend on which came first
    (``spans.identity``).
    """
    return fingerprint(record)[: KEY - 4] + zlib.crc32(as_given(record)).to_bytes(4, "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The records of one export request, redacted, equal log records numbered (``spans.mark_twins``), all of a trace."""

    tenant: str
    spans: Sequence[Span]
    logs: Sequence[LogRecord]
    span_keys: Sequence[bytes]
    log_keys: Sequence[bytes]


def delivery(spans: Sequence[Span], logs: Sequence[LogRecord] = (), *, tenant: str = "") -> Delivery:
    """The records with the keys of their content."""
    return Delivery(
        tenant=tenant,
        spans=spans,
        logs=logs,
        span_keys=[content_key(span) for span in spans],
        log_keys=[content_key(record) for record in logs],
    )


@dataclass(slots=True, kw_only=True)
class Receipt:
    """What became of a delivery, counted. All that is not late is durable."""

    spans: int = 0
    """Stored now, conflicts included."""
    logs: int = 0
    duplicate_spans: int = 0
    duplicate_logs: int = 0
    conflicts: int = 0
    late_spans: int = 0
    late_logs: int = 0

    def count_span(self, verdict: Verdict) -> None:
        """Count one span."""
        self.late_spans += verdict == "late"
        self.duplicate_spans += verdict in ("duplicate", "reordered")
        self.conflicts += verdict == "conflict"
        self.spans += verdict in ("new", "conflict")

    def count_log(self, verdict: Verdict) -> None:
        """Count one log record."""
        self.late_logs += verdict == "late"
        self.duplicate_logs += verdict in ("duplicate", "reordered")
        self.logs += verdict == "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceState:
    """What an inbox knows of a trace without reading it."""

    key: TraceKey
    arrived: int
    """When something new of it came last."""
    start: int
    """Earliest start of a span or time of a record; 0 if none has one."""
    end: int
    """Latest end of a span."""
    spans: int
    """Distinct span ids."""
    ended: bool
    """A span without a parent has ended."""
    newest: int
    """Frame number of what came last."""
    sealed: int = 0
    """Frame number up to which it is in a sealed cassette; 0: in none."""
    run: str = ""
    """The run that it was sealed into."""

    @property
    def pending(self) -> bool:
        """Holds it something that is in no sealed cassette?"""
        return self.newest > self.sealed


@dataclass(frozen=True, slots=True)
class Order:
    """A wish of another process: seal a run, or everything."""

    number: int
    run: str
    """A run id or trace id; empty for everything that is pending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """Traces that are in a sealed cassette now, each up to the frame that was read of it."""

    run: str
    traces: Mapping[TraceKey, int] = field(default_factory=dict)


class Inbox(Protocol):
    """See the module. Methods may be called from several threads; ``put`` from one at a time."""

    def put(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        """Keep deliveries, all or none; durable when this returns. Raises InboxError, and has kept nothing then."""
        ...

    def pending(self) -> list[TraceState]:
        """Traces that hold something unsealed, by arrival."""
        ...

    def recent(self, since: int, limit: int) -> list[TraceState]:
        """Traces that are held in full and got something new since then: the ``limit`` newest ones, and all pending ones; with
        either the other traces of the run that they were sealed into, however old those are.
        """
        ...

    def read(self, keys: Iterable[TraceKey]) -> tuple[list[Span], list[LogRecord]]:
        """All that is held of some traces."""
        ...

    def leaves(self, sealed: Sealed) -> list[str]:
        """The runs that would have no trace any more if this were marked, since their last one is in another run then."""
        ...

    def mark(self, sealed: Sealed) -> None:
        """Note what is sealed. Traces that another one left, which was in their run before, are pending again."""
        ...

    def release(self, before: int) -> int:
        """Give up the content of sealed runs none of whose traces got something new since then; keys stay. How many traces."""
        ...

    def facts(self) -> dict[str, str]:
        """Small texts that belong to the store."""
        ...

    def note(self, facts: Mapping[str, str]) -> None:
        """Keep such texts."""
        ...

    def order(self, run: str) -> int:
        """Ask whoever serves this inbox to seal; the order's number."""
        ...

    def orders(self) -> list[Order]:
        """What is asked for and not yet done."""
        ...

    def fulfil(self, number: int, answer: Mapping[str, Any]) -> None:
        """Answer an order."""
        ...

    def answer(self, number: int) -> dict[str, Any] | None:
        """The answer to an order, when it has one; the order is forgotten then."""
        ...

    def close(self) -> None:
        """Let go of everything; safe to call again."""
        ...
