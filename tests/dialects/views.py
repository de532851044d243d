"""One span, as a package writes it, read by one dialect."""

from otelreplay.dialects import SpanView
from otelreplay.spans import Scope, Span
from otelreplay.testing.dialects import check_dialect


def read(dialect, attributes, *, scope="", logs=(), limit=0, **span):
    """The reading of a span with these attributes, checked against the rules for dialects."""
    given = Span(trace_id="a" * 32, span_id="b" * 16, attributes=attributes, scope=Scope(name=scope), **{"end": 9, **span})
    return check_dialect(dialect, SpanView(span=given, logs=tuple(logs), limit=limit))


def said(messages):
    """(role, what each part says) of messages."""
    return [(m["role"], [p.get("content", p.get("response", p.get("arguments"))) for p in m["parts"]]) for m in messages]


def absent(reading):
    """Field → cause of each gap."""
    return {gap.field: gap.cause for gap in reading.gaps}
