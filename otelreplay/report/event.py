"""One event: as JSON (what ``events --json`` prints) and in full for people (what ``show --event`` prints)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from otelreplay.canonical import encode
from otelreplay.events import Event, Mark, expand
from otelreplay.report.text import duration, escape, escape_lines, fields, moment

_PAYLOAD = ("request", "response", "error", "versions", "attributes")


def event_json(event: Event) -> dict[str, Any]:
    """The event as one JSON object (``docs/events.md``): marks of messages written out, unknown fields kept.

    Payload values are the recorded ones and shared with the event: write them with ``canonical.dumps``.
    """
    return _plain(expand(event))


def event_text(event: Event, *, origin: int = 0, columns: int = 80) -> str:
    """Everything that the event holds, for people. ``origin``: when the run began, in nanoseconds."""
    event = expand(event)
    lines = [f"event {event.seq}  {event.kind}  {escape(event.name)}", ""]
    lines += fields(_facts(event, origin), columns=columns, indent="  ")
    for name in _PAYLOAD:
        value = getattr(event, name)
        value = _plain(value) if isinstance(value, BaseModel) else value
        if value:
            lines += ["", name, *_tree(value, "  ")]
        elif name == "response" and event.error is None:
            lines += ["", "response", "  (none was recorded)" if value is None else "  (recorded, and empty)"]
    for title, marks in (("inferred", event.inferred), ("missing", event.missing), ("redacted", event.redactions)):
        if marks:
            lines += ["", title]
        for mark in marks:
            lines += [f"  {escape(mark.field)}", *fields(_about(mark), columns=columns, indent="    ")]
    return "\n".join(lines) + "\n"


def _facts(event: Event, origin: int) -> Iterator[tuple[str, str]]:
    start, end = int(event.start or 0), int(event.end or 0)
    yield "id", event.id
    yield "agent", event.agent or ""
    yield "parent", "" if event.parent is None else str(event.parent)
    yield "after", ", ".join(map(str, event.after))
    yield "started", f"{moment(start)}, {duration(start - origin)} into the run" if start else ""
    yield "took", duration(end - start) if start and end else ""
    yield "effect", event.effect or ""
    yield "idempotency key", event.idempotency_key or ""
    yield "spans", " ".join(span for span in event.spans if span != event.id)
    yield "request hash", event.request_hash or ""


def _about(mark: Mark) -> Iterator[tuple[str, str]]:
    for name, value in _plain(mark).items():
        if name != "field" and value:
            yield name, str(value)


def _plain(model: BaseModel) -> dict[str, Any]:
    """A model's fields by the names JSON has for them, without copying payload."""
    values: dict[str, Any] = {}
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, list) and value and isinstance(value[0], BaseModel):
            value = [_plain(item) for item in value]
        values[info.alias or name] = _plain(value) if isinstance(value, BaseModel) else value
    return values | (model.model_extra or {})


def _tree(value: Any, indent: str) -> Iterator[str]:
    """Nested values, a line each; text of several lines as a block, so that it reads as it was written."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(value, list) and isinstance(item, dict) and item:
            first, *rest = _tree(item, indent + "  ")
            yield f"{indent}- {first.lstrip()}"
            yield from rest
            continue
        label = f"{indent}- " if isinstance(value, list) else f"{indent}{escape(str(key))}: "
        deeper = indent + "  "
        if isinstance(item, dict | list) and item:
            yield label.rstrip()
            yield from _tree(item, deeper)
        elif isinstance(item, str) and "\n" in item:
            yield f"{label}|"
            yield from (deeper + line for line in escape_lines(item))
        else:
            yield label + escape(json.dumps(encode(item), ensure_ascii=False))
