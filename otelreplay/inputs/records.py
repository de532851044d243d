"""Plain OTLP JSON objects → spans and log records: the exact and lenient way, for whatever the fast ones refuse.

Source: the JSON mapping of the OTLP specification. Beyond it: names of enums and snake_case keys are understood (and counted),
64-bit integers may be numbers or text, null is unset, unknown fields are ignored. What cannot be what it claims to be
(an id of another shape, a time that is no integer) raises RefusedError, so that its neighbours are not lost with it.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from otelreplay.inputs.ids import RefusedError, hex_id, parent_id
from otelreplay.inputs.tally import Tally
from otelreplay.spans.model import Attributes, Link, LogRecord, Resource, Scope, Span, SpanEvent

KINDS = {name: number for number, name in enumerate(("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"))}
STATUSES = {"UNSET": 0, "OK": 1, "ERROR": 2}
SEVERITIES = {
    f"{name}{step or ''}": first + max(step - 1, 0)
    for first, name in zip(range(1, 25, 4), ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"), strict=True)
    for step in (0, 2, 3, 4)
} | {"UNSPECIFIED": 0}
MAX_DEPTH = 100
"""Levels of arrays and maps in one value. SDKs stop at 64."""

_SNAKE = re.compile("_([a-z])")
_DECIMAL = re.compile(r"-?[0-9]{1,400}")


def fields(value: Any, what: str, tally: Tally) -> dict[str, Any]:
    """An object with lowerCamelCase keys and no null in it; {} for null."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RefusedError(f"{what} is not an object")
    if any("_" in key for key in value):
        tally.note("snake_case")
        value = {camel(key): item for key, item in value.items()}
    return {key: item for key, item in value.items() if item is not None}


def camel(key: str) -> str:
    """``trace_id`` → ``traceId``; a name that is so already stays."""
    return _SNAKE.sub(lambda found: found[1].upper(), key)


def items(value: Any, what: str) -> list[Any]:
    """A list; [] for null."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise RefusedError(f"{what} is not a list")
    return value


def text(value: Any, what: str) -> str:
    """A string; "" for null."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RefusedError(f"{what} is not text")
    return value


def integer(value: Any, what: str, *, low: int = 0, high: int = 2**64 - 1) -> int:
    """An integer written as a number or as decimal text, within its type's range; 0 for null."""
    if type(value) is int and low <= value <= high:  # nearly always
        return value
    if value is None:
        return 0
    if (isinstance(value, str) and _DECIMAL.fullmatch(value)) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RefusedError(f"{what} is not an integer")
    if not low <= value <= high:
        raise RefusedError(f"{what} is out of range")
    return value


def enum(value: Any, names: dict[str, int], prefix: str, tally: Tally) -> int:
    """An enum as a number; names (with or without prefix) are understood, an unknown name is 0."""
    if isinstance(value, str) and not _DECIMAL.fullmatch(value):
        number = names.get(value.removeprefix(prefix))
        tally.note("unknown_enum_names" if number is None else "enum_names")
        return number or 0
    return integer(value, prefix.lower().rstrip("_").replace("_", " "), low=-(2**31), high=2**31 - 1)


def attributes(value: Any, tally: Tally, depth: int = MAX_DEPTH) -> Attributes:
    """A list of KeyValue as a dict; of two with one key the last is kept, and counted."""
    found: Attributes = {}
    pairs = items(value, "an attribute list")
    for pair in pairs:
        known = fields(pair, "an attribute", tally)
        if "keyStrindex" in known:
            tally.note("profiling_strings")
        found[text(known.get("key"), "an attribute's key")] = any_value(known.get("value"), tally, depth)
    if len(found) != len(pairs):
        tally.note("duplicate_attribute_keys", len(pairs) - len(found))
    return found


def any_value(value: Any, tally: Tally, depth: int = MAX_DEPTH) -> Any:
    """One AnyValue as a plain value; None when nothing is set. ``depth`` is how many levels may still follow."""
    if not depth:
        raise RefusedError(f"a value is nested more than {MAX_DEPTH} levels deep")
    for kind, item in fields(value, "a value", tally).items():
        match kind:
            case "stringValue":
                return text(item, "a stringValue")
            case "intValue":
                return integer(item, "an intValue", low=-(2**63), high=2**63 - 1)
            case "boolValue":
                if not isinstance(item, bool):
                    raise RefusedError("a boolValue is neither true nor false")
                return item
            case "doubleValue":
                return double(item)
            case "arrayValue":
                listed = fields(item, "an arrayValue", tally).get("values")
                return [any_value(each, tally, depth - 1) for each in items(listed, "the values of an arrayValue")]
            case "kvlistValue":
                return attributes(fields(item, "a kvlistValue", tally).get("values"), tally, depth - 1)
            case "bytesValue":
                return item if isinstance(item, bytes) else unbase64(text(item, "a bytesValue"))
            case "stringValueStrindex":
                tally.note("profiling_strings")
            case _:
                pass
    return None


def double(value: Any) -> float:
    """A double; also as text, such as "NaN" or "Infinity"."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise RefusedError("a doubleValue is not a number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise RefusedError("a doubleValue is not a number") from None


def unbase64(value: str) -> bytes:
    """Base64 of either alphabet, with or without its padding."""
    try:
        return base64.b64decode(value.translate(_URL_SAFE).rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise RefusedError("a bytesValue is not base64") from None


_URL_SAFE = str.maketrans("-_", "+/")


def resource(value: Any, tally: Tally) -> Resource:
    """A Resource object."""
    known = fields(value, "a resource", tally)
    return Resource(attributes(known.get("attributes"), tally), integer(known.get("droppedAttributesCount"), "a dropped count"))


def scope(value: Any, schema_url: str, tally: Tally) -> Scope:
    """An InstrumentationScope object, with the schema URL that stands beside it."""
    known = fields(value, "a scope", tally)
    name, version = text(known.get("name"), "a scope's name"), text(known.get("version"), "a scope's version")
    return Scope(name, version, attributes(known.get("attributes"), tally), schema_url)


def span(value: Any, of: Resource, by: Scope, tally: Tally) -> Span:
    """A Span object."""
    get = fields(value, "a span", tally).get
    status = fields(get("status"), "a status", tally)
    links = [link(each, tally) for each in items(get("links"), "the links")]
    return Span(
        trace_id=hex_id(get("traceId"), 32, "trace id"),
        span_id=hex_id(get("spanId"), 16, "span id"),
        parent_span_id=parent_id(get("parentSpanId")),
        trace_state=text(get("traceState"), "the trace state"),
        flags=integer(get("flags"), "flags"),
        name=text(get("name"), "the name"),
        kind=enum(get("kind"), KINDS, "SPAN_KIND_", tally),
        start=integer(get("startTimeUnixNano"), "the start time"),
        end=integer(get("endTimeUnixNano"), "the end time"),
        attributes=attributes(get("attributes"), tally),
        events=tuple(event(each, tally) for each in items(get("events"), "the events")),
        links=tuple(each for each in links if each is not None),
        status_code=enum(status.get("code"), STATUSES, "STATUS_CODE_", tally),
        status_message=text(status.get("message"), "the status message"),
        dropped_attributes_count=integer(get("droppedAttributesCount"), "a dropped count"),
        dropped_events_count=integer(get("droppedEventsCount"), "a dropped count"),
        dropped_links_count=integer(get("droppedLinksCount"), "a dropped count"),
        resource=of,
        scope=by,
    )


def ids_of(value: Any) -> tuple[str, str]:
    """Trace id and span id of an object that was refused, as far as they are valid."""
    found = []
    for name, other, width in (("traceId", "trace_id", 32), ("spanId", "span_id", 16)):
        try:
            found.append(hex_id(value.get(name) or value.get(other), width, ""))
        except (RefusedError, AttributeError):
            found.append("")
    return found[0], found[1]


def event(value: Any, tally: Tally) -> SpanEvent:
    """A span event."""
    get = fields(value, "an event", tally).get
    return SpanEvent(
        text(get("name"), "an event's name"),
        integer(get("timeUnixNano"), "an event's time"),
        attributes(get("attributes"), tally),
        integer(get("droppedAttributesCount"), "a dropped count"),
    )


def link(value: Any, tally: Tally) -> Link | None:
    """A link; None (and counted) when it points nowhere."""
    get = fields(value, "a link", tally).get
    try:
        trace_id, span_id = hex_id(get("traceId"), 32, "trace id"), hex_id(get("spanId"), 16, "span id")
    except RefusedError:
        tally.note("invalid_links")
        return None
    return Link(
        trace_id,
        span_id,
        text(get("traceState"), "a link's trace state"),
        attributes(get("attributes"), tally),
        integer(get("droppedAttributesCount"), "a dropped count"),
        integer(get("flags"), "a link's flags"),
    )


def log(value: Any, of: Resource, by: Scope, tally: Tally) -> LogRecord:
    """A LogRecord object."""
    get = fields(value, "a log record", tally).get
    trace_id, span_id = log_ids(get("traceId"), get("spanId"), tally)
    return LogRecord(
        trace_id=trace_id,
        span_id=span_id,
        time=integer(get("timeUnixNano"), "the time"),
        observed_time=integer(get("observedTimeUnixNano"), "the observed time"),
        severity_number=enum(get("severityNumber"), SEVERITIES, "SEVERITY_NUMBER_", tally),
        severity_text=text(get("severityText"), "the severity"),
        event_name=text(get("eventName"), "the event name"),
        body=any_value(get("body"), tally),
        attributes=attributes(get("attributes"), tally),
        dropped_attributes_count=integer(get("droppedAttributesCount"), "a dropped count"),
        flags=integer(get("flags"), "flags"),
        resource=of,
        scope=by,
    )


def log_ids(trace_id: Any, span_id: Any, tally: Tally) -> tuple[str, str]:
    """A log record's ids; "" for what is absent or all zero, and (counted) for what is no id."""
    found = []
    for value, width in ((trace_id, 32), (span_id, 16)):
        try:
            found.append(hex_id(value, width, "id") if value and value != "0" * width else "")
        except RefusedError:
            tally.note("invalid_log_ids")
            found.append("")
    return found[0], found[1] if found[0] else ""
