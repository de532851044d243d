"""LangChain's own serialisations of messages, as several conventions carry them.

{"lc": 1, "id": […, "HumanMessage"], "kwargs": {content, …}}      a constructor
{"type": "human", "content": …}                                  a dumped model
{"type": "tool", "data": {content, tool_call_id, …}}             a message as a dict
{"role": "user", "content": …}                                   what a user wrote
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay.dialects.values import normal_messages

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "SystemMessage": "system",
    "ToolMessage": "tool",
}


def is_message(value: Any) -> bool:
    """Is it a message in one of LangChain's serialisations?"""
    if not isinstance(value, dict):
        return False
    inner = body_of(value)
    return "content" in inner and (_kind(value) in _ROLES or "role" in inner)


def body_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a message."""
    for key in ("kwargs", "data"):
        inner = value.get(key)
        if isinstance(inner, dict):
            return inner
    return value


def _kind(value: Mapping[str, Any]) -> str:
    path = value.get("id")
    if value.get("lc") is not None and isinstance(path, list) and path:
        return str(path[-1])
    return str(value.get("type"))


def messages_of(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The GenAI messages that one message is."""
    body = body_of(value)
    role = _ROLES.get(_kind(value)) or _ROLES.get(str(body.get("type"))) or body.get("role")
    content = body.get("content")
    if role == "tool":
        call = body.get("tool_call_id")
        part = {"type": "tool_call_response", **({"id": call} if call else {})}
        return [{"role": "tool", "parts": [{**part, "response": content}]}]
    if isinstance(content, list):
        blocks = [b for b in content if not (isinstance(b, dict) and b.get("type") in ("tool_use", "function_call"))]
    else:
        blocks = content
    whole = normal_messages({"role": role, "content": blocks}) if blocks not in ("", [], None) else []
    calls = [_call(c) for c in body.get("tool_calls") or () if isinstance(c, dict)]
    if not whole:
        return [{"role": role, "parts": calls or ([{"type": "text", "content": ""}] if content == "" else [])}]
    return [*whole[:-1], {**whole[-1], "parts": [*whole[-1]["parts"], *calls]}]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "tool_call", **({"id": call["id"]} if call.get("id") else {})}
    return {**out, "name": call.get("name"), "arguments": call.get("args")}


def meta_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """``id``, ``model`` and ``finish_reason`` that an answer's metadata hold."""
    meta = body_of(value).get("response_metadata")
    meta = meta if isinstance(meta, dict) else {}
    found = {
        "id": meta.get("id"),
        "model": meta.get("model_name") or meta.get("model"),
        "finish_reason": meta.get("finish_reason") or meta.get("stop_reason"),
    }
    return {k: v for k, v in found.items() if isinstance(v, str) and v}
