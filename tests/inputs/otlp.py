"""Spans and logs of every shape, and independent writers for each form: protobuf by the published classes, JSON by hand."""

import base64
import functools
import io
import json
import math

from google.protobuf.internal import encoder
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from otelreplay.inputs import Tally, read_batches
from otelreplay.spans.model import Batch, Link, LogRecord, Resource, Scope, Span, SpanEvent

varint = encoder._VarintBytes  # type: ignore[attr-defined]
TRACE, OTHER = "0af7651916cd43dd8448eb211c80319c", "0af7651916cd43dd8448eb211c8031aa"


def read(data, *, tally=None, **options):
    """Everything in ``data`` as one batch."""
    return joined(read_batches(io.BytesIO(data), name="trace", tally=tally or Tally(), **options))


def joined(batches):
    """Several batches as one."""
    parts = list(batches)
    return Batch(
        tuple(span for part in parts for span in part.spans),
        tuple(log for part in parts for log in part.logs),
        tuple(each for part in parts for each in part.rejected),
        sum(part.unlisted for part in parts),
        frozenset(trace for part in parts for trace in part.unlisted_traces),
    )


def same(value):
    """A form of a value in which what ``==`` takes for equal differs (1 and True, 0.0 and -0.0), and NaN equals itself."""
    match value:
        case dict():
            return ("dict", tuple((key, same(each)) for key, each in value.items()))
        case list() | tuple():
            return (type(value).__name__, tuple(same(each) for each in value))
        case float():
            return ("float", "nan" if math.isnan(value) else repr(value))
        case Span() | LogRecord() | SpanEvent() | Link() | Resource() | Scope() | Batch():
            return (type(value).__name__, *(same(getattr(value, name)) for name in value.__struct_fields__))
        case _:
            return (type(value).__name__, value)


# Strategies


@functools.cache
def text(**options):
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=12, **options)


@functools.cache
def values():
    leaves = st.none() | text() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.binary(max_size=6)
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text(), inner, max_size=3), max_leaves=6
    )


@functools.cache
def attributes():
    return st.dictionaries(text(), values(), max_size=4)


@functools.cache
def ids(width):
    return st.integers(1, 16**width - 1).map(lambda number: f"{number:0{width}x}")


@functools.cache
def times():
    return st.just(0) | st.integers(1, 2**64 - 1)


@functools.cache
def counts():
    return st.just(0) | st.integers(1, 2**32 - 1)


@functools.cache
def resources():
    return st.builds(Resource, attributes(), counts())


@functools.cache
def scopes():
    return st.builds(Scope, text(), text(), attributes(), text())


@functools.cache
def spans():
    return st.builds(
        Span,
        ids(32),
        ids(16),
        st.just("") | ids(16),
        text(),
        counts(),
        text(),
        st.integers(0, 5),
        times(),
        times(),
        attributes(),
        st.lists(st.builds(SpanEvent, text(), times(), attributes(), counts()), max_size=2).map(tuple),
        st.lists(st.builds(Link, ids(32), ids(16), text(), attributes(), counts(), counts()), max_size=2).map(tuple),
        st.integers(0, 2),
        text(),
        counts(),
        counts(),
        counts(),
        resources(),
        scopes(),
    )


@functools.cache
def logs():
    placed = st.tuples(ids(32), ids(16)) | st.tuples(ids(32), st.just("")) | st.just(("", ""))
    return st.builds(
        lambda pair, *rest: LogRecord(*pair, *rest),
        placed,
        times(),
        st.integers(1, 2**64 - 1),  # what makes a record of nothing but times and text a log record on the wire
        st.integers(0, 24),
        text(),
        text(),
        values(),
        attributes(),
        counts(),
        counts(),
        resources(),
        scopes(),
    )


# JSON, by hand


def json_value(value):
    match value:
        case None:
            return {}
        case bool():
            return {"boolValue": value}
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            special = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return {"doubleValue": value if math.isfinite(value) else special}
        case bytes():
            return {"bytesValue": base64.b64encode(value).decode()}
        case dict():
            return {"kvlistValue": {"values": json_attributes(value)}}
        case _:
            return {"arrayValue": {"values": [json_value(each) for each in value]}}


def json_attributes(found):
    return [{"key": key, "value": json_value(value)} for key, value in found.items()]


def json_span(span):
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_span_id,
        "traceState": span.trace_state,
        "flags": span.flags,
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": json_attributes(span.attributes),
        "droppedAttributesCount": span.dropped_attributes_count,
        "events": [
            {
                "name": event.name,
                "timeUnixNano": str(event.time),
                "attributes": json_attributes(event.attributes),
                "droppedAttributesCount": event.dropped_attributes_count,
            }
            for event in span.events
        ],
        "droppedEventsCount": span.dropped_events_count,
        "links": [
            {
                "traceId": link.trace_id,
                "spanId": link.span_id,
                "traceState": link.trace_state,
                "attributes": json_attributes(link.attributes),
                "droppedAttributesCount": link.dropped_attributes_count,
                "flags": link.flags,
            }
            for link in span.links
        ],
        "droppedLinksCount": span.dropped_links_count,
        "status": {"code": span.status_code, "message": span.status_message},
    }


def json_log(log):
    return {
        "traceId": log.trace_id,
        "spanId": log.span_id,
        "timeUnixNano": str(log.time),
        "observedTimeUnixNano": str(log.observed_time),
        "severityNumber": log.severity_number,
        "severityText": log.severity_text,
        "eventName": log.event_name,
        "body": json_value(log.body),
        "attributes": json_attributes(log.attributes),
        "droppedAttributesCount": log.dropped_attributes_count,
        "flags": log.flags,
    }


def json_group(record):
    resource = {
        "attributes": json_attributes(record.resource.attributes),
        "droppedAttributesCount": record.resource.dropped_attributes_count,
    }
    scope = {
        "name": record.scope.name,
        "version": record.scope.version,
        "attributes": json_attributes(record.scope.attributes),
    }
    if isinstance(record, Span):
        inner = {"scope": scope, "spans": [json_span(record)], "schemaUrl": record.scope.schema_url}
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [inner]}]}
    inner = {"scope": scope, "logRecords": [json_log(record)], "schemaUrl": record.scope.schema_url}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [inner]}]}


def document(spans=(), logs=(), **extra):
    """One OTLP JSON object with an element a record."""
    made = {}
    for record in (*spans, *logs):
        for key, elements in json_group(record).items():
            made.setdefault(key, []).extend(elements)
    return {**made, **extra}


def plain_spans(*objects, **extra):
    """A document whose spans are these JSON objects, in one group."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(objects)}]}], **extra}


def minimal(number=1, **fields):
    """The smallest valid span object."""
    return {"traceId": TRACE, "spanId": f"{number:016x}", **fields}


def dump(value, **options):
    return json.dumps(value, **options).encode("utf-8", "surrogatepass")


# Protobuf, by the published classes


def pb_value(value):
    match value:
        case None:
            return AnyValue()
        case bool():
            return AnyValue(bool_value=value)
        case str():
            return AnyValue(string_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case bytes():
            return AnyValue(bytes_value=value)
        case dict():
            made = AnyValue()
            made.kvlist_value.SetInParent()
            made.kvlist_value.values.extend(pb_attributes(value))
            return made
        case _:
            made = AnyValue()
            made.array_value.SetInParent()
            made.array_value.values.extend(pb_value(each) for each in value)
            return made


def pb_attributes(found):
    return [KeyValue(key=key, value=pb_value(value)) for key, value in found.items()]


def pb_span(span):
    made = trace_pb2.Span(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_span_id),
        trace_state=span.trace_state,
        flags=span.flags,
        name=span.name,
        kind=span.kind,
        start_time_unix_nano=span.start,
        end_time_unix_nano=span.end,
        attributes=pb_attributes(span.attributes),
        dropped_attributes_count=span.dropped_attributes_count,
        dropped_events_count=span.dropped_events_count,
        dropped_links_count=span.dropped_links_count,
        status=trace_pb2.Status(code=span.status_code, message=span.status_message),
    )
    for event in span.events:
        made.events.add(
            name=event.name,
            time_unix_nano=event.time,
            attributes=pb_attributes(event.attributes),
            dropped_attributes_count=event.dropped_attributes_count,
        )
    for link in span.links:
        made.links.add(
            trace_id=bytes.fromhex(link.trace_id),
            span_id=bytes.fromhex(link.span_id),
            trace_state=link.trace_state,
            attributes=pb_attributes(link.attributes),
            dropped_attributes_count=link.dropped_attributes_count,
            flags=link.flags,
        )
    return made


def pb_log(log):
    return logs_pb2.LogRecord(
        trace_id=bytes.fromhex(log.trace_id),
        span_id=bytes.fromhex(log.span_id),
        time_unix_nano=log.time,
        observed_time_unix_nano=log.observed_time,
        severity_number=log.severity_number,
        severity_text=log.severity_text,
        event_name=log.event_name,
        body=pb_value(log.body),
        attributes=pb_attributes(log.attributes),
        dropped_attributes_count=log.dropped_attributes_count,
        flags=log.flags,
    )


def pb_element(record):
    """One ResourceSpans or ResourceLogs with one record."""
    traces = isinstance(record, Span)
    made = trace_pb2.ResourceSpans() if traces else logs_pb2.ResourceLogs()
    made.resource.attributes.extend(pb_attributes(record.resource.attributes))
    made.resource.dropped_attributes_count = record.resource.dropped_attributes_count
    made.resource.SetInParent()
    scoped = made.scope_spans.add() if traces else made.scope_logs.add()
    scoped.schema_url = record.scope.schema_url
    scoped.scope.CopyFrom(
        InstrumentationScope(
            name=record.scope.name, version=record.scope.version, attributes=pb_attributes(record.scope.attributes)
        )
    )
    (scoped.spans if traces else scoped.log_records).append(pb_span(record) if traces else pb_log(record))
    return made


def traces_data(spans):
    return trace_pb2.TracesData(resource_spans=[pb_element(span) for span in spans]).SerializeToString()


def logs_data(logs):
    return logs_pb2.LogsData(resource_logs=[pb_element(log) for log in logs]).SerializeToString()


def metrics_data(*names):
    made = metrics_pb2.MetricsData()
    scoped = made.resource_metrics.add().scope_metrics.add()
    scoped.scope.name = "meter"
    for name in names:
        metric = scoped.metrics.add(name=name, description="requests", unit="1")
        metric.gauge.data_points.add(as_int=1, time_unix_nano=1)
    return made.SerializeToString()


def fixed(*messages):
    """As the Collector's file exporter writes protobuf."""
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


def varints(*messages):
    """As the protobuf libraries write delimited messages."""
    return b"".join(varint(len(message)) + message for message in messages)
