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
    "lifted",
    "mark_twins",
    "unify_logs",
    "unify_spans",
    "with_lengths",
]
