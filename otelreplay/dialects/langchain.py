"""LangChain's own serialisations of messages, as several conventions carry them.

{"lc": 1, "id": […, "HumanMessage"], "kwargs": {content, …}}      a constructor
{"type": "human", "content": …}                                  a dumped model
{"type": "tool", "data": {content, tool_call_id, …}}             a message as a dict
{"role": "user", "content": …}                                   what a user wrote
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from otelreplay.dialects.intern import Interner
from otelreplay.dialects.values import lift_system, normal_messages
from otelreplay.providers import openai_chat

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
_MADE: Final = ("run-", "lc_")
"""Beginnings of message ids that LangChain makes."""


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
    blocks: Any = content
    if isinstance(content, list):
        blocks = [b for b in content if not (isinstance(b, dict) and b.get("type") in ("tool_use", "function_call"))]
    whole = normal_messages({"role": role, "content": blocks}) if blocks not in ("", [], None) else []
    calls = [_call(c) for c in body.get("tool_calls") or () if isinstance(c, dict)]
    if not whole:
        return [{"role": role, "parts": calls or ([{"type": "text", "content": ""}] if content == "" else [])}]
    return [*whole[:-1], {**whole[-1], "parts": [*whole[-1]["parts"], *calls]}]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "tool_call", **({"id": call["id"]} if call.get("id") else {})}
    return {**out, "name": call.get("name"), "arguments": call.get("args")}


def request_of(body: Any, intern: Interner) -> dict[str, Any]:
    """The fields of what a chat model was given, ``{"messages": [[…]]}``; none where it is something else."""
    asked = [m for item in _listed(body, "messages") for m in messages_of(item)]
    if not asked:
        return {}
    parts, messages = lift_system([intern.message(m) for m in asked])
    return {"request.messages": messages, **({"request.system": parts} if parts else {})}


def reply_of(body: Any, intern: Interner) -> dict[str, Any]:
    """The fields of what a chat model gave, ``{"generations": [[{"message": …}]]}``; none where it is something else."""
    answers = list(_listed(body, "generations"))
    if not answers:
        return {}
    fields: dict[str, Any] = {"response.messages": [intern.message(m) for a in answers for m in messages_of(a)]}
    meta = body_of(answers[0]).get("response_metadata")
    meta = meta if isinstance(meta, dict) else {}
    for field, value in (
        ("id", meta.get("id") or _own_id(answers[0])),
        ("model", meta.get("model_name") or meta.get("model")),
        ("finish_reasons", meta.get("finish_reason") or meta.get("stop_reason")),
    ):
        if isinstance(value, str) and value:
            fields[f"response.{field}"] = [value] if field == "finish_reasons" else value
    beside = {key: meta[key] for key in ("system_fingerprint", "service_tier") if isinstance(meta.get(key), str)}
    if beside and meta.get("object") != "response":
        fields["response.extra"] = {openai_chat.API: beside}
    return fields


def _own_id(message: Mapping[str, Any]) -> object:
    """The id of a message is the provider's, unless the framework made one."""
    given = body_of(message).get("id")
    return None if isinstance(given, str) and given.startswith(_MADE) else given


def _listed(value: Any, key: str) -> Iterator[Mapping[str, Any]]:
    """The messages below ``key``, at whatever depth of lists and generations."""
    inner = value.get(key) if isinstance(value, dict) else None
    yield from _messages(inner)


def _messages(value: Any, depth: int = 4) -> Iterator[Mapping[str, Any]]:
    if depth and isinstance(value, list):
        for item in value:
            yield from _messages(item, depth - 1)
    elif isinstance(value, dict):
        if isinstance(value.get("message"), dict):
            value = value["message"]
        if is_message(value):
            yield value
