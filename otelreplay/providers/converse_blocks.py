"""Content blocks of Bedrock's Converse API, wherever they stand: ``{"text"} | {"toolUse": {…}} | {"toolResult": {…}}``."""

from __future__ import annotations

import re
from typing import Any, Final

from otelreplay.canonical import read_json
from otelreplay.providers.messages import Message, parted

_BLOCKS: Final = frozenset(
    {"text", "toolUse", "toolResult", "reasoningContent", "image", "document", "video", "cachePoint", "guardContent", "json"}
)
_OPENING: Final = re.compile(rf'\s*\[\s*\{{\s*"(?:{"|".join(sorted(_BLOCKS))})"\s*:')


def are_blocks(value: Any) -> bool:
    """Is it a list of such blocks, and nothing else?"""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(b, dict) and "type" not in b and not _BLOCKS.isdisjoint(b) for b in value)
    )


def begin_blocks(text: Any) -> bool:
    """Is it the beginning of such a list, as text that was cut leaves it?"""
    return isinstance(text, str) and _OPENING.match(text) is not None and not read_json(text)[0]


def is_message(message: Any) -> bool:
    """Is it a message whose content is such blocks?"""
    return isinstance(message, dict) and isinstance(message.get("role"), str) and are_blocks(message.get("content"))


def decode_message(message: dict[str, Any]) -> list[Message]:
    """Its messages in the GenAI schema. Calls that stand beside the blocks as well (telemetry has both) are told once."""
    parts = parts_of(message["content"])
    rest = {k: v for k, v in message.items() if k not in ("role", "content")}
    beside = rest.get("tool_calls")
    called = {p["id"] for p in parts if p["type"] == "tool_call" and isinstance(p["id"], str)}
    if isinstance(beside, list) and all(isinstance(c, dict) and str(c.get("id")) in called for c in beside):
        del rest["tool_calls"]
    return parted(message["role"], parts, rest)


def parts_of(blocks: Any) -> list[dict[str, Any]]:
    """The parts of a message in the GenAI schema; what is no list of blocks is text."""
    if not isinstance(blocks, list):
        return [{"type": "text", "content": blocks}]
    return [_part(b) for b in blocks]


def _part(block: Any) -> dict[str, Any]:
    if not isinstance(block, dict):
        return {"type": "text", "content": block}
    if isinstance(block.get("text"), str):
        return {"type": "text", "content": block["text"]}
    use, answer, thought = block.get("toolUse"), block.get("toolResult"), block.get("reasoningContent")
    if isinstance(use, dict):
        return {"type": "tool_call", "id": use.get("toolUseId"), "name": use.get("name"), "arguments": use.get("input")}
    if isinstance(answer, dict):
        return {
            "type": "tool_call_response",
            "id": answer.get("toolUseId"),
            "response": result_of_blocks(answer.get("content")),
        }
    if isinstance(thought, dict) and isinstance(thought.get("reasoningText"), dict):
        text = thought["reasoningText"]
        return {"type": "reasoning", "content": text.get("text"), **{k: v for k, v in text.items() if k != "text"}}
    return {"type": "generic", "value": block}


def result_of_blocks(blocks: Any) -> Any:
    """One block of text or JSON is what it holds; several stay blocks."""
    if isinstance(blocks, list) and len(blocks) == 1 and isinstance(blocks[0], dict):
        (block,) = blocks
        if block.keys() == {"text"}:
            return _json_of(block["text"])
        if block.keys() == {"json"}:
            return block["json"]
    return blocks


def _json_of(value: Any) -> Any:
    known, inner = read_json(value) if isinstance(value, str) else (False, None)
    return inner if known else value
