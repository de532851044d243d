"""Turns whose calls stand in the place of their text, and prompts that tell of a turn nothing but that it was (Langtrace)."""

import json

from otelreplay.dialects import genai, genai_events, openinference
from otelreplay.spans import SpanEvent
from tests.dialects.views import read, said

MODEL = {"gen_ai.operation.name": "chat", "gen_ai.system": "p", "gen_ai.request.model": "m"}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}


def event(kind, messages):
    return SpanEvent(name=f"gen_ai.content.{kind}", time=1, attributes={f"gen_ai.{kind}": json.dumps(messages)})


def test_a_list_of_calls_as_content_is_the_calls_of_the_turn():
    events = (event("completion", [{"role": "assistant", "content": [CALL]}]),)
    got = read(genai_events.DIALECT, MODEL, events=events).fields
    assert got["response.messages"][0]["parts"] == [
        {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}},
    ]


def test_a_list_of_bare_ids_in_a_prompt_is_a_turn_without_parts():
    asked = [
        {"role": "user", "content": "hello"},
        [{"id": "", "type": ""}],
        {"role": "tool", "tool_call_id": "c1", "content": "two"},
    ]
    got = read(genai_events.DIALECT, MODEL, events=(event("prompt", asked),)).fields
    assert said(got["request.messages"]) == [("user", ["hello"]), ("assistant", []), ("tool", ["two"])]


def test_tools_among_the_parameters_are_the_tools():
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    for held in ([json.dumps([tool])], json.dumps([json.dumps([tool])]), json.dumps([json.dumps(tool)]), json.dumps([tool])):
        got = read(genai.DIALECT, {**MODEL, "gen_ai.request.tools": held, "gen_ai.request.temperature": 0}).fields
        assert got["request.tools"] == [{"type": "function", "name": "look", "parameters": {"type": "object"}}]
    assert got["request.params"] == {"temperature": 0}


def test_the_system_prompt_among_the_invocation_parameters_is_read():
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.invocation_parameters": '{"system": "be brief", "max_tokens": 9}',
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "hello",
    }
    got = read(openinference.DIALECT, attributes).fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert got["request.params"] == {"max_tokens": 9}
