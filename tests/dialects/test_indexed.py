"""Messages spelled out by number, and the decorated functions of the packages that do so."""

import json

import pytest

from otelreplay.dialects import SpanView, entities, genai, indexed
from otelreplay.spans import Span
from otelreplay.testing.dialects import check_dialect


def read(dialect, attributes, **span):
    return check_dialect(
        dialect.DIALECT, SpanView(span=Span(trace_id="a" * 32, span_id="b" * 16, attributes=attributes, **span))
    )


CHAT = {
    "gen_ai.system": "openai",
    "gen_ai.request.model": "m",
    "gen_ai.request.functions.0.name": "look",
    "gen_ai.request.functions.0.parameters": '{"type": "object"}',
    "gen_ai.request.temperature": 0,
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "be brief",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "hello",
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "look",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"a": 1}',
    "gen_ai.prompt.10.role": "tool",
    "gen_ai.prompt.10.tool_call_id": "c1",
    "gen_ai.prompt.10.content": "two",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "done",
    "gen_ai.completion.0.finish_reason": "stop",
}


def test_numbered_messages_are_messages_in_the_order_of_their_numbers():
    got = read(indexed, CHAT).fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert [(m["role"], m["parts"]) for m in got["request.messages"]] == [
        ("user", [{"type": "text", "content": "hello"}]),
        ("assistant", [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}]),
        ("tool", [{"type": "tool_call_response", "id": "c1", "response": "two"}]),
    ]
    assert got["response.messages"][0]["parts"] == [{"type": "text", "content": "done"}]
    assert got["response.finish_reasons"] == ["stop"]
    assert got["request.tools"] == [{"type": "function", "name": "look", "parameters": {"type": "object"}}]


def test_tools_that_are_spelled_out_are_no_params():
    assert read(genai, CHAT).fields["request.params"] == {"temperature": 0}


def test_completions_that_are_one_call_each_are_one_reply():
    calls = {
        f"gen_ai.completion.{n}.{k}": v
        for n in range(2)
        for k, v in {
            "role": "assistant",
            "finish_reason": "tool_calls",
            "function_call.name": "look",
            "function_call.arguments": json.dumps({"n": n}),
        }.items()
    }
    (message,) = read(indexed, calls).fields["response.messages"]
    assert [p["arguments"] for p in message["parts"]] == [{"n": 0}, {"n": 1}]


def test_a_function_of_which_only_the_name_is_told_has_no_schema_and_a_call_no_arguments():
    told = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hello", "gen_ai.request.functions.0.name": "look",
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.tool_calls.0.name": "look"}  # fmt: skip
    got = read(indexed, told).fields
    assert got["request.tools"] == [{"type": "function", "name": "look"}]
    assert got["response.messages"][0]["parts"] == [{"type": "tool_call", "name": "look"}]


def test_messages_that_stand_in_the_newer_attribute_too_are_read_from_there():
    newer = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "all of it"}]}])
    older = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "a part"}
    assert "request.messages" not in read(indexed, {**older, "gen_ai.input.messages": newer}).fields
    assert "request.messages" in read(indexed, older).fields
    said = {"gen_ai.completion.0.function_call.name": "find", "gen_ai.completion.0.function_call.arguments": "{}"}
    empty = json.dumps([{"role": "assistant", "parts": [], "finish_reason": "tool_calls"}])
    assert "response.messages" in read(indexed, {**said, "gen_ai.output.messages": empty}).fields


def test_an_empty_reply_is_no_absent_reply():
    got = read(indexed, {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": ""})
    assert got.fields["response.messages"][0]["parts"] == [{"type": "text", "content": ""}]
    bare = read(indexed, {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "stop"})
    assert "response.messages" in {g.field for g in bare.gaps}


@pytest.mark.parametrize(
    ("kind", "given", "got"),
    [
        ("traceloop.span.kind", "traceloop.entity.input", "traceloop.entity.output"),
        ("agentops.span.kind", "agentops.tool.input", "agentops.tool.output"),
    ],
)
def test_a_decorated_tool_has_arguments_by_name_and_its_result(kind, given, got):
    attributes = {kind: "tool", given: '{"args": [], "kwargs": {"a": 1}}', got: '{"b": 2}', "operation.name": "look"}
    reading = read(entities, attributes)
    assert (reading.kind, reading.name) == ("tool", "look")
    assert reading.fields == {"request.arguments": {"a": 1}, "response.result": {"b": 2}}


def test_a_workflow_is_an_agent_and_a_task_is_no_boundary():
    assert read(entities, {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}).kind == "agent"
    assert read(entities, {"traceloop.span.kind": "task"}) is None


def test_what_was_not_captured_names_the_switch():
    gaps = read(entities, {"traceloop.span.kind": "tool"}).gaps
    assert {g.field for g in gaps} == {"request.arguments", "response.result"}
    assert all("TRACELOOP_TRACE_CONTENT" in g.remedy for g in gaps)


def test_a_request_of_the_model_context_protocol_is_unwrapped_with_its_result():
    held = {"traceloop.span.kind": "tool", "traceloop.entity.name": "look"}
    given = '{"tool_name": "look", "arguments": {"a": 1}}'
    got = read(entities, {**held, "traceloop.entity.input": given, "traceloop.entity.output": '{"result": "42"}'})
    assert got.fields == {"request.arguments": {"a": 1}, "response.result": 42}
    plain = read(entities, {**held, "traceloop.entity.input": '{"a": 1}', "traceloop.entity.output": '{"result": "42"}'})
    assert plain.fields["response.result"] == {"result": "42"}


def test_langchain_s_callback_tells_the_call_of_a_tool():
    given = '{"input_str": "{\'a\': 1}", "inputs": {"a": 1}, "tags": [], "kwargs": {"tool_call_id": "c1"}}'
    got = read(entities, {"traceloop.span.kind": "tool", "traceloop.entity.input": given})
    assert got.fields == {"request.arguments": {"a": 1}, "request.call_id": "c1"}
