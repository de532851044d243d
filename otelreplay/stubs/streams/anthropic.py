"""Anthropic messages as a stream.

``message_start`` with all that is known before the first word, each block between its start and its stop, ``message_delta``
with why it ended and the tokens, ``message_stop``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from otelreplay.providers.fields import as_dict, as_list
from otelreplay.providers.parts import write_arguments
from otelreplay.stubs.streams.cutting import slices, words

Value = dict[str, Any]

_ENDING: Final = ("stop_reason", "stop_sequence", "stop_details", "container")
"""What is known when the message ends: sent with its end, null before."""


def pieces(body: Value) -> list[Value]:
    """The events of a response."""
    usage = as_dict(body.get("usage"))
    ending = {key: body[key] for key in _ENDING if key in body}
    start: Value = {**body, **dict.fromkeys(ending), "content": [], "usage": {**usage, "output_tokens": 0}}
    events: list[Value] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(as_list(body.get("content"))):
        events += ({**event, "index": index} for event in _block(block))
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 0, **usage}})
    return [*events, {"type": "message_stop"}]


def _block(block: Any) -> Iterator[Value]:
    empty, deltas = _opened(block) if isinstance(block, dict) else (block, [])
    yield {"type": "content_block_start", "content_block": empty}
    yield from ({"type": "content_block_delta", "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop"}


def _opened(block: Value) -> tuple[Value, list[Value]]:
    """(the block as it starts, what is added to it)."""
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        deltas = [{"type": "text_delta", "text": piece} for piece in words(block["text"])]
        cited = block.get("citations")
        if isinstance(cited, list) and cited:
            deltas += ({"type": "citations_delta", "citation": citation} for citation in cited)
            return {**block, "text": "", "citations": []}, deltas
        return {**block, "text": ""}, deltas
    if kind == "thinking" and isinstance(block.get("thinking"), str):
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in words(block["thinking"])]
        if isinstance(block.get("signature"), str) and block["signature"]:
            return {**block, "thinking": "", "signature": ""}, [*deltas, _signed(block["signature"])]
        return {**block, "thinking": ""}, deltas
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use") and block.get("input") not in ({}, ""):
        text = _input(block.get("input"))
        if text is not None:
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in slices(text)]
    return block, []


def _signed(signature: str) -> Value:
    return {"type": "signature_delta", "signature": signature}


def _input(value: Any) -> str | None:
    """Arguments as text that is read back as they are; None where there is none."""
    text = write_arguments(value)
    try:
        same = json.loads(text) == value if not isinstance(value, str) else True
    except (ValueError, RecursionError):
        same = False
    return text if same else None
