"""Jaeger's JSON: the answer of its API v2 (``{"data": [{"traceID", "spans", "processes"}]}``), as its UI saves it.

Source: Jaeger's ``model/json`` and OpenTelemetry's "OpenTelemetry to Jaeger transformation". Times are microseconds; a process,
which is a resource here, stands behind the spans that are its own, so the spans of one trace are held until it is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otelreplay.errors import LimitError
from otelreplay.inputs import loose, records
from otelreplay.inputs.decoding import decoded
from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.source import Source
from otelreplay.inputs.spans import refuse
from otelreplay.inputs.tagged import lifted
from otelreplay.inputs.walking import Item, Walk
from otelreplay.spans.model import Attributes, Batch, Link, Resource, Span, SpanEvent

_TRACES = ("data[]", "[]", "", "data")
_OVERHEAD = 400
"""Bytes that a held span takes beside its text."""


def _sniff(head: Head) -> bool:
    return any({_at(trace, "spans[].spanID"), _at(trace, "spans[].traceID")} <= head.paths for trace in _TRACES)


def _at(trace: str, key: str) -> str:
    return f"{trace}.{key}" if trace else key


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    gather = Gather(reading.name, reading.tally)
    wanted = {_at(trace, key) for trace in _TRACES for key in ("spans[]", "processes")}
    held: list[Item] = []
    size, processes = 0, {}
    held_as = {_at(trace, "spans[]") for trace in _TRACES}
    for item in Walk(source, reading, gather, wanted, as_text=held_as).items():
        if item.pattern.endswith("spans[]"):
            reading.recognise()
            held.append(item)
            size += item.size + _OVERHEAD
            if size > reading.max_record:
                raise _too_much(reading, item)
        elif not item.closed:
            processes = item.value if isinstance(item.value, dict) else {}
        elif item.pattern in _TRACES and (held or processes):
            resources = _resources(processes, gather)
            for each in held:
                _take(each, resources, gather)
                if gather.full:
                    yield gather.batch()
            held, size, processes = [], 0, {}
    yield from gather.drain()


def _too_much(reading: Reading, item: Item) -> LimitError:
    return LimitError(
        f"more than {reading.max_record} bytes of spans stand before their processes",
        code="input.limit",
        where=f"{reading.name}: {item.where}",
        next_step="export fewer spans at once, or export them as OTLP",
    )


def _resources(processes: dict[str, Any], gather: Gather) -> dict[str, Resource]:
    found = {}
    for key, process in processes.items():
        try:
            found[key] = gather.resource(_resource(process))
        except RefusedError as refused:
            gather.refuse("a process", str(refused))
    return found


def _resource(process: Any) -> Resource:
    if not isinstance(process, dict):
        raise RefusedError("it is not an object")
    name = process.get("serviceName")
    return Resource(({"service.name": name} if isinstance(name, str) else {}) | _tags(process.get("tags")))


def _take(item: Item, resources: dict[str, Resource], gather: Gather) -> None:
    value = None
    try:
        value = decoded(item.value, gather.tally)
        if not isinstance(value, dict):
            raise RefusedError("it is not an object")
        gather.spans.append(_span(value, resources, gather))
        gather.weight += item.size
    except RefusedError as error:
        written = (value.get("traceID"), value.get("spanID")) if isinstance(value, dict) else (None, None)
        refuse(gather, item, error, written)


def _span(value: dict[str, Any], resources: dict[str, Resource], gather: Gather) -> Span:
    trace_id = loose.any_id(value.get("traceID"), 32, "trace id", pad=True)
    parent, links = _references(value, trace_id, gather)
    tags = _tags(value.get("tags"))
    kind = loose.kind(tags.pop("span.kind", None))
    attributes, fields = lifted(tags, gather)
    start = loose.moment(value.get("startTime"), "the start time", loose.US)
    took = value.get("duration")
    process = value.get("process")
    of = resources.get(str(value.get("processID")), Resource())
    return Span(
        trace_id=trace_id,
        span_id=loose.any_id(value.get("spanID"), 16, "span id", pad=True),
        parent_span_id=parent,
        name=records.text(value.get("operationName"), "a name"),
        kind=kind,
        start=start,
        end=0 if took is None else start + loose.moment(took, "the duration", loose.US),
        attributes=attributes,
        events=tuple(_event(each) for each in records.items(value.get("logs"), "the logs")),
        links=links,
        resource=gather.resource(_resource(process)) if isinstance(process, dict) else of,
        **fields,
    )


def _references(value: dict[str, Any], trace_id: str, gather: Gather) -> tuple[str, tuple[Link, ...]]:
    """The parent (the first CHILD_OF of this trace, else the first reference into it), and all others as links."""
    parent, found = loose.parent_id(value.get("parentSpanID"), pad=True), []
    for each in records.items(value.get("references"), "the references"):
        try:
            if not isinstance(each, dict):
                raise RefusedError("a reference is not an object")
            place = (
                loose.any_id(each.get("traceID"), 32, "trace id", pad=True),
                loose.any_id(each.get("spanID"), 16, "span id", pad=True),
            )
            found.append((each.get("refType") == "CHILD_OF", place))
        except RefusedError:
            gather.tally.note("invalid_links")
    inside = [place for place in sorted(found, key=lambda one: not one[0]) if place[1][0] == trace_id]
    if not parent and inside:
        parent = inside[0][1][1]
    return parent, tuple(Link(*place) for _, place in found if place != (trace_id, parent))


def _event(value: Any) -> SpanEvent:
    """A log: the field ``event`` is its name."""
    if not isinstance(value, dict):
        raise RefusedError("a log is not an object")
    fields = _tags(value.get("fields"))
    name = fields.pop("event") if isinstance(fields.get("event"), str) else ""
    return SpanEvent(name, loose.moment(value.get("timestamp"), "a log's time", loose.US), fields)


def _tags(value: Any) -> Attributes:
    """Typed tags; an integer may be text, as JavaScript writes those beyond 2^53."""
    found: Attributes = {}
    for tag in records.items(value, "the tags"):
        if not isinstance(tag, dict) or not isinstance(tag.get("key"), str):
            raise RefusedError("a tag has no key")
        item, kind = tag.get("value"), tag.get("type")
        if kind in ("int64", "long") and isinstance(item, int | str):
            item = records.integer(item, "an int64", low=-(2**63), high=2**63 - 1)
        elif kind in ("float64", "double") and isinstance(item, int | float | str):
            item = records.double(item)
        elif kind == "binary" and isinstance(item, str):
            item = records.unbase64(item)
        elif kind == "bool" and item in ("true", "false"):
            item = item == "true"
        if item is not None:
            found[tag["key"]] = loose.plain(item)
    return found


JAEGER = Form("Jaeger JSON", _sniff, _read)
