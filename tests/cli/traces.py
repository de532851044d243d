"""Small OTLP/JSON traces, made here: a run of an agent with a model and a tool, in the current GenAI attributes."""

import json

BASE = 1_790_000_000_000_000_000
MS = 1_000_000
SCOPE = {"name": "tests.instrumentation", "version": "1.0"}


def value(v):
    """A Python value as an OTLP AnyValue."""
    if isinstance(v, bool):
        return {"boolValue": v}
    if isinstance(v, int):
        return {"intValue": str(v)}
    if isinstance(v, float):
        return {"doubleValue": v}
    if isinstance(v, list):
        return {"arrayValue": {"values": [value(x) for x in v]}}
    if isinstance(v, dict):
        return {"kvlistValue": {"values": attributes(v)}}
    return {"stringValue": v}


def attributes(given):
    return [{"key": key, "value": value(v)} for key, v in given.items()]


def span(trace, ident, name, *, parent="", start=0, took=10, attrs=None, status=None, **more):
    return {
        "traceId": trace,
        "spanId": ident,
        "parentSpanId": parent,
        "name": name,
        "kind": 3,
        "startTimeUnixNano": str(BASE + start * MS),
        "endTimeUnixNano": str(BASE + (start + took) * MS),
        "attributes": attributes(attrs or {}),
        "status": status or {},
        **more,
    }


def request(*spans, scope=SCOPE, resource=None):
    """One export request."""
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes({"service.name": "order-desk", **(resource or {})})},
                "scopeSpans": [{"scope": scope, "spans": list(spans)}],
            }
        ]
    }


def log_request(*records, scope=SCOPE):
    return {"resourceLogs": [{"resource": {"attributes": []}, "scopeLogs": [{"scope": scope, "logRecords": list(records)}]}]}


def said(role, text):
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def chat(trace, ident, *, parent, start, messages, reply, finish="stop", **attrs):
    given = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.response.model": "gpt-4o-mini",
        "gen_ai.response.id": f"resp-{ident}",
        "gen_ai.usage.input_tokens": 25,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.response.finish_reasons": [finish],
        **attrs,
    }
    if messages is not None:
        given["gen_ai.system_instructions"] = json.dumps([{"type": "text", "content": "You look up orders."}])
        given["gen_ai.input.messages"] = json.dumps(messages)
        given["gen_ai.output.messages"] = json.dumps([{**reply, "finish_reason": finish}])
    return span(trace, ident, "chat gpt-4o-mini", parent=parent, start=start, took=40, attrs=given)


def agent_run(
    trace="0af7651916cd43dd8448eb211c80319c", *, question="Where is order A-17?", content=True, result=None, extra=None
):
    """The spans of one run: an agent that asks a model, runs the tool the model asked for, and asks again."""
    call = {"type": "tool_call", "id": "call_1", "name": "lookup_order", "arguments": {"order": "A-17"}}
    found = result if result is not None else {"status": "shipped", "eta": 3}
    asked = {"role": "assistant", "parts": [call]}
    answered = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": found}]}
    user = said("user", question)
    final = said("assistant", "It was shipped.")
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lookup_order",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1",
    }
    if content:
        tool["gen_ai.tool.call.arguments"] = json.dumps({"order": "A-17"})
        tool["gen_ai.tool.call.result"] = json.dumps(found)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "order-desk", **(extra or {})}
    if content:
        agent["gen_ai.input.messages"] = json.dumps([user])
        agent["gen_ai.output.messages"] = json.dumps([{**final, "finish_reason": "stop"}])
    return [
        span(trace, "00000000000000a1", "invoke_agent order-desk", start=0, took=200, attrs=agent),
        chat(
            trace,
            "00000000000000a2",
            parent="00000000000000a1",
            start=5,
            messages=[user] if content else None,
            reply=asked,
            finish="tool_call",
        ),
        span(trace, "00000000000000a3", "execute_tool lookup_order", parent="00000000000000a1", start=60, took=20, attrs=tool),
        chat(
            trace,
            "00000000000000a4",
            parent="00000000000000a1",
            start=90,
            messages=[user, asked, answered] if content else None,
            reply=final,
        ),
    ]


def lines(*requests):
    """The requests as JSON Lines."""
    return "".join(json.dumps(r) + "\n" for r in requests)
