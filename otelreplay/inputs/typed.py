"""OTLP JSON decoded straight into typed structs: the fast way, for what is written as the specification says.

Anything else (another type, another spelling, an id that is none) makes it give up with ``NotPlainError``; the caller then goes
record by record with ``records``, which is slower and says what is wrong. Both give the same values where both can read.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern
from typing import Any, TypeVar

from otelreplay.inputs import records, schema
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError, hex_id, parent_id
from otelreplay.inputs.tally import Tally
from otelreplay.spans.model import Attributes, Link, LogRecord, Resource, Scope, Span, SpanEvent


class NotPlainError(Exception):
    """This text needs the careful way."""


def take_document(text: bytes, gather: Gather) -> None:
    """Everything in one document. NotPlainError leaves ``gather`` as it was."""
    scratch = Gather("", Tally(), groups_of=gather)
    try:
        _require_no_minus_zero(text)
        document = schema.decode_document(text)
        if document.resource_spans is None and document.resource_logs is None and document.resource_metrics is None:
            raise NotPlainError  # nothing known in it
        _take_spans(document.resource_spans or (), scratch)
        _take_logs(document.resource_logs or (), scratch)
        _count_metrics(document.resource_metrics or (), scratch.tally)
    except (ValueError, RefusedError, RecursionError):  # msgspec's errors are ValueErrors
        raise NotPlainError from None
    gather.take(scratch)


def take_span(text: bytes, of: Resource, by: Scope, tally: Tally) -> Span:
    """One span. NotPlainError as above."""
    scratch = Tally()
    try:
        _require_no_minus_zero(text)
        made = _span(schema.decode_span(text), of, by, scratch)
    except (ValueError, RefusedError, RecursionError):
        raise NotPlainError from None
    tally.notes.update(scratch.notes)
    return made


def take_log(text: bytes, of: Resource, by: Scope, tally: Tally) -> LogRecord:
    """One log record. NotPlainError as above."""
    scratch = Tally()
    try:
        _require_no_minus_zero(text)
        made = _log(schema.decode_log(text), of, by, scratch)
    except (ValueError, RefusedError, RecursionError):
        raise NotPlainError from None
    tally.notes.update(scratch.notes)
    return made


def _require_no_minus_zero(text: bytes) -> None:
    """The double -0 written without a point would lose its sign here."""
    if b":-0}" in text or b": -0}" in text or b": -0\n" in text:
        raise NotPlainError


def _take_spans(groups: Iterable[schema.ResourceSpans], gather: Gather) -> None:
    tally = gather.tally
    for group in groups:
        of = gather.resource(_resource(group.resource, tally))
        for scoped in _present(group.scope_spans):
            by = gather.scope(_scope(scoped.scope, scoped.schema_url or group.schema_url or "", tally))
            gather.spans.extend([_span(each, of, by, tally) for each in _present(scoped.spans)])


def _take_logs(groups: Iterable[schema.ResourceLogs], gather: Gather) -> None:
    tally = gather.tally
    for group in groups:
        of = gather.resource(_resource(group.resource, tally))
        for scoped in _present(group.scope_logs):
            by = gather.scope(_scope(scoped.scope, scoped.schema_url or group.schema_url or "", tally))
            gather.logs.extend([_log(each, of, by, tally) for each in _present(scoped.log_records)])


def _count_metrics(groups: Iterable[schema.ResourceMetrics], tally: Tally) -> None:
    count = sum(len(scoped.metrics or ()) for group in groups for scoped in group.scope_metrics or ())
    if count:
        tally.note("metrics_skipped", count)


_Item = TypeVar("_Item")


def _present(found: list[_Item] | None) -> list[_Item]:
    """A list that the specification demands; without it the object may be spelt otherwise."""
    if found is None:
        raise NotPlainError
    return found


def _resource(found: schema.Resource | None, tally: Tally) -> Resource:
    if found is None:
        return Resource()
    return Resource(_attributes(found.attributes, tally), found.dropped_attributes_count or 0)


def _scope(found: schema.Scope | None, schema_url: str, tally: Tally) -> Scope:
    if found is None:
        return Scope(schema_url=schema_url)
    return Scope(found.name or "", found.version or "", _attributes(found.attributes, tally), schema_url)


def _attributes(pairs: list[schema.Pair] | None, tally: Tally, depth: int = records.MAX_DEPTH) -> Attributes:
    if not pairs:
        return {}
    found: Attributes = {}
    for pair in pairs:
        value = pair.value
        if value is None:
            found[intern(pair.key)] = None
        else:
            text = value.string_value
            found[intern(pair.key)] = text if text is not None else _value(value, tally, depth)
    if len(found) != len(pairs):
        tally.note("duplicate_attribute_keys", len(pairs) - len(found))
    return found


def _value(value: schema.Any, tally: Tally, depth: int) -> Any:
    if not depth:
        raise NotPlainError
    if value.string_value is not None:
        return value.string_value
    if value.bool_value is not None:
        return value.bool_value
    if value.int_value is not None:
        return records.integer(value.int_value, "an int_value", low=-(2**63), high=2**63 - 1)
    if value.double_value is not None:
        return records.double(value.double_value)
    if value.array_value is not None:
        return [_value(each, tally, depth - 1) for each in value.array_value.values or ()]
    if value.kvlist_value is not None:
        return _attributes(value.kvlist_value.values, tally, depth - 1)
    return None if value.bytes_value is None else records.unbase64(value.bytes_value)


def _span(found: schema.Span, of: Resource, by: Scope, tally: Tally) -> Span:
    status = found.status
    return Span(
        hex_id(found.trace_id, 32, "trace id"),
        hex_id(found.span_id, 16, "span id"),
        parent_id(found.parent_span_id),
        found.trace_state or "",
        found.flags or 0,
        found.name or "",
        found.kind or 0,
        records.integer(found.start_time_unix_nano, "the start time"),
        records.integer(found.end_time_unix_nano, "the end time"),
        _attributes(found.attributes, tally),
        tuple([_event(each, tally) for each in found.events]) if found.events else (),
        tuple([_link(each, tally) for each in found.links]) if found.links else (),
        (status.code or 0) if status is not None else 0,
        (status.message or "") if status is not None else "",
        found.dropped_attributes_count or 0,
        found.dropped_events_count or 0,
        found.dropped_links_count or 0,
        of,
        by,
    )


def _event(found: schema.Event, tally: Tally) -> SpanEvent:
    time = records.integer(found.time_unix_nano, "an event's time")
    return SpanEvent(found.name or "", time, _attributes(found.attributes, tally), found.dropped_attributes_count or 0)


def _link(found: schema.Link, tally: Tally) -> Link:
    return Link(
        hex_id(found.trace_id, 32, "trace id"),
        hex_id(found.span_id, 16, "span id"),
        found.trace_state or "",
        _attributes(found.attributes, tally),
        found.dropped_attributes_count or 0,
        found.flags or 0,
    )


def _log(found: schema.Log, of: Resource, by: Scope, tally: Tally) -> LogRecord:
    if found.time_unix_nano is None and found.observed_time_unix_nano is None:
        raise NotPlainError  # without any field that a record must have, it may be spelt otherwise
    trace_id, span_id = records.log_ids(found.trace_id, found.span_id, tally)
    return LogRecord(
        trace_id,
        span_id,
        records.integer(found.time_unix_nano, "the time"),
        records.integer(found.observed_time_unix_nano, "the observed time"),
        found.severity_number or 0,
        found.severity_text or "",
        found.event_name or "",
        _value(found.body, tally, records.MAX_DEPTH) if found.body is not None else None,
        _attributes(found.attributes, tally),
        found.dropped_attributes_count or 0,
        found.flags or 0,
        of,
        by,
    )
