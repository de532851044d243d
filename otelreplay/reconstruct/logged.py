"""Boundaries of agents that report by log records alone: each gets a span made from its records."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from otelreplay.dialects import LOG_DIALECTS, LogDialect, SpanView
from otelreplay.spans import Identified, LogRecord, Span


def told_by_logs(records: Sequence[LogRecord], spans: Sequence[Identified]) -> tuple[list[SpanView], list[LogRecord]]:
    """(a view for each boundary that only records tell of, the records that are left)."""
    views: list[SpanView] = []
    left = list(records)
    for dialect in LOG_DIALECTS:
        own = [record for record in left if record.trace_id and dialect.is_of(record)]
        if not own or any(dialect.keeps_spans(i.span) for i in spans):
            continue
        found = _views(own, dialect)
        taken = {id(record) for view in found for record in view.logs}
        left = [record for record in left if id(record) not in taken]
        views += found
    return views, left


def _views(records: Sequence[LogRecord], dialect: LogDialect) -> list[SpanView]:
    by_trace: dict[str, list[LogRecord]] = {}
    for record in records:
        by_trace.setdefault(record.trace_id, []).append(record)
    views = []
    for trace_id, own in by_trace.items():
        for told in dialect.boundaries(own):
            first = told.logs[0]
            span = Span(
                trace_id=trace_id,
                span_id=_id(told.key),
                parent_span_id=_id(told.around) if told.around else "",
                start=told.start,
                end=told.end,
                resource=first.resource,
                scope=first.scope,
            )
            views.append(SpanView(span=span, logs=told.logs, told=told.kind))
    return views


def _id(key: str) -> str:
    return hashlib.sha256(f"log\0{key}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
