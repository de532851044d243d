"""Events of a stream as bytes: server-sent events as each API writes them, or one JSON array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from otelreplay.stubs.reply import wire_json

DONE: Final = b"data: [DONE]\n\n"


def framed(api: str, events: Iterable[Any], *, sse: bool = True, done: bool = True) -> tuple[bytes, ...]:
    """The events of a stream, one piece of bytes each. ``done``: whether it came to its end."""
    if api.startswith("gemini."):
        return _gemini_events(events) if sse else _array(events)
    if api in ("openai.responses", "anthropic.messages"):
        return tuple(_named(event) for event in events)
    return (*(b"data: " + wire_json(event) + b"\n\n" for event in events), *((DONE,) if done else ()))


def _named(event: Any) -> bytes:
    """An event whose type stands before its data, too."""
    kind = event.get("type") if isinstance(event, dict) else None
    name = kind if isinstance(kind, str) and kind.isprintable() else "message"
    return b"event: " + name.encode("utf-8", "replace") + b"\ndata: " + wire_json(event) + b"\n\n"


def _gemini_events(events: Iterable[Any]) -> tuple[bytes, ...]:
    return tuple(b"data: " + wire_json(event) + b"\r\n\r\n" for event in events)


def _array(events: Iterable[Any]) -> tuple[bytes, ...]:
    """Without ``alt=sse`` Gemini streams the elements of one array."""
    pieces = [(b",\r\n" if n else b"[") + wire_json(event) for n, event in enumerate(events)]
    return (*pieces, b"]") if pieces else (b"[]",)
