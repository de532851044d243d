"""Spans of the SDK → spans of the wire model.

What a program hands to the SDK is not always what OTLP can say; here it is made so that it can, visibly and without raising.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext, SpanKind

from otelreplay.spans.model import Attributes, Link, Resource, Scope, Span, SpanEvent

_KINDS: Final = {
    SpanKind.INTERNAL: 1,
    SpanKind.SERVER: 2,
    SpanKind.CLIENT: 3,
    SpanKind.PRODUCER: 4,
    SpanKind.CONSUMER: 5,
}
_PARENT_KNOWN, _PARENT_REMOTE = 0x100, 0x200
_INT64 = range(-(1 << 63), 1 << 63)
_PLAIN = (str, bool, float, bytes, type(None))


class Reader:
    """Reads the spans of one provider; resources and scopes become one object each."""

    def __init__(self) -> None:
        self._shared: dict[int, tuple[Any, Resource | Scope]] = {}

    def span(self, given: ReadableSpan) -> Span:
        """The span as it is now; one that has not ended has end 0."""
        context, parent, status = given.get_span_context(), given.parent, given.status
        assert context is not None, "the SDK gives every span a context"
        return Span(
            trace_id=f"{context.trace_id:032x}",
            span_id=f"{context.span_id:016x}",
            parent_span_id=f"{parent.span_id:016x}" if parent is not None else "",
            trace_state=context.trace_state.to_header() if context.trace_state else "",
            flags=_flags(context, parent),
            name=text(given.name),
            kind=_KINDS.get(given.kind, 0),
            start=given.start_time or 0,
            end=given.end_time or 0,
            attributes=attributes(given.attributes),
            events=tuple([SpanEvent(text(e.name), e.timestamp, attributes(e.attributes), _dropped(e)) for e in given.events]),
            links=tuple([_link(each.context, each) for each in given.links]),
            status_code=status.status_code.value,
            status_message=text(status.description or ""),
            dropped_attributes_count=given.dropped_attributes,
            dropped_events_count=given.dropped_events,
            dropped_links_count=given.dropped_links,
            resource=self._resource(given.resource),
            scope=self._scope(given.instrumentation_scope),
        )

    def _resource(self, given: Any) -> Resource:
        held = self._shared.get(id(given))
        if held is None or held[0] is not given:
            held = self._shared[id(given)] = given, Resource(attributes(given.attributes))
        found = held[1]
        assert isinstance(found, Resource), "what is shared is kept with what it was made of"
        return found

    def _scope(self, given: Any) -> Scope:
        if given is None:
            return Scope()
        held = self._shared.get(id(given))
        if held is None or held[0] is not given:
            made = Scope(
                text(given.name or ""), text(given.version or ""), attributes(given.attributes), given.schema_url or ""
            )
            held = self._shared[id(given)] = given, made
        found = held[1]
        assert isinstance(found, Scope), "what is shared is kept with what it was made of"
        return found


def _flags(context: SpanContext, parent: SpanContext | None) -> int:
    """The W3C flags of the span, and whether its parent is in another process (trace.proto, SpanFlags)."""
    remote = _PARENT_REMOTE if parent is not None and parent.is_remote else 0
    return int(context.trace_flags) & 0xFF | _PARENT_KNOWN | remote


def _link(context: SpanContext, given: Any) -> Link:
    state = context.trace_state.to_header() if context.trace_state else ""
    return Link(
        f"{context.trace_id:032x}", f"{context.span_id:016x}", state, attributes(given.attributes), _dropped(given),
        int(context.trace_flags) & 0xFF,
    )  # fmt: skip


def _dropped(given: Any) -> int:
    return getattr(given, "dropped_attributes", 0) or 0


def attributes(given: Mapping[str, Any] | None) -> Attributes:
    """Attributes as values of the wire model."""
    if not given:
        return {}
    return {text(k): v if type(v) is float or type(v) is bool else value(v) for k, v in given.items()}


def value(given: Any) -> Any:
    """One attribute value. An integer beyond 64 bits becomes its decimal text; what OTLP knows nothing of, its ``str``."""
    if isinstance(given, str):
        return text(given)
    if isinstance(given, _PLAIN):
        return given
    if isinstance(given, int):
        return int(given) if given in _INT64 else str(given)
    if isinstance(given, Mapping):
        return {text(str(k)): value(v) for k, v in given.items()}
    if isinstance(given, Sequence):
        return [value(each) for each in given]
    return text(str(given))


def text(given: str) -> str:
    """A string that UTF-8 can say: lone surrogates become U+FFFD, which is visible."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return given.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return given
