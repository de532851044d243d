"""A small tool agent under the instrumentation package that is named: ``python -m tests.live.packages PACKAGE OTLP TRUTH``.

It talks to the scripted provider of the examples, exports to a receiver, and writes what really crossed the wire to a file.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from examples.capture import provider

QUESTION = "Where are my orders A-1001 and A-1002?"
SYSTEM = "You are a support desk. Use the tools."
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name}.",
            "parameters": {"type": "object", "properties": {p: {"type": "string"} for p in parameters}},
        },
    }
    for name, parameters in (
        ("lookup_order", ["order_id"]),
        ("track_parcel", ["parcel_id"]),
        ("draft_refund", ["order_id", "amount", "reason"]),
    )
]


def use(name: str, **arguments: Any) -> str:
    """What a tool answers: a function of what it was asked."""
    return json.dumps({"tool": name, "got": arguments})


def converse(client: Any) -> None:
    """The tool loop, on OpenAI's SDK."""
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    while True:
        done = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS, temperature=0.5)
        message = done.choices[0].message
        if not message.tool_calls:
            return
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for c in message.tool_calls:
            result = use(c.function.name, **json.loads(c.function.arguments))
            messages.append({"role": "tool", "tool_call_id": c.id, "content": result})


def exporting(endpoint: str) -> TracerProvider:
    """A tracer provider of the plain SDK."""
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")))
    trace.set_tracer_provider(made)
    return made


def openai_client() -> Any:
    import openai

    return openai.OpenAI()


def genai(endpoint: str) -> None:
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=exporting(endpoint))
    converse(openai_client())


def openinference(endpoint: str) -> None:
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=exporting(endpoint))
    converse(openai_client())


def openllmetry(endpoint: str) -> None:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=exporting(endpoint))
    converse(openai_client())


def logfire(endpoint: str) -> None:
    import logfire as package

    processor = SimpleSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces"))
    package.configure(
        send_to_logfire=False, console=False, inspect_arguments=False, additional_span_processors=[processor], metrics=False
    )
    package.instrument_openai()
    converse(openai_client())


def langfuse(endpoint: str) -> None:
    from langfuse import Langfuse

    Langfuse(
        public_key="pk-lf-live", secret_key="sk-lf-live", base_url="http://127.0.0.1:9", tracer_provider=exporting(endpoint)
    )
    patched = importlib.import_module("langfuse.openai")  # it patches the SDK as it is imported
    converse(patched.openai.OpenAI())


def pydantic_ai(endpoint: str) -> None:
    from pydantic_ai import Agent, InstrumentationSettings
    from pydantic_ai.models.openai import OpenAIChatModel

    Agent.instrument_all(InstrumentationSettings(tracer_provider=exporting(endpoint)))
    agent = Agent(OpenAIChatModel("gpt-4o-mini"), system_prompt=SYSTEM)

    @agent.tool_plain
    def lookup_order(order_id: str) -> str:
        return use("lookup_order", order_id=order_id)

    @agent.tool_plain
    def track_parcel(parcel_id: str) -> str:
        return use("track_parcel", parcel_id=parcel_id)

    @agent.tool_plain
    def draft_refund(order_id: str, amount: float, reason: str) -> str:
        return use("draft_refund", order_id=order_id, amount=amount, reason=reason)

    agent.run_sync(QUESTION)


PACKAGES: dict[str, tuple[Callable[[str], None], str]] = {
    "genai": (genai, "opentelemetry.instrumentation.genai.openai"),
    "openinference": (openinference, "openinference.instrumentation.openai"),
    "openllmetry": (openllmetry, "opentelemetry.instrumentation.openai"),
    "logfire": (logfire, "logfire"),
    "langfuse": (langfuse, "langfuse"),
    "pydantic_ai": (pydantic_ai, "pydantic_ai"),
}
"""Name → (what runs the agent under it, the module that must be there)."""


def main() -> None:
    """One run."""
    package, endpoint, truth = sys.argv[1:]
    exchanges: list[dict[str, Any]] = []
    answer = provider.reply

    def noted(request: dict[str, Any]) -> dict[str, Any]:
        response = answer(request)
        exchanges.append({"request": request, "response": response})
        return response

    provider.reply = noted
    os.environ |= {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{provider.start()}/v1",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_only",
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    }
    PACKAGES[package][0](endpoint)
    provided = trace.get_tracer_provider()
    if hasattr(provided, "force_flush"):
        provided.force_flush()
    Path(truth).write_text(json.dumps(exchanges), encoding="utf-8")


if __name__ == "__main__":
    main()
