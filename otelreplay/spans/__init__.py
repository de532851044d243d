"""Spans and log records as values."""

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

__all__ = ["Attributes", "Batch", "Link", "LogRecord", "Rejected", "Removal", "Resource", "Scope", "Span", "SpanEvent"]
