"""The Vercel AI SDK: its own parts, in the spelling of version 4 and of those after it."""

import json

import pytest

from otelreplay.dialects import SpanView
from otelreplay.dialects.vercel_ai import DIALECT
from otelreplay.spans import Span
from otelreplay.testing.dialects import check_dialect


def read(operation, /, **attributes):
    spelled = {k.replace("__", "."): v if isinstance(v, (str, int, list)) else json.dumps(v) for k, v in attributes.items()}
    view = SpanView(
        span=Span(trace_id="a" * 32, span_id="b" * 16, name="span", attributes={"ai.operationId": operation, **spelled})
    )
    return check_dialect(DIALECT, view)


OLD = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"a": 1}}
NEW = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"a": 1}}
OLD_RESULT = {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "result": {"b": 2}}
NEW_RESULT = {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "output": {"type": "json", "value": {"b": 2}}}


@pytest.mark.parametrize(("call", "result"), [(OLD, OLD_RESULT), (NEW, NEW_RESULT)])
def test_messages_are_read_in_both_spellings(call, result):
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
    ]
    got = read("ai.generateText.doGenerate", ai__prompt__messages=messages, ai__model__id="m").fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert [m["parts"] for m in got["request.messages"]] == [
        [{"type": "text", "content": "hello"}],
        [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}],
        [{"type": "tool_call_response", "id": "c1", "name": "look", "response": {"b": 2}}],
    ]
    assert got["request.model"] == "m"


def test_a_tool_that_answers_with_an_object_of_its_own_keeps_it():
    answer = {"type": "tool-result", "toolCallId": "c1", "output": {"type": "parcel", "value": 3}}
    (message,) = read("x.doStream", ai__prompt__messages=[{"role": "tool", "content": [answer]}]).fields["request.messages"]
    assert message["parts"][0]["response"] == {"type": "parcel", "value": 3}


def test_a_reply_is_its_reasoning_text_and_calls():
    calls = [{"toolCallId": "c1", "toolName": "look", "input": '{"a": 1}'}]
    got = read(
        "ai.streamText.doStream",
        ai__response__reasoning="hm",
        ai__response__text="",
        ai__response__toolCalls=calls,
        ai__response__finishReason="tool-calls",
        ai__usage__promptTokens=3,
        ai__usage__completionTokens=1,
        ai__settings__maxTokens=9,
        ai__settings__maxRetries=2,
        ai__prompt__tools=[json.dumps({"type": "function", "name": "look", "inputSchema": {"type": "object"}})],
    ).fields
    assert got["response.messages"][0]["parts"] == [
        {"type": "reasoning", "content": "hm"},
        {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}},
    ]
    assert got["response.finish_reasons"] == ["tool-calls"]
    assert got["response.usage"] == {"input_tokens": 3, "output_tokens": 1}
    assert got["request.params"] == {"max_tokens": 9}, "how often the SDK tries again is no param of the call"
    assert got["request.tools"] == [{"type": "function", "name": "look", "parameters": {"type": "object"}}]


def test_a_reply_of_no_text_is_no_absent_reply():
    assert read("x.doStream", ai__response__text="").fields["response.messages"][0]["parts"] == [
        {"type": "text", "content": ""}
    ]
    assert "response.messages" in {g.field for g in read("x.doStream").gaps}


def test_a_tool_call_and_the_run_around_it():
    tool = read(
        "ai.toolCall", ai__toolCall__name="look", ai__toolCall__id="c1", ai__toolCall__args={"a": 1}, ai__toolCall__result="two"
    )
    assert (tool.kind, tool.name) == ("tool", "look")
    assert tool.fields == {"request.call_id": "c1", "request.arguments": {"a": 1}, "response.result": "two"}
    run = read("ai.generateText", ai__prompt={"prompt": "hello"}, ai__response__text="hi")
    assert (run.kind, run.fields) == ("agent", {"request.input": {"prompt": "hello"}, "response.output": "hi"})
    hidden = read("ai.toolCall", ai__toolCall__name="look")
    assert {g.field for g in hidden.gaps} == {"request.arguments", "response.result"}


def parts(messages):
    return [part for message in messages for part in message["parts"]]


def test_an_object_that_was_asked_for_is_the_reply():
    got = read("ai.generateObject.doGenerate", ai__model__id="m", ai__response__object='{"n": 1}')
    assert parts(got.fields["response.messages"]) == [{"type": "text", "content": '{"n": 1}'}]


def test_a_tool_that_failed_has_no_result():
    held = {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "look", "ai.toolCall.args": "{}", "ai.toolCall.result": '"x"'}
    failed = Span(trace_id="a" * 32, span_id="b" * 16, name="span", attributes=held, status_code=2)
    got = check_dialect(DIALECT, SpanView(span=failed))
    assert (got.name, got.fields["request.arguments"]) == ("look", {})
    assert "response.result" not in got.fields


def test_an_agent_has_its_prompt_and_its_answer():
    got = read("ai.generateText", ai__prompt='{"prompt": "hello"}', ai__response__text="hi", ai__telemetry__functionId="desk")
    assert (got.kind, got.name) == ("agent", "desk")
    assert (got.fields["request.input"], got.fields["response.output"]) == ({"prompt": "hello"}, "hi")
    made = read("ai.generateObject", ai__prompt='{"prompt": "hello"}', ai__response__object='{"n": 1}')
    assert made.fields["response.output"] == '{"n": 1}'


@pytest.mark.parametrize(
    ("held", "inputs"), [({"ai__values": ['"a"', '"b"']}, ["a", "b"]), ({"ai__value": '"a"'}, "a"), ({}, None)]
)
def test_an_embedding_has_a_model_and_its_inputs(held, inputs):
    got = read("ai.embed.doEmbed", ai__model__id="e", ai__model__provider="openai.embedding", **held)
    assert (got.kind, got.fields["request.model"], got.fields.get("request.inputs")) == ("embeddings", "e", inputs)


def test_a_tool_says_what_it_is_where_it_says_so():
    tools = [
        json.dumps({"type": "function", "name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}),
        '{"name": "bare"}',
    ]
    got = read("x.doGenerate", ai__model__id="m", ai__prompt__tools=tools)
    assert got.fields["request.tools"] == [
        {"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object"}},
        {"type": "function", "name": "bare"},
    ]


def test_calls_and_results_may_lack_id_name_and_arguments_and_other_blocks_are_kept():
    blocks = [
        {"type": "tool-call", "toolName": "look"},
        {"type": "tool-result", "result": 2},
        {"type": "file", "url": "u"},
        "bare",
        {"n": 1},
    ]
    got = read("x.doGenerate", ai__model__id="m", ai__prompt__messages=[{"role": "user", "content": blocks}, {"role": "user"}])
    assert parts(got.fields["request.messages"]) == [
        {"type": "tool_call", "name": "look"}, {"type": "tool_call_response", "response": 2}, {"type": "file", "url": "u"},
        {"type": "text", "content": "bare"}, {"type": "unknown", "n": 1},
    ]  # fmt: skip
