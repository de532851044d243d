"""OTLP JSON as typed structs. Source: trace.proto, logs.proto, common.proto and the JSON mapping of the specification.

Each struct is named as its message there (``Log`` is LogRecord).
"""
# ruff: noqa: D101

from __future__ import annotations

from typing import Annotated

import msgspec

Text = str | None
Whole = int | str | None
Count = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)] | None
Enum = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)] | None


class Base(msgspec.Struct, gc=False, rename="camel"):
    """The fields of OTLP JSON under their proto names; all may be absent or null, unknown ones are ignored."""


class Any(Base):
    string_value: Text = None
    bool_value: bool | None = None
    int_value: Whole = None
    double_value: float | str | None = None
    array_value: Array | None = None
    kvlist_value: Map | None = None
    bytes_value: Text = None


class Array(Base):
    values: list[Any] | None = None


class Pair(Base):
    key: str
    value: Any | None = None


class Map(Base):
    values: list[Pair] | None = None


Pairs = list[Pair] | None


class Resource(Base):
    attributes: Pairs = None
    dropped_attributes_count: Count = None


class Scope(Base):
    name: Text = None
    version: Text = None
    attributes: Pairs = None


class Event(Base):
    time_unix_nano: Whole = None
    name: Text = None
    attributes: Pairs = None
    dropped_attributes_count: Count = None


class Link(Base):
    trace_id: str
    span_id: str
    trace_state: Text = None
    attributes: Pairs = None
    dropped_attributes_count: Count = None
    flags: Count = None


class Status(Base):
    code: Enum = None
    message: Text = None


class Span(Base):
    trace_id: str
    span_id: str
    parent_span_id: Text = None
    trace_state: Text = None
    flags: Count = None
    name: Text = None
    kind: Enum = None
    start_time_unix_nano: Whole = None
    end_time_unix_nano: Whole = None
    attributes: Pairs = None
    dropped_attributes_count: Count = None
    events: list[Event] | None = None
    dropped_events_count: Count = None
    links: list[Link] | None = None
    dropped_links_count: Count = None
    status: Status | None = None


class Log(Base):
    trace_id: Text = None
    span_id: Text = None
    time_unix_nano: Whole = None
    observed_time_unix_nano: Whole = None
    severity_number: Enum = None
    severity_text: Text = None
    event_name: Text = None
    body: Any | None = None
    attributes: Pairs = None
    dropped_attributes_count: Count = None
    flags: Count = None


class ScopeSpans(Base):
    scope: Scope | None = None
    spans: list[Span] | None = None
    schema_url: Text = None


class ScopeLogs(Base):
    scope: Scope | None = None
    log_records: list[Log] | None = None
    schema_url: Text = None


class ScopeMetrics(Base):
    metrics: list[msgspec.Raw] | None = None


class ResourceSpans(Base):
    resource: Resource | None = None
    scope_spans: list[ScopeSpans] | None = None
    schema_url: Text = None


class ResourceLogs(Base):
    resource: Resource | None = None
    scope_logs: list[ScopeLogs] | None = None
    schema_url: Text = None


class ResourceMetrics(Base):
    scope_metrics: list[ScopeMetrics] | None = None


class Document(Base):
    resource_spans: list[ResourceSpans] | None = None
    resource_logs: list[ResourceLogs] | None = None
    resource_metrics: list[ResourceMetrics] | None = None


decode_document = msgspec.json.Decoder(Document).decode
decode_span = msgspec.json.Decoder(Span).decode
decode_log = msgspec.json.Decoder(Log).decode
