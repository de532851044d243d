"""A list of spans in plain JSON: flat ids (``trace_id``, ``span_id``) or those of the JavaScript SDK (``spanContext``).

In an array, one a line, or inside an object (``spans``, ``data``), with whatever names an SDK gives to the parts. Times may be
numbers of any unit, text, or JavaScript's pairs; kinds that are numbers are the SDK's where ``spanContext`` is, else OTLP's.
"""

from __future__ import annotations

from collections.abc import Iterator

from otelreplay.inputs import outline
from otelreplay.inputs.forms.base import HEAD_BYTES, Form, Head, Reading
from otelreplay.inputs.source import Source
from otelreplay.inputs.spans import read_list
from otelreplay.spans.model import Batch

_KEYS = (
    ("trace_id", "span_id", "attributes"),
    ("trace_id", "span_id", "name"),
    ("spanContext.traceId", "attributes"),
    ("traceId", "spanId", "attributes"),
    ("traceId", "spanId", "name"),
)


def _place(paths: frozenset[str]) -> str | None:
    if outline.is_otlp(paths):
        return None
    return next((found for keys in _KEYS if (found := outline.place(paths, *keys)) is not None), None)


def _sniff(head: Head) -> bool:
    return _place(head.paths) is not None


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    pattern = _place(Head(source.peek(HEAD_BYTES), reading.name, complete=True).paths)
    yield from read_list(source, reading, pattern or "")


SPAN_LIST = Form("a list of spans", _sniff, _read)
