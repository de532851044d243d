"""Zipkin v2 JSON: an array of spans (or of traces, each an array of spans), as its API and OpenTelemetry's exporters write it.

Source: Zipkin's API v2 and OpenTelemetry's "OpenTelemetry to Zipkin transformation". Times are microseconds. Zipkin holds every
tag as text: numbers and lists cannot be told from text any more, and stay text. It has no links, and a service's name is all of
a resource.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from otelreplay.inputs import loose, outline, records
from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.jsonscan import loads
from otelreplay.inputs.source import Source
from otelreplay.inputs.spans import refuse
from otelreplay.inputs.tagged import lifted
from otelreplay.inputs.walking import Walk
from otelreplay.spans.model import Attributes, Batch, Resource, Span, SpanEvent

_LISTS = ("[]", "[][]")
_REMOTE = (("serviceName", "peer.service"), ("ipv4", "net.peer.ip"), ("ipv6", "net.peer.ip"), ("port", "net.peer.port"))


def _sniff(head: Head) -> bool:
    """Other lists have ``id`` and ``traceId`` as well, but none has a ``timestamp`` with ``duration`` or an endpoint."""
    return any(
        outline.place(head.paths, "traceId", "id", *more, lists=_LISTS) is not None
        for more in (("timestamp", "duration"), ("localEndpoint",), ("timestamp", "tags"), ("localEndpoint.serviceName",))
    )


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    gather = Gather(reading.name, reading.tally)
    for item in Walk(source, reading, gather, _LISTS).items():
        if item.closed:
            continue
        value = item.value
        try:
            if not isinstance(value, dict):
                raise RefusedError("it is not an object")
            gather.spans.append(_span(value, gather))
            gather.tally.note("text_attributes")
            reading.recognise()
        except RefusedError as error:
            refuse(gather, item, error, (value.get("traceId"), value.get("id")) if isinstance(value, dict) else (None, None))
        gather.weight += item.size
        if gather.full:
            yield gather.batch()
    yield from gather.drain()


def _span(value: dict[str, Any], gather: Gather) -> Span:
    attributes, fields = lifted(_tags(value), gather)
    start = loose.moment(value.get("timestamp"), "the timestamp", loose.US)
    took = value.get("duration")
    trace_id = loose.any_id(value.get("traceId"), 32, "trace id", pad=True)
    span_id = loose.any_id(value.get("id"), 16, "span id", pad=True)
    parent = loose.parent_id(value.get("parentId"), pad=True)
    if value.get("shared") is True:  # the server's side of a call has the id of the client's: it stands inside
        span_id, parent = hashlib.sha256(f"shared\0{trace_id}/{span_id}".encode()).hexdigest()[:16], span_id
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent,
        name=records.text(value.get("name"), "a name"),
        kind=loose.kind(value.get("kind")),
        start=start,
        end=0 if took is None else start + loose.moment(took, "the duration", loose.US),
        attributes=attributes,
        events=tuple(_event(each) for each in records.items(value.get("annotations"), "the annotations")),
        resource=gather.resource(_resource(value.get("localEndpoint"))),
        **fields,
    )


def _tags(value: dict[str, Any]) -> Attributes:
    """Tags, and what the remote endpoint says."""
    tags = value.get("tags") or {}
    if not isinstance(tags, dict):
        raise RefusedError("the tags are not an object")
    found = {key: loose.plain(item) for key, item in tags.items() if item is not None}
    remote = value.get("remoteEndpoint")
    for name, key in _REMOTE:
        if isinstance(remote, dict) and isinstance(item := remote.get(name), str | int):
            found.setdefault(key, item)
    return found


def _resource(value: Any) -> Resource:
    name = value.get("serviceName") if isinstance(value, dict) else None
    return Resource({"service.name": name} if isinstance(name, str) else {})


def _event(value: Any) -> SpanEvent:
    """An annotation: a name, or JSON of one that OpenTelemetry's exporters write: ``"name": {"key": …}``, in braces or not."""
    if not isinstance(value, dict):
        raise RefusedError("an annotation is not an object")
    time = loose.moment(value.get("timestamp"), "an annotation's time", loose.US)
    text = records.text(value.get("value"), "an annotation")
    if text[:1] in ("{", '"'):
        try:
            found = loads(text if text.startswith("{") else f"{{{text}}}")
        except ValueError:
            found = None
        if isinstance(found, dict) and len(found) == 1:
            ((name, attributes),) = found.items()
            if isinstance(attributes, dict):
                return SpanEvent(name, time, {key: loose.plain(item) for key, item in attributes.items() if item is not None})
    return SpanEvent(text, time)


ZIPKIN = Form("Zipkin JSON", _sniff, _read)
