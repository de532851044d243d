"""Spans of OpenInference under names that begin with ``gen_ai.``, as the traceAI packages write them."""

from otelreplay.dialects import openinference
from tests.dialects.views import read, said

MODEL = {
    "gen_ai.span.kind": "LLM",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "m-2024-07-18",
    "gen_ai.request.parameters": '{"model": "m", "temperature": 0}',
    "gen_ai.tool.definitions.0.tool.json_schema": '{"type": "function", "function": {"name": "look"}}',
    "gen_ai.usage.input_tokens": 7,
    "input.value": "be brief",
    "gen_ai.input.messages.0.message.role": "system",
    "gen_ai.input.messages.0.message.content": "be brief",
    "gen_ai.input.messages.1.message.role": "user",
    "gen_ai.input.messages.1.message.content": "hello",
    "output.value": "Function: look({})",
    "gen_ai.output.messages.0.message.role": "assistant",
    "gen_ai.output.messages.0.message.tool_calls.0.tool_call.id": "c1",
    "gen_ai.output.messages.0.message.tool_calls.0.tool_call.function.name": "look",
    "gen_ai.output.messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
}


def test_a_model_call_is_read_under_the_other_names():
    reading = read(openinference.DIALECT, MODEL)
    got = reading.fields
    assert reading.kind == "model"
    assert got["request.model"] == "m"
    assert got["request.params"] == {"temperature": 0}
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert said(got["request.messages"]) == [("user", ["hello"])]
    call = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}
    assert got["response.messages"][0]["parts"] == [call]
    assert got["request.tools"] == [{"type": "function", "name": "look"}]
    assert got["response.usage"] == {"input_tokens": 7}
    assert "gen_ai.input.messages.1.message.content" in reading.taken
    assert reading.taken <= MODEL.keys()


def test_a_tool_is_read_under_the_other_names():
    attributes = {
        "gen_ai.span.kind": "TOOL",
        "gen_ai.tool.name": "look",
        "input.value": '{"a": 1}',
        "input.mime_type": "application/json",
        "output.value": '{"b": 2}',
        "output.mime_type": "application/json",
    }
    reading = read(openinference.DIALECT, attributes)
    assert (reading.kind, reading.name) == ("tool", "look")
    assert reading.fields["request.arguments"] == {"a": 1}
    assert reading.fields["response.result"] == {"b": 2}


def test_the_kind_alone_does_not_tell_this_convention():
    attributes = {"gen_ai.span.kind": "LLM", "gen_ai.input.messages": "[]", "gen_ai.request.model": "m"}
    assert read_or_none(attributes) is None


def read_or_none(attributes):
    from otelreplay.dialects import Interner, SpanView
    from otelreplay.spans import Span

    span = Span(trace_id="a" * 32, span_id="b" * 16, attributes=attributes)
    return openinference.DIALECT.read(SpanView(span=span), Interner())
