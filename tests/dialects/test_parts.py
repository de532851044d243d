"""Parts of messages that packages write in ways of their own."""

import json

import pytest

from otelreplay.dialects import Interner
from otelreplay.dialects.genai import DIALECT
from otelreplay.dialects.genai_events import DIALECT as EVENTS
from otelreplay.dialects.values import normal_messages, one_message, read_messages
from tests.dialects.views import absent, read, said

MODEL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def printed(text):
    (message,) = read_messages([{"role": "assistant", "parts": [{"type": "text", "content": text}]}], Interner())
    return message["parts"]


def test_the_printed_form_of_a_call_object_is_the_call():
    text = "ResponseFunctionToolCall(arguments='{\"a\": 1}', call_id='c1', name='look', type='function_call', id='fc_1')"
    assert printed(text) == [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}]


@pytest.mark.parametrize(
    "text",
    ["ResponseFunctionToolCall(", "ResponseFunctionToolCall(name=open('x'), arguments=1)", "ResponseFunctionToolCall(name='x')",
     "I called ResponseFunctionToolCall(name='x', arguments='{}')", "ResponseFunctionToolCall(name='x') or y"],
)  # fmt: skip
def test_other_text_stays_text(text):
    assert printed(text) == [{"type": "text", "content": text}]


def test_a_content_block_that_stands_beside_its_call_is_not_text():
    block = json.dumps({"type": "tool_use", "id": "c1", "name": "look", "input": {}})
    call = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {}}
    (message,) = read_messages([{"role": "assistant", "parts": [{"type": "text", "content": block}, call]}], Interner())
    assert message["parts"] == [call]
    other = {**call, "id": "c2"}
    (message,) = read_messages([{"role": "assistant", "parts": [{"type": "text", "content": block}, other]}], Interner())
    assert len(message["parts"]) == 2


def test_parts_without_content_are_marked_with_the_switch_that_records_it():
    bare = [{"type": "text"}, {"type": "tool_call", "id": "c1", "name": "look"}, {"type": "tool_call_response", "id": "c1"}]
    whole = {"type": "tool_call", "id": "c2", "name": "look", "arguments": None}
    (message,) = read_messages([{"role": "user", "parts": [*bare, whole]}], Interner(), remedy="switch it on")
    assert {m.field: m.remedy for m in message.marks} == dict.fromkeys(
        ["parts[0].content", "parts[1].arguments", "parts[2].response"], "switch it on"
    )


def test_the_chunks_of_a_reply_are_one_message():
    chunks = [{"role": "assistant", "parts": [{"type": "text", "content": c}]} for c in ("a", "b")]
    assert one_message(chunks) == [{"role": "assistant", "parts": [{"type": "text", "content": "ab"}]}]
    assert one_message([]) == []


def test_a_system_prompt_that_stands_twice_is_one():
    system = [{"type": "text", "content": "be brief"}]
    asked = [{"role": "system", "parts": system}, {"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
    held = {**MODEL, "gen_ai.input.messages": json.dumps(asked), "gen_ai.system_instructions": json.dumps(system)}
    assert read(DIALECT, held).fields["request.system"] == system


def test_a_package_that_records_no_system_prompt_says_so():
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])
    got = read(DIALECT, {**MODEL, "gen_ai.input.messages": asked}, scope="opentelemetry.instrumentation.openai_agents")
    assert absent(got)["request.system"] == "not_carried_by_convention"


def test_openlit_s_replies_of_the_responses_api_may_lack_calls():
    reply = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {}}]}])
    held = {**MODEL, "gen_ai.output.messages": reply}
    for api, fields in (("responses", ["response.messages[0].parts"]), ("chat_completions", [])):
        got = read(DIALECT, {**held, "openai.api.type": api}, scope="openlit.instrumentation.openai")
        assert [m.field for m in got.marks if m.field.startswith("response.messages")] == fields


def test_the_anthropic_sdk_s_own_finish_reason_is_one():
    held = {**MODEL, "anthropic.message.stop_reason": "tool_use"}
    assert read(DIALECT, held).fields["response.finish_reasons"] == ["tool_use"]


def test_langchain_s_callback_is_unwrapped_on_a_tool_of_the_genai_conventions():
    callback = {"input_str": "{'a': 1}", "inputs": None, "kwargs": {"tool_call_id": "c1"}}
    answer = {"output": {"type": "tool", "data": {"content": "home", "tool_call_id": "c1"}}}
    held = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look",
            "gen_ai.tool.call.arguments": json.dumps(callback), "gen_ai.tool.call.result": json.dumps(answer)}  # fmt: skip
    got = read(DIALECT, held)
    assert got.fields == {"request.arguments": {"a": 1}, "request.call_id": "c1", "response.result": "home"}


def test_lines_of_text_tell_that_a_turn_had_none():
    asked = 'system: be brief\nuser: where?\nassistant: None\ntool: {"at": 1}\nmore'
    got = read(EVENTS, {"gen_ai.prompt": asked, "gen_ai.completion": ""})
    assert said(got.fields["request.messages"]) == [("user", ["where?"]), ("assistant", []), ("tool", ['{"at": 1}\nmore'])]
    assert [m.field for m in got.fields["request.messages"][1].marks] == ["parts"]
    assert absent(got)["response.messages"] == "not_carried_by_convention"
    empty = read(EVENTS, {"gen_ai.completion": "", "gen_ai.response.finish_reasons": ["stop"]})
    assert said(empty.fields["response.messages"]) == [("assistant", [""])]


def test_calls_and_the_id_of_a_call_that_stand_beside_the_parts_go_into_them():
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}
    (asked,) = normal_messages({"role": "assistant", "parts": [{"type": "text", "content": "well"}], "tool_calls": [call]})
    assert asked == {
        "role": "assistant",
        "parts": [
            {"type": "text", "content": "well"},
            {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"a": 1}},
        ],
    }
    (told,) = normal_messages({"role": "tool", "parts": [{"type": "text", "content": "42"}], "tool_call_id": "c1"})
    assert told == {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "42"}]}
    (silent,) = normal_messages({"role": "tool", "parts": [], "tool_call_id": "c1"})
    assert silent["parts"] == [{"type": "tool_call_response", "id": "c1"}]


def test_calls_that_stand_in_the_parts_are_not_taken_twice():
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    part = {"type": "tool_call", "id": "c1", "name": "find", "arguments": {}}
    (message,) = normal_messages({"role": "assistant", "parts": [part], "tool_calls": [call]})
    assert message["parts"] == [part]
    answered = {"type": "tool_call_response", "id": "c1", "response": "42"}
    (message,) = normal_messages({"role": "tool", "parts": [answered], "tool_call_id": "c1"})
    assert message["parts"] == [answered]


TRACELOOP = "@traceloop/instrumentation-openai"
ITEMS = [
    {"role": "user", "content": "hello"},
    {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"a": 1}'},
    {"type": "function_call_output", "call_id": "c1", "output": "42"},
]


def in_text(items, reply, scope):
    asked = [{"role": "user", "parts": [{"type": "text", "content": json.dumps(items)}]}]
    gave = [{"role": "assistant", "parts": [{"type": "text", "content": reply}], "finish_reason": "stop"}]
    held = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    held |= {"gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": json.dumps(gave)}
    return read(DIALECT, held, scope=scope)


def test_items_that_a_package_wrote_as_one_text_are_its_messages():
    got = in_text(ITEMS, "it is late", TRACELOOP)
    assert said(got.fields["request.messages"]) == [("user", ["hello"]), ("assistant", [{"a": 1}]), ("tool", ["42"])]
    assert said(got.fields["response.messages"]) == [("assistant", ["it is late"])]
    assert {"request.system", "request.tools"} <= absent(got).keys()
    assert "response.messages" in absent(in_text(ITEMS, "", TRACELOOP))


def test_json_that_a_user_says_is_text_and_an_empty_reply_is_one():
    got = in_text(ITEMS, "", "other")
    assert said(got.fields["request.messages"]) == [("user", [json.dumps(ITEMS)])]
    assert said(got.fields["response.messages"]) == [("assistant", [""])]
    assert said(in_text("hello", "hi", TRACELOOP).fields["request.messages"]) == [("user", ['"hello"'])]
