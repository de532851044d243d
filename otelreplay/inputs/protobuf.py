"""OTLP protobuf messages → spans and log records.

The unit is an *element*: the bytes of one ResourceSpans, ResourceLogs or ResourceMetrics. The three envelopes look alike on
the wire, so the signal is told by the records inside (``kind_of_element``). The fast way lets the protobuf library decode the
element whole; when it refuses, or when an id in it is not one, ``careful`` goes record by record, so that one bad record
costs no other.
"""

from __future__ import annotations

from sys import intern
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from otelreplay.inputs import careful, records
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError, bytes_id
from otelreplay.inputs.signals import Signal, count_records, signal_of
from otelreplay.inputs.tally import Tally
from otelreplay.spans.model import Attributes, Link, LogRecord, Resource, Scope, Span, SpanEvent

_NO_TRACE, _NO_SPAN = bytes(16), bytes(8)


def take_element(data: bytes, where: str, gather: Gather, *, signal: Signal | None = None) -> None:
    """Decode one element into ``gather``. ``where`` says where it stands, for what has to be refused.

    ``signal``: what it carries, where that is known otherwise.
    """
    signal = signal or signal_of(data)
    if signal == "metrics":
        gather.tally.note("metrics_skipped", count_records(data))
        return
    try:
        if signal == "traces":
            _spans(trace_pb2.ResourceSpans.FromString(data), where, gather)
        else:
            _logs(logs_pb2.ResourceLogs.FromString(data), gather)
    except DecodeError:
        careful.take_element(data, signal, where, gather)


def _spans(group: Any, where: str, gather: Gather) -> None:
    """Every span of a ResourceSpans. An id that is none: that span is refused, the others are kept."""
    tally = gather.tally
    of = gather.resource(_resource(group.resource, tally)) if group.HasField("resource") else Resource()
    for j, scoped in enumerate(group.scope_spans):
        by = gather.scope(_scope(scoped.scope, scoped.schema_url or group.schema_url, tally))
        for k, message in enumerate(scoped.spans):
            try:
                gather.spans.append(_span(message, of, by, tally))
            except RefusedError as refused:
                ids = records.ids_of({"traceId": message.trace_id.hex(), "spanId": message.span_id.hex()})
                gather.refuse(f"{where}, scope {j}, span {k}", str(refused), ids)


def _logs(group: Any, gather: Gather) -> None:
    tally = gather.tally
    of = gather.resource(_resource(group.resource, tally)) if group.HasField("resource") else Resource()
    for scoped in group.scope_logs:
        by = gather.scope(_scope(scoped.scope, scoped.schema_url or group.schema_url, tally))
        gather.logs.extend([_log(message, of, by, tally) for message in scoped.log_records])


def _resource(message: Any, tally: Tally) -> Resource:
    return Resource(_attributes(message.attributes, tally), message.dropped_attributes_count)


def _scope(message: Any, schema_url: str, tally: Tally) -> Scope:
    return Scope(message.name, message.version, _attributes(message.attributes, tally), schema_url)


def _attributes(pairs: Any, tally: Tally) -> Attributes:
    found: Attributes = {}
    for pair in pairs:
        value = pair.value
        # A string is by far the most frequent; asking for it first costs half of asking what is set.
        text = value.string_value
        if text:
            found[intern(pair.key)] = text
        elif (kind := value.WhichOneof("value")) in _PLAIN:
            found[intern(pair.key)] = getattr(value, kind)
        else:
            found[intern(pair.key)] = _value(value, tally)
    if len(found) != len(pairs):
        tally.note("duplicate_attribute_keys", len(pairs) - len(found))
    return found


_PLAIN = frozenset({"string_value", "int_value", "double_value", "bool_value", "bytes_value"})


def _value(value: Any, tally: Tally) -> Any:
    kind = value.WhichOneof("value")
    if kind in _PLAIN:
        return getattr(value, kind)
    if kind == "array_value":
        return [each.string_value or _value(each, tally) for each in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values, tally)
    if kind is not None:
        tally.note("profiling_strings")
    return None


def _span(message: Any, of: Resource, by: Scope, tally: Tally) -> Span:
    trace_id, span_id, parent = message.trace_id, message.span_id, message.parent_span_id
    if len(trace_id) != 16 or trace_id == _NO_TRACE:
        bytes_id(trace_id, 16, "trace id")
    if len(span_id) != 8 or span_id == _NO_SPAN:
        bytes_id(span_id, 8, "span id")
    if parent and (len(parent) != 8 or parent == _NO_SPAN):
        parent = bytes.fromhex(bytes_id(parent, 8, "parent span id")) if parent.strip(b"\0") else b""
    events, links, status = message.events, message.links, message.status
    return Span(
        trace_id.hex(),
        span_id.hex(),
        parent.hex(),
        message.trace_state,
        message.flags,
        message.name,
        message.kind,
        message.start_time_unix_nano,
        message.end_time_unix_nano,
        _attributes(message.attributes, tally),
        tuple([_event(each, tally) for each in events]) if events else (),
        tuple([found for each in links if (found := _link(each, tally))]) if links else (),
        status.code,
        status.message,
        message.dropped_attributes_count,
        message.dropped_events_count,
        message.dropped_links_count,
        of,
        by,
    )


def _event(message: Any, tally: Tally) -> SpanEvent:
    return SpanEvent(
        message.name, message.time_unix_nano, _attributes(message.attributes, tally), message.dropped_attributes_count
    )


def _link(message: Any, tally: Tally) -> Link | None:
    try:
        trace_id, span_id = bytes_id(message.trace_id, 16, "trace id"), bytes_id(message.span_id, 8, "span id")
    except RefusedError:
        tally.note("invalid_links")
        return None
    found = _attributes(message.attributes, tally)
    return Link(trace_id, span_id, message.trace_state, found, message.dropped_attributes_count, message.flags)


def _log(message: Any, of: Resource, by: Scope, tally: Tally) -> LogRecord:
    trace_id, span_id = records.log_ids(message.trace_id.hex(), message.span_id.hex(), tally)
    return LogRecord(
        trace_id,
        span_id,
        message.time_unix_nano,
        message.observed_time_unix_nano,
        message.severity_number,
        message.severity_text,
        message.event_name,
        _value(message.body, tally),
        _attributes(message.attributes, tally),
        message.dropped_attributes_count,
        message.flags,
        of,
        by,
    )
