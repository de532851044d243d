"""The support desk: an ordinary tool loop over the OpenAI SDK, and the telemetry that somebody had switched on for it.

Model calls are traced by opentelemetry-instrumentation-genai-openai; the agent and its tools by OpenTelemetry's own GenAI
helper. Nothing here knows of otelreplay.
"""

from __future__ import annotations

import json
from typing import Any

import openai
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.types import InputMessage, OutputMessage, Text

SYSTEM = "You are the support desk of a bicycle shop. Use the tools; never invent an order."
ASKED = (
    "My orders A-1001 and A-1002 have not arrived. You can reach me at customer.1001@example.com or +1 202-555-0143. "
    "Is a refund due?"
)
ORDERS = {
    "A-1001": {"order_id": "A-1001", "status": "shipped", "days_late": 9, "shipping_fee": 4.0, "parcel_id": "P-77310",
               "contact": {"email": "customer.1001@example.com", "phone": "+1 202-555-0143"}},
    "A-1002": {"order_id": "A-1002", "status": "delivered", "days_late": 0, "shipping_fee": 4.0, "parcel_id": "P-77311",
               "contact": {"email": "customer.1001@example.com", "phone": "+1 202-555-0143"}},
}  # fmt: skip


def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up an order by its id."""
    return ORDERS[order_id]


def track_parcel(parcel_id: str) -> dict[str, Any]:
    """Ask the carrier where a parcel is."""
    # A key that ends up in an error message, as it happens. It has the shape of one and opens nothing.
    raise PermissionError(f"carrier refused parcel {parcel_id}: key sk-proj-NotARealKey00000000000000000000000demo is revoked")


def draft_refund(order_id: str, amount: float, reason: str) -> dict[str, Any]:
    """Draft a refund for a person to approve."""
    return {
        "refund_id": "RF-204",
        "order_id": order_id,
        "amount": amount,
        "currency": "EUR",
        "reason": reason,
        "state": "drafted",
    }


TOOLS = {f.__name__: f for f in (lookup_order, track_parcel, draft_refund)}
TYPES = {"str": "string", "float": "number"}
DEFINITIONS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f.__doc__,
            "parameters": {
                "type": "object",
                "properties": {k: {"type": TYPES[str(v)]} for k, v in f.__annotations__.items() if k != "return"},
                "required": [k for k in f.__annotations__ if k != "return"],
            },
        },
    }
    for name, f in TOOLS.items()
]


def use_tool(handler: TelemetryHandler, name: str, arguments: dict[str, Any], call_id: str) -> str:
    """Run a tool inside a span; its failure becomes the text that the model is given."""
    try:
        with handler.tool(name, tool_type="function") as span:
            span.tool_call_id, span.tool_description, span.arguments = call_id, TOOLS[name].__doc__, arguments
            span.tool_result = result = TOOLS[name](**arguments)
    except PermissionError as error:
        return json.dumps({"error": str(error)})
    return json.dumps(result)


def answer(handler: TelemetryHandler, client: openai.OpenAI) -> str:
    """The agent: ask, use the tools that the model wants, ask again."""
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}]
    while True:
        completion = client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=DEFINITIONS, temperature=0.2, max_completion_tokens=400
        )
        message = completion.choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
        for call in message.tool_calls:
            result = use_tool(handler, call.function.name, json.loads(call.function.arguments), call.id)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def main() -> None:
    """One run of the agent, traced and exported."""
    resource = Resource.create({"service.name": "support-desk", "service.version": "2.4.1"})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), max_export_batch_size=3))
    trace.set_tracer_provider(provider)
    OpenAIInstrumentor().instrument()
    handler = TelemetryHandler()
    with handler.invoke_local_agent(agent_name="support-desk", request_model="gpt-4o-mini") as span:
        span.system_instruction = [Text(content=SYSTEM)]
        span.input_messages = [InputMessage(role="user", parts=[Text(content=ASKED)])]
        text = answer(handler, openai.OpenAI())
        span.output_messages = [OutputMessage(role="assistant", parts=[Text(content=text)], finish_reason="stop")]
    provider.shutdown()
    print(text)


if __name__ == "__main__":
    main()
