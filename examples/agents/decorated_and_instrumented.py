"""Decorated, and traced by another package as well: each call leaves several spans, and is still one event.

The decorated span gives the exact values; the package's span inside it adds what only the SDK knows: the response's id, usage.
"""

from __future__ import annotations

import json
import os
from typing import Any

import openai
from openai.types.chat import ChatCompletion
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

import otelreplay
from examples.agents import only_configure
from examples.agents import scripted_openai as scripted

TOOLS = {name: otelreplay.tool(function) for name, function in only_configure.TOOLS.items()}


@otelreplay.model(provider="openai")
def complete(messages: list[Any]) -> ChatCompletion:
    """One call of the SDK. The model and the temperature are chosen here, so that only the package's span shows them."""
    client = openai.OpenAI(base_url=scripted.base_url(), api_key="none-needed")
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages, temperature=0.2)


@otelreplay.agent(name="support-desk")
def answer(question: str) -> str:
    """Ask, use the tools that the model wants, ask again."""
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        message = complete(messages).choices[0].message
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
    otelreplay.configure(service_name="decorated-and-instrumented")
    OpenAIInstrumentor().instrument()
    print(answer(only_configure.QUESTION))
    otelreplay.flush()


if __name__ == "__main__":
    main()
