"""The spool's own form on disk: the records of one trace as bytes, and back. Read only by the process that wrote it.

A frame is one tag byte and zstd-compressed data: ``M`` msgpack, ``J`` canonical JSON for what msgpack cannot say (lone
surrogates, integers beyond 64 bits). Resources and scopes stand once a frame; records refer to them by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import zstandard

from otelreplay import canonical
from otelreplay.spans.model import Attributes, Link, LogRecord, Removal, Resource, Scope, Span, SpanEvent

_LEVEL = 1
_Item = TypeVar("_Item", Resource, Scope)


class _SpanRow(msgspec.Struct, array_like=True):
    """A span's fields in the order of ``Span``, with numbers for resource and scope."""

    trace_id: str
    span_id: str
    parent_span_id: str
    trace_state: str
    flags: int
    name: str
    kind: int
    start: int
    end: int
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    links: tuple[Link, ...]
    status_code: int
    status_message: str
    dropped_attributes_count: int
    dropped_events_count: int
    dropped_links_count: int
    resource: int
    scope: int
    removed: tuple[Removal, ...]


class _LogRow(msgspec.Struct, array_like=True):
    """A log record's fields in the order of ``LogRecord``, likewise."""

    trace_id: str
    span_id: str
    time: int
    observed_time: int
    severity_number: int
    severity_text: str
    event_name: str
    body: Any
    attributes: Attributes
    dropped_attributes_count: int
    flags: int
    resource: int
    scope: int
    removed: tuple[Removal, ...]


class _Frame(msgspec.Struct, array_like=True):
    resources: list[Resource]
    scopes: list[Scope]
    spans: list[_SpanRow]
    logs: list[_LogRow]


class Codec:
    """Packs and unpacks frames. Equal resources and scopes come back as one object, over all frames of one codec."""

    def __init__(self) -> None:
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(_Frame).decode
        self._compress = zstandard.ZstdCompressor(level=_LEVEL).compress
        self._decompress = zstandard.ZstdDecompressor().decompress
        self._shared: dict[bytes, Resource | Scope] = {}

    def pack(self, spans: Sequence[Span], logs: Sequence[LogRecord]) -> bytes:
        """The records as one frame."""
        resources: list[Resource] = []
        scopes: list[Scope] = []
        seen: dict[int, int] = {}
        frame = _Frame(
            resources,
            scopes,
            [_span_row(each, _number(each.resource, resources, seen), _number(each.scope, scopes, seen)) for each in spans],
            [_log_row(each, _number(each.resource, resources, seen), _number(each.scope, scopes, seen)) for each in logs],
        )
        try:
            return b"M" + self._compress(self._encode(frame))
        except (UnicodeEncodeError, OverflowError):
            return b"J" + self._compress(canonical.dumps(msgspec.to_builtins(frame, builtin_types=(bytes,))))

    def unpack(self, data: bytes) -> tuple[list[Span], list[LogRecord]]:
        """The records of a frame."""
        content = self._decompress(data[1:])
        if data[:1] == b"M":
            frame = self._decode(content)
        else:
            frame = msgspec.convert(canonical.loads(content), _Frame)
        resources = [self._same(each) for each in frame.resources]
        scopes = [self._same(each) for each in frame.scopes]
        return (
            [_span(row, resources[row.resource], scopes[row.scope]) for row in frame.spans],
            [_log(row, resources[row.resource], scopes[row.scope]) for row in frame.logs],
        )

    def _same(self, value: _Item) -> _Item:
        try:
            key = type(value).__name__.encode() + self._encode(value)
        except (UnicodeEncodeError, OverflowError):
            return value
        known = self._shared.setdefault(key, value)
        return known if isinstance(known, type(value)) else value


def _number(value: _Item, listed: list[_Item], seen: dict[int, int]) -> int:
    """The number of ``value`` in ``listed``, by identity; the caller's records keep the objects alive, so ids are unique."""
    number = seen.get(id(value))
    if number is None:
        number = seen[id(value)] = len(listed)
        listed.append(value)
    return number


def _span_row(of: Span, resource: int, scope: int) -> _SpanRow:
    return _SpanRow(
        of.trace_id,
        of.span_id,
        of.parent_span_id,
        of.trace_state,
        of.flags,
        of.name,
        of.kind,
        of.start,
        of.end,
        of.attributes,
        of.events,
        of.links,
        of.status_code,
        of.status_message,
        of.dropped_attributes_count,
        of.dropped_events_count,
        of.dropped_links_count,
        resource,
        scope,
        of.removed,
    )


def _span(row: _SpanRow, resource: Resource, scope: Scope) -> Span:
    return Span(
        row.trace_id,
        row.span_id,
        row.parent_span_id,
        row.trace_state,
        row.flags,
        row.name,
        row.kind,
        row.start,
        row.end,
        row.attributes,
        row.events,
        row.links,
        row.status_code,
        row.status_message,
        row.dropped_attributes_count,
        row.dropped_events_count,
        row.dropped_links_count,
        resource,
        scope,
        row.removed,
    )


def _log_row(of: LogRecord, resource: int, scope: int) -> _LogRow:
    return _LogRow(
        of.trace_id,
        of.span_id,
        of.time,
        of.observed_time,
        of.severity_number,
        of.severity_text,
        of.event_name,
        of.body,
        of.attributes,
        of.dropped_attributes_count,
        of.flags,
        resource,
        scope,
        of.removed,
    )


def _log(row: _LogRow, resource: Resource, scope: Scope) -> LogRecord:
    return LogRecord(
        row.trace_id,
        row.span_id,
        row.time,
        row.observed_time,
        row.severity_number,
        row.severity_text,
        row.event_name,
        row.body,
        row.attributes,
        row.dropped_attributes_count,
        row.flags,
        resource,
        scope,
        row.removed,
    )
