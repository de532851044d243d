"""Replies that are choices, messages of Bedrock's Converse API, and spans that hold messages in two forms."""

import json

from otelreplay.dialects import genai, genai_events, indexed, openinference
from otelreplay.spans import LogRecord
from tests.dialects.views import read, said

CALL = {"type": "tool_call", "id": "t1", "name": "look", "arguments": {"a": 1}}
USE = {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"a": 1}}}
ANSWER = {"toolResult": {"toolUseId": "t1", "content": [{"text": '{"b": 2}'}]}}
OPENAI_CALL = {"id": "t1", "type": "function", "function": {"name": "look", "arguments": {"a": 1}}}
MODEL = {"gen_ai.operation.name": "chat", "gen_ai.system": "p", "gen_ai.request.model": "m"}


def test_choices_among_the_output_messages_are_their_messages():
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello", "tool_calls": None}}
    got = read(genai.DIALECT, {**MODEL, "gen_ai.output.messages": json.dumps([choice])}).fields
    assert said(got["response.messages"]) == [("assistant", ["hello"])]
    assert got["response.finish_reasons"] == ["stop"]


def test_the_stop_reason_beside_a_message_is_its_finish_reason():
    message = {"role": "assistant", "content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn"}
    got = read(genai.DIALECT, {**MODEL, "gen_ai.output.messages": json.dumps([message])}).fields
    assert got["response.finish_reasons"] == ["end_turn"]
    assert said(got["response.messages"]) == [("assistant", ["hello"])]


def test_numbered_messages_give_way_to_whole_ones_and_keep_the_system_prompt():
    whole = json.dumps([{"role": "user", "content": "hello"}])
    numbered = {
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "be brief",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": "half of it",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "half",
    }
    got = read(indexed.DIALECT, {**numbered, "gen_ai.input.messages": whole, "gen_ai.output.messages": whole}).fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert "request.messages" not in got
    assert "response.messages" not in got
    alone = read(indexed.DIALECT, {**numbered, "gen_ai.input.messages": "[]"}).fields
    assert said(alone["request.messages"]) == [("user", ["half of it"])]


def test_a_list_of_converse_messages_is_the_request():
    messages = [
        {"role": "user", "content": [{"text": "hello"}]},
        {"role": "assistant", "content": [{"text": "so"}, USE]},
        {"role": "user", "content": [ANSWER, {"text": "and?"}]},
    ]
    tool = {"toolSpec": {"name": "look", "description": "d", "inputSchema": {"json": {"type": "object"}}}}
    attributes = {
        "openinference.span.kind": "LLM",
        "input.value": json.dumps(messages),
        "input.mime_type": "application/json",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": "be brief",
        "llm.tools.0.tool.json_schema": json.dumps(tool),
        "llm.invocation_parameters": '{"maxTokens": 9, "topP": 1}',
    }
    got = read(openinference.DIALECT, attributes).fields
    assert said(got["request.messages"]) == [
        ("user", ["hello"]),
        ("assistant", ["so", {"a": 1}]),
        ("tool", [{"b": 2}]),
        ("user", ["and?"]),
    ]
    assert got["request.messages"][1]["parts"][1] == CALL
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert got["request.tools"] == [{"type": "function", "name": "look", "description": "d", "parameters": {"type": "object"}}]
    assert got["request.params"] == {"max_tokens": 9, "top_p": 1}


def records(*bodies):
    return [
        LogRecord(trace_id="a" * 32, span_id="b" * 16, time=n, event_name=f"gen_ai.{name}", body=body)
        for n, (name, body) in enumerate(bodies, 1)
    ]


def test_records_with_converse_blocks_tell_calls_and_answers_once():
    told = records(
        ("user.message", {"content": [{"text": "hello"}]}),
        ("assistant.message", {"content": [USE], "tool_calls": [OPENAI_CALL]}),
        ("tool.message", {"id": "t1", "content": [{"text": '{"b": 2}'}]}),
        ("user.message", {"content": [ANSWER]}),
        ("choice", {"index": 0, "finish_reason": "end_turn", "message": {"role": "assistant", "content": [{"text": "done"}]}}),
    )
    got = read(genai_events.DIALECT, MODEL, logs=told).fields
    assert said(got["request.messages"]) == [("user", ["hello"]), ("assistant", [{"a": 1}]), ("tool", [{"b": 2}])]
    assert said(got["response.messages"]) == [("assistant", ["done"])]


def test_an_answer_to_another_call_is_kept():
    other = {"toolResult": {"toolUseId": "t2", "content": [{"json": 3}]}}
    told = records(("tool.message", {"id": "t1", "content": "one"}), ("user.message", {"content": [other]}))
    got = read(genai_events.DIALECT, MODEL, logs=told).fields
    assert said(got["request.messages"]) == [("tool", ["one"]), ("tool", [3])]
