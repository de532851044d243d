"""A span as an object of plain JSON, in the names that SDKs and tracing backends give its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otelreplay.inputs import loose, records
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.reading import Reading
from otelreplay.inputs.source import Source
from otelreplay.inputs.tally import Tally
from otelreplay.inputs.walking import Item, Walk
from otelreplay.spans.model import Batch, Link, LogRecord, Span, SpanEvent

_CONTEXT = ("context", "spanContext", "span_context")
_TRACE, _SPAN = ("trace_id", "traceId", "context.trace_id"), ("span_id", "spanId", "context.span_id")
_PARENT = ("parent_id", "parent_span_id", "parentSpanId", "parentId", "parent")
_PARENT_CONTEXT = ("parentSpanContext", "parent_span_context", "parent")
_START = ("start_time", "startTime", "start_time_unix_nano", "startTimeUnixNano", "start")
_END = ("end_time", "endTime", "end_time_unix_nano", "endTimeUnixNano", "end")
_EVENTS, _TIME = ("events", "span_events"), ("timestamp", "time", "time_unix_nano", "timeUnixNano")
_SCOPE = ("scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary", "instrumentation_info")


def first(value: Any, names: tuple[str, ...]) -> Any:
    """The first of these members that is there and not null."""
    if isinstance(value, dict):
        for name in names:
            if (found := value.get(name)) is not None:
                return found
    return None


def ids(value: Any) -> tuple[Any, Any]:
    """Trace id and span id as they are written."""
    context = first(value, _CONTEXT)
    trace_id, span_id = first(value, _TRACE), first(value, _SPAN)
    return (
        first(context, _TRACE) if trace_id is None else trace_id,
        first(context, _SPAN) if span_id is None else span_id,
    )


def span(value: Any, gather: Gather) -> Span:
    """The span. RefusedError, with the reason, when it is none."""
    if not isinstance(value, dict):
        raise RefusedError("it is not an object")
    tally = gather.tally
    trace_id, span_id = ids(value)
    above = first(value, _PARENT)
    if isinstance(above, dict) or above is None:
        above = first(first(value, _PARENT_CONTEXT), _SPAN)
    code, message = loose.status(value.get("status", value.get("status_code", value.get("statusCode"))))
    context = first(value, _CONTEXT)
    return Span(
        trace_id=loose.any_id(trace_id, 32, "trace id"),
        span_id=loose.any_id(span_id, 16, "span id"),
        parent_span_id=loose.parent_id(above),
        trace_state=_trace_state(first(value, ("trace_state", "traceState")) or first(context, ("trace_state", "traceState"))),
        name=records.text(first(value, ("name", "span_name", "spanName")), "a name"),
        kind=loose.kind(value.get("kind"), first=1 if "spanContext" in value else 0),
        start=loose.moment(first(value, _START), "the start time"),
        end=loose.moment(first(value, _END), "the end time"),
        attributes=loose.attributes(value.get("attributes"), tally),
        events=tuple(_event(each, tally) for each in _listed(first(value, _EVENTS), "the events")),
        links=tuple(filter(None, (_link(each, tally) for each in _listed(value.get("links"), "the links")))),
        status_code=code,
        status_message=message or _text(first(value, ("status_message", "statusMessage"))),
        dropped_attributes_count=_dropped(value, "attributes"),
        dropped_events_count=_dropped(value, "events"),
        dropped_links_count=_dropped(value, "links"),
        resource=gather.resource(loose.resource(value.get("resource"), tally)),
        scope=gather.scope(loose.scope(first(value, _SCOPE), tally)),
    )


def log(value: dict[str, Any], gather: Gather) -> LogRecord:
    """A log record as the Python SDK prints it."""
    tally = gather.tally
    place = []
    for name, width in (("trace_id", 32), ("span_id", 16)):
        found = value.get(name)
        none = not found or (isinstance(found, str) and not found.removeprefix("0x").strip("0"))
        place.append("" if none else loose.any_id(found, width, name.replace("_", " ")))
    return LogRecord(
        trace_id=place[0],
        span_id=place[1] if place[0] else "",
        time=loose.moment(value.get("timestamp"), "the time"),
        observed_time=loose.moment(value.get("observed_timestamp"), "the observed time"),
        severity_number=_severity(value.get("severity_number"), tally),
        severity_text=_text(value.get("severity_text")),
        event_name=_text(value.get("event_name")),
        body=loose.plain(value.get("body")),
        attributes=loose.attributes(value.get("attributes"), tally),
        dropped_attributes_count=_count(value.get("dropped_attributes")),
        resource=gather.resource(loose.resource(value.get("resource"), tally)),
        scope=gather.scope(loose.scope(first(value, _SCOPE), tally)),
    )


def refuse(gather: Gather, item: Item, error: RefusedError, written: tuple[Any, Any]) -> None:
    """Note a record that was refused, under its ids as far as they are some."""
    found = []
    for value, width in zip(written, (32, 16), strict=True):
        try:
            found.append(loose.any_id(value, width, ""))
        except RefusedError:
            found.append("")
    gather.refuse(f"{item.where} (span {found[1]})" if found[1] else item.where, str(error), (found[0], found[1]))


def read_list(source: Source, reading: Reading, pattern: str, mend: Any = None) -> Iterator[Batch]:
    """Every span (and log record) at ``pattern``. ``mend``: a function that makes the object one of the usual names."""
    gather = Gather(reading.name, reading.tally)
    for item in Walk(source, reading, gather, {pattern}).items():
        if item.closed:
            continue
        try:
            value = mend(item.value) if mend is not None else item.value
            if isinstance(value, dict) and "resource_metrics" in value:
                gather.tally.note("metrics_skipped")
            elif isinstance(value, dict) and "severity_number" in value and "body" in value:
                gather.logs.append(log(value, gather))
            else:
                gather.spans.append(span(value, gather))
            reading.recognise()
        except RefusedError as error:
            refuse(gather, item, error, ids(item.value))
        gather.weight += item.size
        if gather.full:
            yield gather.batch()
    yield from gather.drain()


def _event(value: Any, tally: Tally) -> SpanEvent:
    if not isinstance(value, dict):
        raise RefusedError("an event is not an object")
    name = records.text(first(value, ("name", "event_name")), "an event's name")
    dropped = _count(first(value, ("dropped_attributes_count", "droppedAttributesCount")))
    return SpanEvent(
        name, loose.moment(first(value, _TIME), "an event's time"), loose.attributes(value.get("attributes"), tally), dropped
    )


def _link(value: Any, tally: Tally) -> Link | None:
    try:
        trace_id, span_id = ids(value)
        place = loose.any_id(trace_id, 32, "trace id"), loose.any_id(span_id, 16, "span id")
    except RefusedError:
        tally.note("invalid_links")
        return None
    return Link(*place, attributes=loose.attributes(value.get("attributes"), tally))


def _listed(value: Any, what: str) -> list[Any]:
    return records.items(value, what)


def _trace_state(value: Any) -> str:
    """Text; the Python SDK prints it as ``[]`` where it is empty."""
    return value if isinstance(value, str) and value != "[]" else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dropped(value: dict[str, Any], what: str) -> int:
    names = (f"dropped_{what}_count", f"dropped{what.capitalize()}Count", f"dropped_{what}")
    return _count(first(value, names))


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**32 else 0


def _severity(value: Any, tally: Tally) -> int:
    if isinstance(value, str):
        value = value.removeprefix("SeverityNumber.")
    return records.enum(value, records.SEVERITIES, "SEVERITY_NUMBER_", tally)
