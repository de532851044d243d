"""Spans and log records as values."""

from otelreplay.spans.carried import carrying, lifted
from otelreplay.spans.identity import Identified, mark_twins, unify_logs, unify_spans, with_lengths
from otelreplay.spans.model import (
    Attributes,
    Batch,
    Link,
    LogRecord,
    Rejected,
    Removal,
    Resource,
    Scope,
    Span,
    SpanEvent,
)
from otelreplay.spans.sessions import event_of, placed_in_session

__all__ = [
    "Attributes",
    "Batch",
    "Identified",
    "Link",
    "LogRecord",
    "Rejected",
    "Removal",
    "Resource",
    "Scope",
    "Span",
    "SpanEvent",
    "carrying",
    "event_of",
    "lifted",
    "mark_twins",
    "placed_in_session",
    "unify_logs",
    "unify_spans",
    "with_lengths",
]
