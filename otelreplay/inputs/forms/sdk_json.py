"""Spans (and log records) as the Python SDK prints them: ``span.to_json()`` and the console exporters.

One object a span, pretty printed or on one line, one after the other or in an array; the program's own output may stand between
them. Source: ``opentelemetry.sdk.trace.ReadableSpan.to_json``: ids as ``0x`` and hex, times in ISO 8601, kinds as
``SpanKind.CLIENT``; it holds no scope.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from otelreplay.inputs import outline
from otelreplay.inputs.forms.base import HEAD_BYTES, Form, Head, Reading
from otelreplay.inputs.source import Source
from otelreplay.inputs.spans import read_list
from otelreplay.spans.model import Batch

_AFTER_OUTPUT = re.compile(rb'(?:^|\n)\{\s*"name":\s*"(?:[^"\\\n]|\\.){0,500}+",\s*"context":\s*\{\s*"trace_id":\s*"0x')


def _place(paths: frozenset[str]) -> str | None:
    found = outline.place(paths, "context.trace_id", "context", "start_time")
    return outline.place(paths, "severity_number", "body", "trace_id", lists=("", "[]")) if found is None else found


def _sniff(head: Head) -> bool:
    return _place(head.paths) is not None or bool(_AFTER_OUTPUT.search(head.data))


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    pattern = _place(Head(source.peek(HEAD_BYTES), reading.name, complete=True).paths)
    yield from read_list(source, reading, pattern or "")


SDK_JSON = Form("spans as the Python SDK prints them", _sniff, _read)
