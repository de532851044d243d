"""Reading values as conventions write them: JSON in text, cut JSON, placeholders, messages in the GenAI schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otelreplay import canonical
from otelreplay.dialects.intern import Interner
from otelreplay.events import Message
from otelreplay.providers import decode_message, decode_tool, split_system
from otelreplay.providers.parts import generic

ELIDED = ("<elided>", "__REDACTED__", "REDACTED")
"""Literals that packages write instead of content that is switched off. They are never content."""

_CLOSERS = {"[": "]", "{": "}", '"': '"'}


def is_cut(text: Any, cut_lengths: frozenset[int] = frozenset()) -> bool:
    """Was this text cut by a length limit? JSON that ends in the middle, or a length at which JSON of this run was cut."""
    if not isinstance(text, str) or not text:
        return False
    if len(text) in cut_lengths:
        return True
    head = text.lstrip()[:2]
    if head[:1] not in ("[", "{") or not looks_like_json(head):
        return False
    return text.rstrip()[-1] != _CLOSERS[head[0]] or not canonical.read_json(text)[0]


def looks_like_json(head: str) -> bool:
    """Do the first two characters open a JSON array or object?"""
    opens = {"{": '"} \n', "[": '{["]-0123456789 \ntfn'}.get(head[:1])
    return opens is not None and head[1:2] in opens


def decoded(value: Any) -> Any:
    """The value behind JSON text of an object or array; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        known, inner = canonical.read_json(value)
        return inner if known else value
    return value


def decoded_whole(value: Any) -> Any:
    """As :func:`decoded`, and JSON text of a string, too: for attributes that are always JSON."""
    if isinstance(value, str) and value[:1] == '"':
        known, inner = canonical.read_json(value)
        return inner if known else value
    return decoded(value)


def read_messages(value: Any, intern: Interner) -> list[Message] | None:
    """Messages in the GenAI schema (or a provider's), from JSON text or structured values; None if it is neither."""

    def element(m: Any) -> tuple[Message, ...]:
        return tuple(intern.message(x) for x in normal_messages(m))

    if isinstance(value, str):
        return intern.each(value, "message", element)
    if isinstance(value, (list, tuple)):
        return [m for v in value for m in element(v)]
    return None


def normal_messages(m: Any) -> list[dict[str, Any]]:
    """One message of the telemetry as messages of the GenAI schema; what is neither stays as a generic part."""
    if isinstance(m, dict) and isinstance(m.get("parts"), (list, tuple)) and not _is_gemini(m):
        out: dict[str, Any] = {"role": m.get("role"), "parts": [normal_part(p) for p in m["parts"]]}
        out.update((k, v) for k, v in m.items() if k not in out and not (v is None and k in ("name", "finish_reason")))
        return [out]
    return list(decode_message(m)) if isinstance(m, dict) else [{"role": "user", "parts": [normal_part(m)]}]


def _is_gemini(m: dict[str, Any]) -> bool:
    return any(isinstance(p, dict) and "type" not in p for p in m["parts"])


def normal_part(part: Any) -> dict[str, Any]:
    """One part of the GenAI schema: nulls that mean "not given" are left out, JSON text of arguments is decoded."""
    if isinstance(part, str):
        return {"type": "text", "content": part}
    if not isinstance(part, dict):
        return generic(part)
    out = {k: v for k, v in part.items() if not (v is None and k in ("id", "name", "mime_type"))}
    if out.get("type") == "tool_call" and "arguments" in out:
        out["arguments"] = decoded(out["arguments"])
    if out.get("type") == "tool_call_response" and "response" not in out and "result" in out:
        out["response"] = out.pop("result")  # the semantic conventions' own example said "result" until 2026
    return out


def read_parts(value: Any) -> list[dict[str, Any]] | None:
    """System instructions: a list of parts, from JSON text or structured values; plain text is one text part."""
    value = decoded(value)
    if isinstance(value, str):
        return [{"type": "text", "content": value}]
    if isinstance(value, dict):
        value = value.get("parts") if isinstance(value.get("parts"), list) else [value]
    if not isinstance(value, (list, tuple)):
        return None
    return [_text_part(p) for p in value]


def _text_part(part: Any) -> dict[str, Any]:
    if isinstance(part, dict) and "type" not in part and isinstance(part.get("text"), str):
        return {"type": "text", "content": part["text"]}
    return normal_part(part)


def read_tools(value: Any, intern: Interner) -> list[Any] | None:
    """Tool definitions, flat: ``{type, name, description?, parameters?}``."""

    def element(d: Any) -> tuple[Any, ...]:
        return tuple(intern.value(t) for t in (decode_tool(d) if isinstance(d, dict) else [generic(d)]))

    if isinstance(value, str):
        return intern.each(value, "tool", element)
    return [t for v in value for t in element(v)] if isinstance(value, (list, tuple)) else None


def lift_system(messages: Iterable[Message]) -> tuple[list[dict[str, Any]], list[Message]]:
    """(parts of the leading system and developer messages, the other messages)."""
    parts, rest, _ = split_system(list(messages))
    return parts or [], rest
