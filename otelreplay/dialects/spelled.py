"""Messages as OpenInference spells them out, ``{"message": {role, content, contents, tool_calls, …}}``; a reply of AutoGen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otelreplay.dialects.wire import json_of
from otelreplay.events import Message
from otelreplay.providers import read_arguments

NO_ROLE = ""
"""Stands for the role of a message that lost it to a limit of the number of attributes."""


_ROLES = {"model": "assistant", "tool-call": "assistant", "tool-response": "user"}
"""Roles by other names. Those of smolagents are sent under these, since its calls and their answers are text."""


def spelled_messages(spelled: list[Any]) -> list[Message]:
    """The messages of a list in which each stands under ``message``."""
    return [Message(m) for raw in spelled if isinstance(raw, dict) and isinstance(raw.get("message"), dict) for m in _turn(raw)]


def _turn(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages of one place; the answers of functions may stand beside the message (AutoGen)."""
    beside = raw.get("function")
    answers = [json_of(a) for a in beside] if isinstance(beside, list) else []
    if not answers or not all(isinstance(a, dict) and "content" in a for a in answers):
        yield _message(raw["message"])
        return
    for answer in answers:
        call = answer.get("call_id")
        part = {"type": "tool_call_response", **({"id": call} if call else {}), "response": answer["content"]}
        yield {"role": "tool", "parts": [part]}


def _message(m: Mapping[str, Any]) -> dict[str, Any]:
    role = _ROLES.get(str(m.get("role")), m.get("role") or "assistant")
    parts: list[dict[str, Any]] = []
    held = m.get("contents")
    blocks = [b for b in held if isinstance(b, dict)] if isinstance(held, list) else []
    if any(_answered_by(b) for b in blocks):
        return {"role": "tool", "parts": [_answer(b) for b in blocks]}
    for block in blocks:
        parts += _block(block)
    content = m.get("content")
    call_id = m.get("tool_call_id")
    if role == "tool" or call_id:
        answer: dict[str, Any] = {"type": "tool_call_response"}
        if call_id:
            answer["id"] = call_id
        if m.get("name"):
            answer["name"] = m["name"]
        answer["response"] = content if content is not None else "\n".join(p.get("content", "") for p in parts)
        return {"role": "tool", "parts": [answer]}
    if isinstance(content, str) and content and not parts:
        parts.insert(0, {"type": "text", "content": content})
    if not any(p["type"] == "tool_call" for p in parts):
        calls = m.get("tool_calls")
        parts += [_call(c["tool_call"]) for c in calls or () if isinstance(c, dict) and isinstance(c.get("tool_call"), dict)]
    out: dict[str, Any] = {"role": role, "parts": parts}
    if m.get("name") and role != "assistant":
        out["name"] = m["name"]
    return out


def _answered_by(block: Mapping[str, Any]) -> Any:
    """The id of the call that a block of a message answers by itself (BeeAI)."""
    inner = block.get("message")
    return inner.get("tool_call_id") if isinstance(inner, dict) else None


def _answer(block: Mapping[str, Any]) -> dict[str, Any]:
    call, held = _answered_by(block), _block(block)
    part = {"type": "tool_call_response", **({"id": call} if call else {})}
    return {**part, "response": "\n".join(str(p.get("content", "")) for p in held)} if held else part


def _block(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    inner = block.get("message_content")
    call = block.get("tool_call")
    if isinstance(call, dict):
        return [_call(call)]
    if not isinstance(inner, dict):
        return []
    if isinstance(inner.get("text"), str):
        kind = "reasoning" if inner.get("type") in ("reasoning", "thinking") else "text"
        return [{"type": kind, "content": inner["text"]}]
    image = inner.get("image")
    if isinstance(image, dict) and isinstance(image.get("image"), dict):
        return [{"type": "uri", "modality": "image", "uri": image["image"].get("url")}]
    return [{**inner, "type": str(inner.get("type") or "unknown")}]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    out: dict[str, Any] = {"type": "tool_call"}
    if call.get("id"):
        out["id"] = call["id"]
    out["name"] = function.get("name")
    if "arguments" in function:
        out["arguments"] = read_arguments(function["arguments"])
    return out


def create_result(body: Any) -> Message | None:
    """The reply in AutoGen's ``CreateResult``: text, or calls with what was said beside them as ``thought``; else None."""
    if not isinstance(body, dict) or not {"content", "finish_reason", "thought"} <= body.keys():
        return None
    content, thought = body["content"], body["thought"]
    beside = [{"type": "text" if isinstance(content, list) else "reasoning", "content": thought}] if thought else []
    if isinstance(content, str):
        return Message({"role": "assistant", "parts": [*beside, {"type": "text", "content": content}]})
    if isinstance(content, list) and all(isinstance(c, dict) for c in content):
        calls = [_call({"id": c.get("id"), "function": c}) for c in content]
        return Message({"role": "assistant", "parts": [*beside, *calls]})
    return None
