"""Logfire's own attributes, and the two spans that a stream leaves."""

import json

from otelreplay.dialects import SpanView
from otelreplay.dialects.logfire import DIALECT
from otelreplay.reconstruct import reconstruct
from otelreplay.spans import Span
from otelreplay.testing.dialects import check_dialect

ASKED = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}


def attributes(template="Chat Completion", /, **more):
    spelled = {k.replace("__", "."): v if isinstance(v, str) else json.dumps(v) for k, v in more.items()}
    return {"logfire.msg_template": template, **spelled}


def read(template="Chat Completion", /, **more):
    span = Span(trace_id="a" * 32, span_id="b" * 16, name="span", attributes=attributes(template, **more))
    return check_dialect(DIALECT, SpanView(span=span))


def parts(messages):
    return [part for message in messages for part in message["parts"]]


def test_bodies_of_a_chat_call():
    got = read(
        gen_ai__request__model="m",
        request_data={"model": "m", "messages": ASKED, "temperature": 0},
        response_data={"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}, "usage": {}},
    ).fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert parts(got["request.messages"]) == [{"type": "text", "content": "hello"}]
    assert got["request.params"] == {"temperature": 0}
    assert parts(got["response.messages"]) == [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}]


def event(kind, **body):
    return {"event.name": f"gen_ai.{kind}.message", **body}


def test_of_a_list_of_events_what_the_assistant_says_last_is_the_reply():
    events = [
        event("system", role="system", content="be brief"),
        event("user", role="user", content="hello"),
        event("assistant", role="assistant", tool_calls=[CALL]),
        event("tool", role="tool", id="c1", content="two"),
        event("assistant", role="assistant", content="done"),
    ]
    got = read(gen_ai__request__model="m", events=events).fields
    assert [m["role"] for m in got["request.messages"]] == ["user", "assistant", "tool"]
    assert parts(got["request.messages"])[-1] == {"type": "tool_call_response", "id": "c1", "response": "two"}
    assert parts(got["response.messages"]) == [{"type": "text", "content": "done"}]
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]


def test_the_agents_sdk_has_the_whole_response_and_the_raw_input():
    response = {
        "id": "resp_1",
        "object": "response",
        "instructions": "be brief",
        "output": [{"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}"}],
    }
    got = read(gen_ai__request__model="m", response=response, raw_input=[{"role": "user", "content": "hello"}]).fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert parts(got["request.messages"]) == [{"type": "text", "content": "hello"}]
    assert [p["id"] for p in parts(got["response.messages"])] == ["c1"]
    assert got["response.id"] == "resp_1"


def test_a_function_of_an_agent_is_a_tool_also_when_it_failed():
    tool = read("Function: {name}", name="look", input={"a": 1}, output="two")
    assert (tool.kind, tool.name, tool.fields) == ("tool", "look", {"request.arguments": {"a": 1}, "response.result": "two"})
    failed = read("Function: {name}", name="look", input={}, error={"message": "no", "data": {"error": "gone"}})
    assert failed.fields["error"].message == "gone"


def test_what_was_scrubbed_is_missing():
    scrubbed = read(gen_ai__request__model="m", request_data="[Scrubbed due to 'session']")
    assert "request.messages" in {g.field for g in scrubbed.gaps}


def stream(n):
    asked = {"model": "m", "messages": [{"role": "user", "content": f"hello {n}"}]}
    both = {"gen_ai__request__model": "m", "gen_ai__system": "openai", "request_data": asked}
    said = {"message": {"role": "assistant", "content": f"hi {n}"}}
    told = attributes("streaming response", **both, response_data=said, logfire__span_type="log")
    at = 10 * n
    call = Span(trace_id="a" * 32, span_id=f"{n}1" * 8, name="Chat", start=at + 1, end=at + 2, attributes=attributes(**both))
    tell = Span(trace_id="a" * 32, span_id=f"{n}2" * 8, name="streaming", start=at + 5, end=at + 5, attributes=told)
    return [call, tell]


def test_the_two_spans_of_a_stream_are_one_call_with_its_reply():
    recording = reconstruct([*stream(1), *stream(2)], [])
    calls = [e for e in recording.events if e.kind == "model"]
    assert [parts(e.response["messages"])[0]["content"] for e in calls] == ["hi 1", "hi 2"]
    assert [(e.start, e.end) for e in calls] == [("11", "15"), ("21", "25")]
    assert all(len(e.spans) == 2 for e in calls)


def test_a_reply_that_was_told_is_not_given_to_a_call_that_asked_something_else():
    (other, _), (_, told) = stream(1), stream(2)
    calls = [e for e in reconstruct([other, told], []).events if e.kind == "model"]
    assert len(calls) == 2


def test_settings_of_a_model_are_its_params_where_they_were_set():
    asked = {"gen_ai__request__model": "m", "input": ASKED}
    got = read(**asked, model_settings={"temperature": 0.5, "top_p": None, "retries": 2}).fields
    assert got["request.params"] == {"temperature": 0.5}
    assert parts(got["request.messages"]) == [{"type": "text", "content": "hello"}]
    assert "request.params" not in read(**asked, model_settings={"retries": 2}).fields


def test_a_stream_is_the_text_that_its_chunks_joined_to():
    held = {"gen_ai__request__model": "m", "request_data": {"messages": ASKED, "model": "m"}}
    got = read(**held, response_data={"combined_chunk_content": "hi", "chunk_count": 2}).fields
    assert parts(got["response.messages"]) == [{"type": "text", "content": "hi"}]


def test_a_reply_may_be_a_list_of_messages():
    got = read(gen_ai__request__model="m", input=ASKED, output=[{"role": "assistant", "content": "hi"}, "?"]).fields
    assert parts(got["response.messages"]) == [{"type": "text", "content": "hi"}]


def test_events_beside_a_body_add_the_system_prompt_and_the_reply():
    told = [event("system", role="system", content="be brief"), event("user", role="user", content="hello")]
    choice = {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "hi"}}
    held = {"gen_ai__request__model": "m", "raw_input": [{"role": "user", "content": "hello"}]}
    got = read(**held, events=[*told, choice]).fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert parts(got["request.messages"]) == [{"type": "text", "content": "hello"}]
    assert parts(got["response.messages"]) == [{"type": "text", "content": "hi"}]
    alone = read(**held, events=[told[1]]).fields
    assert not alone.keys() & {"request.system", "response.messages"}


def test_a_list_of_events_without_a_system_prompt_or_a_reply_has_none():
    got = read(gen_ai__request__model="m", events=[event("user", role="user", content="hello")]).fields
    assert parts(got["request.messages"]) == [{"type": "text", "content": "hello"}]
    assert not got.keys() & {"request.system", "response.messages"}


def test_the_whole_response_may_be_without_instructions():
    response = {"id": "resp_1", "object": "response", "output": [{"type": "message", "role": "assistant", "content": []}]}
    assert "request.system" not in read(gen_ai__request__model="m", response=response).fields
