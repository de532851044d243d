"""Synthetic traces of an agent, deterministic: conversations that grow by an assistant turn and a tool result a call.

The text is cut from the help topics of Python's standard library (700 KB of English and code), at a place of its own for each
message, so that nothing compresses or deduplicates better than real text would. A few messages hold a secret or an address, as
real ones do.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pydoc_data import topics
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

Attributes = dict[str, Any]

_TEXT = "\n".join(topics.topics[name] for name in sorted(topics.topics))
_START = 1_790_000_000_000_000_000
_RESOURCE = {"service.name": "agent", "telemetry.sdk.language": "python", "telemetry.sdk.version": "1.45.2"}
_SCOPE = ("opentelemetry.instrumentation.genai.openai", "1.0")
_SECRETS = (
    "sk-"
    + "proj-"
    + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3",  # in parts: no scanner shall take this file for a leak
    "AKIA" + "IOSFODNN7EXAMPLE",
    "jane.doe@example.com",
)
_SECRET_RATE = 0.02
_TOOLS = json.dumps(
    [
        {
            "type": "function",
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}},
        }
        for name, description in (
            ("read_file", "Read a file from the workspace"),
            ("grep", "Search for a pattern"),
            ("run_tests", "Run the tests"),
        )
    ]
)


@dataclass(frozen=True)
class SpanData:
    """One span as plain values."""

    trace_id: bytes
    span_id: bytes
    parent: bytes
    name: str
    start: int
    end: int
    attributes: Attributes


def conversation(rng: random.Random, *, calls: int, turn_bytes: int, start: int = _START) -> Iterator[SpanData]:
    """One run: an agent's span and ``calls`` model calls, each of which repeats the history and adds ``turn_bytes`` to it."""
    trace_id, root = rng.randbytes(16), rng.randbytes(8)
    second = 1_000_000_000
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder", "gen_ai.provider.name": "openai"}
    yield SpanData(trace_id, root, b"", "invoke_agent coder", start, start + (calls + 1) * second, agent)
    history: list[dict[str, Any]] = [{"role": "user", "parts": [{"type": "text", "content": _words(rng, 300)}]}]
    for number in range(calls):
        call_id = f"call_{rng.getrandbits(64):016x}"
        said: dict[str, Any] = {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": _words(rng, turn_bytes // 3)},
                {
                    "type": "tool_call",
                    "id": call_id,
                    "name": "read_file",
                    "arguments": {"path": f"src/m{number}.py", "limit": 200},
                },
            ],
        }
        begin = start + (number + 1) * second
        yield SpanData(
            trace_id,
            rng.randbytes(8),
            root,
            "chat gpt-5-mini",
            begin,
            begin + 800_000_000,
            _chat(rng, trace_id, number, history, said),
        )
        told = _words(rng, turn_bytes - turn_bytes // 3)
        result = {"type": "tool_call_response", "id": call_id, "response": told}
        history = [*history, said, {"role": "tool", "parts": [result]}]


def _chat(rng: random.Random, trace_id: bytes, number: int, history: list[Any], said: dict[str, Any]) -> Attributes:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5-mini",
        "gen_ai.response.model": "gpt-5-mini-2026-08-07",
        "gen_ai.response.id": f"chatcmpl-{rng.getrandbits(96):024x}",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 4096,
        "gen_ai.usage.input_tokens": 900 + 130 * number,
        "gen_ai.usage.output_tokens": 120 + number,
        "gen_ai.conversation.id": trace_id.hex(),
        "gen_ai.agent.name": "coder",
        "server.address": "api.example.com",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.tool.definitions": _TOOLS,
        "gen_ai.input.messages": json.dumps(history),
        "gen_ai.output.messages": json.dumps([{**said, "finish_reason": "tool_call"}]),
    }


def chat_spans(count: int, *, seed: int = 1) -> Iterator[list[SpanData]]:
    """Runs of 20 spans each, about 6 KB a model call as protobuf, ``count`` spans in all."""
    rng = random.Random(seed)
    for number in range(count // 20):
        yield list(conversation(rng, calls=19, turn_bytes=172, start=_START + number * 60_000_000_000))


def _words(rng: random.Random, size: int) -> str:
    at = rng.randrange(len(_TEXT) - size - 1)
    text = _TEXT[at : at + size]
    if rng.random() < _SECRET_RATE:
        text = f"{text[:20]} {rng.choice(_SECRETS)} {text[20:]}"
    return text


def as_protobuf(spans: list[SpanData]) -> bytes:
    """The spans as one TracesData message. Several, one behind the other, are one message as well."""
    data = TracesData()
    group = data.resource_spans.add()
    group.resource.attributes.extend(KeyValue(key=key, value=_any(value)) for key, value in _RESOURCE.items())
    scoped = group.scope_spans.add()
    scoped.scope.name, scoped.scope.version = _SCOPE
    for span in spans:
        made = scoped.spans.add(
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_span_id=span.parent,
            name=span.name,
            kind=Span.SPAN_KIND_CLIENT if span.parent else Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=span.start,
            end_time_unix_nano=span.end,
            flags=257,
        )
        made.attributes.extend(KeyValue(key=key, value=_any(value)) for key, value in span.attributes.items())
        made.status.code = Status.STATUS_CODE_OK
    return data.SerializeToString()


def _any(value: Any) -> AnyValue:
    match value:
        case str():
            return AnyValue(string_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case _:
            return AnyValue(array_value=ArrayValue(values=[_any(each) for each in value]))


def as_json(spans: list[SpanData]) -> bytes:
    """The spans as one line of OTLP JSON."""
    resource = {"attributes": [{"key": key, "value": _json(value)} for key, value in _RESOURCE.items()]}
    written = [
        {
            "traceId": span.trace_id.hex(),
            "spanId": span.span_id.hex(),
            "parentSpanId": span.parent.hex(),
            "flags": 257,
            "name": span.name,
            "kind": 3 if span.parent else 1,
            "startTimeUnixNano": str(span.start),
            "endTimeUnixNano": str(span.end),
            "attributes": [{"key": key, "value": _json(value)} for key, value in span.attributes.items()],
            "status": {"code": 1},
        }
        for span in spans
    ]
    scope = {"name": _SCOPE[0], "version": _SCOPE[1]}
    document = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": written}]}]}
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def _json(value: Any) -> dict[str, Any]:
    match value:
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"arrayValue": {"values": [_json(each) for each in value]}}
