"""Spans of the wire model → the bytes of OTLP export requests, the reverse of ``inputs.protobuf``.

A frame is a whole ExportTraceServiceRequest. Requests concatenate: the bytes of two, one after the other, are one request that
holds the resource spans of both (protobuf encoding guide, repeated fields). So frames are stored as they are made and sent
joined, and nothing is decoded in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from otelreplay.spans.model import Attributes, Resource, Scope, Span

_LARGEST = 1 << 20
"""Bytes at which a frame is closed; a single span may be larger."""


class Frame(NamedTuple):
    """Some spans, ready to be sent."""

    spans: int
    data: bytes


def frames(spans: Iterable[Span], largest: int = _LARGEST) -> Iterator[Frame]:
    """All spans, in order, in as few requests as the size allows."""
    group: list[tuple[Span, Any]] = []
    size = 0
    for span in spans:
        message = _span(span)
        bytes_of_it = message.ByteSize()
        if group and size + bytes_of_it > largest:
            yield _frame(group)
            group, size = [], 0
        group.append((span, message))
        size += bytes_of_it
    if group:
        yield _frame(group)


def split(frame: Frame) -> list[Frame]:
    """A request of several spans as one request a span."""
    found = []
    for resource_spans in ExportTraceServiceRequest.FromString(frame.data).resource_spans:
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                alone = ExportTraceServiceRequest()
                of = alone.resource_spans.add(schema_url=resource_spans.schema_url, resource=resource_spans.resource)
                by = of.scope_spans.add(schema_url=scope_spans.schema_url, scope=scope_spans.scope)
                by.spans.append(span)
                found.append(Frame(1, alone.SerializeToString()))
    return found


def _frame(group: list[tuple[Span, Any]]) -> Frame:
    request = ExportTraceServiceRequest()
    places: dict[tuple[int, int], Any] = {}
    resources: dict[int, Any] = {}
    for span, message in group:
        place = places.get((id(span.resource), id(span.scope)))
        if place is None:
            of = resources.get(id(span.resource))
            if of is None:
                of = resources[id(span.resource)] = request.resource_spans.add()
                _resource(of.resource, span.resource)
            place = places[id(span.resource), id(span.scope)] = of.scope_spans.add(schema_url=span.scope.schema_url)
            _scope(place.scope, span.scope)
        place.spans.append(message)
    return Frame(len(group), request.SerializeToString())


def _resource(message: Any, resource: Resource) -> None:
    _attributes(message.attributes, resource.attributes)
    message.dropped_attributes_count = resource.dropped_attributes_count


def _scope(message: Any, scope: Scope) -> None:
    message.name, message.version = scope.name, scope.version
    _attributes(message.attributes, scope.attributes)


def _span(span: Span) -> Any:
    message = trace_pb2.Span(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        trace_state=span.trace_state,
        parent_span_id=bytes.fromhex(span.parent_span_id),
        flags=span.flags,
        name=span.name,
        kind=span.kind,  # type: ignore[arg-type]
        start_time_unix_nano=span.start,
        end_time_unix_nano=span.end,
        dropped_attributes_count=span.dropped_attributes_count,
        dropped_events_count=span.dropped_events_count,
        dropped_links_count=span.dropped_links_count,
    )
    _attributes(message.attributes, span.attributes)
    for event in span.events:
        made = message.events.add(
            name=event.name, time_unix_nano=event.time, dropped_attributes_count=event.dropped_attributes_count
        )
        _attributes(made.attributes, event.attributes)
    for link in span.links:
        pointed = message.links.add(
            trace_id=bytes.fromhex(link.trace_id), span_id=bytes.fromhex(link.span_id), trace_state=link.trace_state,
            dropped_attributes_count=link.dropped_attributes_count, flags=link.flags,
        )  # fmt: skip
        _attributes(pointed.attributes, link.attributes)
    if span.status_code or span.status_message:
        message.status.MergeFrom(trace_pb2.Status(code=span.status_code, message=span.status_message))  # type: ignore[arg-type]
    return message


def _attributes(pairs: Any, attributes: Attributes) -> None:
    for key, value in attributes.items():
        pair = pairs.add(key=key)
        if type(value) is str:
            pair.value.string_value = value
        else:
            _value(pair.value, value)


def _value(message: common_pb2.AnyValue, value: Any) -> None:
    if value is None:
        message.SetInParent()
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, int):
        message.int_value = value
    elif isinstance(value, float):
        message.double_value = value
    elif isinstance(value, bytes):
        message.bytes_value = value
    elif isinstance(value, dict):
        message.kvlist_value.SetInParent()
        _attributes(message.kvlist_value.values, value)
    else:
        message.array_value.SetInParent()
        for each in value:
            _value(message.array_value.values.add(), each)
