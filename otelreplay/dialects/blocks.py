"""Content blocks of Bedrock's Converse API, wherever they stand: ``{"text"} | {"toolUse": {…}} | {"toolResult": {…}}``."""

from __future__ import annotations

from typing import Any, Final

from otelreplay.dialects.wire import json_of

_BLOCKS: Final = frozenset(
    {"text", "toolUse", "toolResult", "reasoningContent", "image", "document", "video", "cachePoint", "guardContent", "json"}
)


def are_blocks(value: Any) -> bool:
    """Is it a list of such blocks, and nothing else?"""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(b, dict) and "type" not in b and not _BLOCKS.isdisjoint(b) for b in value)
    )


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
            return json_of(block["text"])
        if block.keys() == {"json"}:
            return block["json"]
    return blocks
