"""The agent: an ordinary tool loop. What makes it replayable are the decorators, here and in ``shop.py`` and ``model.py``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import otelreplay
from examples.order_desk import shop
from examples.order_desk.model import chat

SYSTEM = """You are the order desk of a bicycle shop. Today is {today}. Use the tools.
Keep to the first of these policies that applies:
{policies}"""


@otelreplay.agent(name="order-desk")
def answer(question: str) -> str:
    """The agent as it ran that night: it takes the policies in the order in which the search gave them."""
    return work(question, shop.search_policies("refund for a late delivery"))


@otelreplay.agent(name="order-desk")
def answer_by_newest_policy(question: str) -> str:
    """The agent as it should have been: the newest policy comes first."""
    found = shop.search_policies("refund for a late delivery")
    return work(question, sorted(found, key=lambda policy: policy["since"], reverse=True))


def work(question: str, policies: list[dict[str, Any]]) -> str:
    """Ask the model, run the tools that it asks for, until it answers."""
    today = datetime.fromtimestamp(otelreplay.clock(), UTC).date()
    rules = "\n".join(f"- {policy['text']}" for policy in policies)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM.format(today=today, policies=rules)},
        {"role": "user", "content": question},
    ]
    while True:
        message = read(chat("scripted-1", messages, tools=shop.DEFINITIONS, temperature=0.0))
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for call in message["tool_calls"]:
            result = use(call["function"]["name"], json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})


def use(name: str, arguments: dict[str, Any]) -> Any:
    """Run one tool. A payment gets a new id, so that repeating the request does not repeat the payment."""
    if name == "refund":
        arguments["request_id"] = otelreplay.new_id()
    return shop.TOOLS[name](**arguments)


def read(chunks: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """The message that a streamed answer amounts to."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    for chunk in chunks:
        delta = chunk["choices"][0]["delta"]
        message["content"] += delta.get("content") or ""
        for piece in delta.get("tool_calls") or []:
            calls = message.setdefault("tool_calls", [])
            if piece["index"] == len(calls):
                calls.append({"id": piece["id"], "type": "function", "function": {**piece["function"], "arguments": ""}})
            calls[piece["index"]]["function"]["arguments"] += piece["function"].get("arguments", "")
    return message
