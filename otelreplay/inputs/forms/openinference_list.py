"""Spans as Phoenix exports them: rows of its data frame (``context.trace_id``, ``attributes.llm…``), or its REST API.

Source: Phoenix's ``get_spans_dataframe().to_json(orient="records")`` (also as lines) and ``GET /v1/projects/…/spans``.
Phoenix nests attributes and parses a few that were JSON text; both are undone, because the convention (OpenInference) is flat:
``llm.input_messages.0.message.content``. A null in a row is a column that this span has no value for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from otelreplay.inputs import loose, outline
from otelreplay.inputs.forms.base import HEAD_BYTES, Form, Head, Reading
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.source import Source
from otelreplay.inputs.spans import read_list
from otelreplay.spans.model import Attributes, Batch

_TEXTS = (
    "metadata",
    "document.metadata",
    "llm.prompt_template.variables",
    "llm.invocation_parameters",
    "tool.parameters",
    "json_schema",
    "arguments",
)
"""Attributes that the convention writes as JSON text; by how their names end."""


def flat(value: dict[str, Any]) -> Attributes:
    """Nested attributes as the convention has them; a list of objects becomes numbered keys."""
    found: Attributes = {}
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, item = waiting.pop()
        nested = isinstance(item, dict) or (isinstance(item, list) and item and all(isinstance(each, dict) for each in item))
        if not nested:
            if item is not None and not (isinstance(item, float) and math.isnan(item)):
                found[name] = item
        elif any(name == text or name.endswith("." + text) for text in _TEXTS):
            found[name] = loose.dumped(item)
        else:
            pairs = item.items() if isinstance(item, dict) else enumerate(item)
            waiting.extend((f"{name}.{key}" if name else str(key), inner) for key, inner in pairs)
    return dict(sorted(found.items()))


def _mended(row: Any) -> Any:
    """A row with its flat columns put together."""
    if not isinstance(row, dict):
        return row
    given = row.get("attributes")
    nested = dict(given) if isinstance(given, dict) else {}
    nested |= {name.removeprefix("attributes."): item for name, item in row.items() if name.startswith("attributes.")}
    attributes = flat(loose.plain(nested))
    if isinstance(kind := row.get("span_kind"), str) and kind not in ("", "UNKNOWN"):
        attributes.setdefault("openinference.span.kind", kind)
    events = row.get("events")
    if isinstance(events, str):
        try:
            events = json.loads(events)
        except (ValueError, RecursionError):
            raise RefusedError("its events are not valid JSON") from None
    return {**row, "attributes": attributes, "events": events}


def _place(paths: frozenset[str]) -> str | None:
    rows = outline.place(paths, "context.trace_id", "context.span_id", "span_kind")
    return outline.place(paths, "context.trace_id", "context.span_id") if rows is None else rows


def _sniff(head: Head) -> bool:
    pattern = _place(head.paths)
    if pattern is None:
        return False
    before = f"{pattern}." if pattern else ""
    return f"{before}context" not in head.paths or f"{before}span_kind" in head.paths


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    pattern = _place(Head(source.peek(HEAD_BYTES), reading.name, complete=True).paths)
    yield from read_list(source, reading, pattern or "", _mended)


OPENINFERENCE_LIST = Form("spans as Phoenix exports them", _sniff, _read)
