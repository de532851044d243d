"""No decorator at all: another package traces the OpenAI SDK, and ``otelreplay.configure()`` takes its spans to the receiver.

The model calls are recorded by opentelemetry-instrumentation-genai-openai. The tools leave no span: their calls and results are
read from the messages, and the cassette says so. To replay such an agent, its boundaries need decorators, as in
``decorated_and_instrumented``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import openai
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

import otelreplay
from examples.agents import scripted_openai as scripted

QUESTION = "My orders A-1001 and A-1002 have not arrived. Is a refund due?"


def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up an order by its id."""
    return {"order_id": order_id, "days_late": 9 if order_id == "A-1001" else 0}


def track_parcel(parcel_id: str) -> dict[str, Any]:
    """Ask the carrier where a parcel is."""
    return {"parcel_id": parcel_id, "found": False}


def draft_refund(order_id: str, amount: float, reason: str) -> dict[str, Any]:
    """Draft a refund for a person to approve."""
    return {"order_id": order_id, "amount": amount, "reason": reason, "state": "drafted"}


TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    "lookup_order": lookup_order,
    "track_parcel": track_parcel,
    "draft_refund": draft_refund,
}


def answer(question: str) -> str:
    """Ask, use the tools that the model wants, ask again."""
    client = openai.OpenAI(base_url=scripted.base_url(), api_key="none-needed")
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        completion = client.chat.completions.create(model="gpt-4o-mini", messages=messages, temperature=0.2)
        message = completion.choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
        for call in message.tool_calls:
            assert call.type == "function", "the script asks for nothing else"
            result = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})


def main() -> None:
    """One run, recorded."""
    os.environ.setdefault("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_only")
    otelreplay.configure(service_name="only-configure")
    OpenAIInstrumentor().instrument()
    print(answer(QUESTION))
    otelreplay.flush()


if __name__ == "__main__":
    main()
