"""The model, scripted: no key, no network, and the same answer every time. It streams chunks as OpenAI's API does.

In an agent of your own this function holds the call of the SDK.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import otelreplay

Chunk = dict[str, Any]


@otelreplay.model(provider="scripted")
def chat(model: str, messages: list[dict[str, Any]], *, tools: list[Any], temperature: float) -> Iterator[Chunk]:  # noqa: ARG001
    """Stream the answer to a conversation."""
    step = len([m for m in messages if m["role"] == "tool"])
    told = {name: value for m in messages if m["role"] == "tool" for name, value in json.loads(m["content"]).items()}
    if step == 0:
        yield from call(step, "lookup_order", {"order_id": "A-1001"})
    elif step == 1:
        yield from call(step, "track_parcel", {"parcel_id": told["parcel_id"]})
    elif step == 2:
        first_policy = messages[0]["content"].split("- ")[1]
        amount = told["total"] if "whole order" in first_policy else told["shipping_fee"]
        yield from call(step, "refund", {"order_id": told["order_id"], "amount": amount})
    else:
        yield from say(f"I am sorry: your parcel is {told['where']}. I have refunded {told['amount']:.2f} EUR.")


def say(text: str) -> Iterator[Chunk]:
    """A text, word by word."""
    for word in re.findall(r"\S+ ?", text):
        yield chunk({"content": word})
    yield chunk({}, finish_reason="stop")


def call(step: int, name: str, arguments: dict[str, Any]) -> Iterator[Chunk]:
    """A call of a tool; its arguments come in two pieces."""
    text = json.dumps(arguments)
    named = {"index": 0, "id": f"call_{step}", "type": "function", "function": {"name": name, "arguments": text[:9]}}
    yield chunk({"tool_calls": [named]})
    yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": text[9:]}}]})
    yield chunk({}, finish_reason="tool_calls")


def chunk(delta: dict[str, Any], *, finish_reason: str | None = None) -> Chunk:
    """One chunk of the stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"object": "chat.completion.chunk", "model": "scripted-1", "choices": [choice]}
