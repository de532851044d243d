"""The wire model: OTLP spans and log records as plain values, whatever file or protocol they came from.

Source: opentelemetry-proto v1 (trace.proto, logs.proto, common.proto). Ids are lower-case hex text, times are integer
nanoseconds since the epoch (0 = not given), attribute values are Python values:

    string → str    bool → bool    int64 → int    double → float    bytes → bytes
    array → list    kvlist → dict    nothing set → None

Values are treated as immutable after construction: share them freely, never change one in place.
"""

from __future__ import annotations

from typing import Any

import msgspec

Attributes = dict[str, Any]


class Removal(msgspec.Struct, frozen=True):
    """What a policy took away whole, so that its absence is not taken for "never recorded"."""

    path: str
    """Where it was, in the walker's syntax: ``attributes.NAME``, ``events[0].attributes.NAME``, ``body``."""
    rule: str
    action: str


class Resource(msgspec.Struct, frozen=True):
    """Who sent it. ``attributes`` such as service.name."""

    attributes: Attributes = {}
    dropped_attributes_count: int = 0


class Scope(msgspec.Struct, frozen=True):
    """Which instrumentation made it."""

    name: str = ""
    version: str = ""
    attributes: Attributes = {}
    schema_url: str = ""


class SpanEvent(msgspec.Struct, frozen=True):
    """A time-stamped happening inside a span, such as ``exception``."""

    name: str = ""
    time: int = 0
    attributes: Attributes = {}
    dropped_attributes_count: int = 0


class Link(msgspec.Struct, frozen=True):
    """A pointer to a span, often of another trace."""

    trace_id: str = ""
    span_id: str = ""
    trace_state: str = ""
    attributes: Attributes = {}
    dropped_attributes_count: int = 0
    flags: int = 0


class Span(msgspec.Struct, frozen=True):
    """One span. ``parent_span_id`` is empty for a root; ``end`` 0 means that it never ended."""

    trace_id: str
    span_id: str
    parent_span_id: str = ""
    trace_state: str = ""
    flags: int = 0
    name: str = ""
    kind: int = 0
    start: int = 0
    end: int = 0
    attributes: Attributes = {}
    events: tuple[SpanEvent, ...] = ()
    links: tuple[Link, ...] = ()
    status_code: int = 0
    """0 unset, 1 ok, 2 error."""
    status_message: str = ""
    dropped_attributes_count: int = 0
    dropped_events_count: int = 0
    dropped_links_count: int = 0
    resource: Resource = Resource()
    scope: Scope = Scope()
    removed: tuple[Removal, ...] = ()
    lengths: dict[str, int] = {}
    """Characters that text attributes had before redaction changed them: a length limit is known by them."""

    @property
    def key(self) -> str:
        """``trace_id/span_id``: how events and reports name a span."""
        return f"{self.trace_id}/{self.span_id}"


class LogRecord(msgspec.Struct, frozen=True):
    """One log record; ``trace_id`` and ``span_id`` are empty when it belongs to no span."""

    trace_id: str = ""
    span_id: str = ""
    time: int = 0
    observed_time: int = 0
    severity_number: int = 0
    severity_text: str = ""
    event_name: str = ""
    body: Any = None
    attributes: Attributes = {}
    dropped_attributes_count: int = 0
    flags: int = 0
    resource: Resource = Resource()
    scope: Scope = Scope()
    removed: tuple[Removal, ...] = ()
    twin: int = 0
    """Number among byte-identical records of one request; see ``spans.identity``."""

    @property
    def name(self) -> str:
        """The event's name: the field of current SDKs, else the ``event.name`` attribute of those before 1.37."""
        return self.event_name or str(self.attributes.get("event.name") or "")


class Rejected(msgspec.Struct, frozen=True):
    """A span or record that was not taken in, and why."""

    where: str
    """File and position: line number for JSON Lines, byte offset for binary."""
    reason: str
    trace_id: str = ""
    """Of the span or record, if that could be read."""
    span_id: str = ""


class Batch(msgspec.Struct, frozen=True):
    """What one export request, or one line of a file, holds. Order inside has no meaning."""

    spans: tuple[Span, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    """What was refused: the first of it, where there is very much."""
    unlisted: int = 0
    """How many more were refused."""
    unlisted_traces: frozenset[str] = frozenset()
    """The traces that those belong to; "" among them: some may belong to any."""

    @property
    def refused(self) -> int:
        """How many were refused, listed or not."""
        return len(self.rejected) + self.unlisted
