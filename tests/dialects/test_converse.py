"""Span events in the blocks of Bedrock's Converse API, as Strands Agents writes them."""

import json

import pytest

from otelreplay.dialects import Interner, SpanView, genai, genai_events
from otelreplay.dialects.converse import DIALECT
from otelreplay.spans import Span, SpanEvent
from otelreplay.testing.dialects import check_dialect

USE = [{"toolUse": {"toolUseId": "c1", "name": "look", "input": {"a": 1}}}]
RESULT = [{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": '{"b": 2}'}]}}]


def view(operation, *events, limit=0, **attributes):
    made = tuple(
        SpanEvent(name=f"gen_ai.{name}", attributes={k: v if isinstance(v, str) else json.dumps(v) for k, v in held.items()})
        for name, held in events
    )
    spelled = {"gen_ai.operation.name": operation, **{k.replace("__", "."): v for k, v in attributes.items()}}
    return SpanView(span=Span(trace_id="a" * 32, span_id="b" * 16, attributes=spelled, events=made), limit=limit)


def chat(**more):
    return view(
        "chat",
        ("system.message", {"content": [{"text": "be brief"}]}),
        ("user.message", {"content": [{"text": "hello"}]}),
        ("assistant.message", {"content": USE}),
        ("tool.message", {"content": RESULT}),
        ("choice", {"message": [{"text": "done"}], "finish_reason": "end_turn"}),
        **more,
    )


def test_blocks_are_messages():
    reading = check_dialect(DIALECT, chat(gen_ai__request__model="m"))
    got = reading.fields
    assert reading.name == "m"
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert [(m["role"], m["parts"]) for m in got["request.messages"]] == [
        ("user", [{"type": "text", "content": "hello"}]),
        ("assistant", [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}]),
        ("tool", [{"type": "tool_call_response", "id": "c1", "response": {"b": 2}}]),
    ]
    assert got["response.messages"][0]["parts"] == [{"type": "text", "content": "done"}]
    assert got["response.finish_reasons"] == ["end_turn"]


def test_a_tool_s_events_are_its_arguments_and_its_result():
    tool = view(
        "execute_tool",
        ("tool.message", {"role": "tool", "content": {"a": 1}, "id": "c1"}),
        ("choice", {"message": [{"text": '{"b": 2}'}], "id": "c1"}),
        gen_ai__tool__name="look",
    )
    got = check_dialect(DIALECT, tool)
    assert got.name == "look"
    assert got.fields == {"request.call_id": "c1", "request.arguments": {"a": 1}, "response.result": {"b": 2}}


def test_an_agent_and_its_cycles_repeat_events_that_are_not_theirs():
    for operation in ("invoke_agent", "execute_event_loop_cycle"):
        repeated = view(operation, ("user.message", {"content": [{"text": "hello"}]}), ("choice", {"message": USE}))
        assert DIALECT.read(repeated, Interner()) is None
        assert genai_events.DIALECT.read(repeated, Interner()) is None


def test_an_event_that_was_cut_is_a_gap():
    text = json.dumps([{"text": "x" * 40}])[:30]
    cut = view("chat", ("user.message", {"content": [{"text": "hello"}]}), ("choice", {"message": text}), limit=30)
    assert {g.field: g.cause for g in check_dialect(DIALECT, cut).gaps}["response.messages"] == "truncated"


def test_a_message_of_the_request_that_was_cut_takes_the_history_and_not_the_reply():
    text = json.dumps([{"text": "x" * 40}])[:30]
    cut = view("chat", ("user.message", {"content": text}), ("choice", {"message": [{"text": "done"}]}), limit=30)
    got = check_dialect(DIALECT, cut)
    assert {g.field: g.cause for g in got.gaps}["request.messages"] == "truncated"
    assert "request.messages" not in got.fields
    assert got.fields["response.messages"][0]["parts"] == [{"type": "text", "content": "done"}]
    assert "response.finish_reasons" not in got.fields


@pytest.mark.parametrize("lost", ["request.arguments", "response.result"])
def test_of_a_tool_what_was_cut_is_a_gap_and_what_is_whole_stays(lost):
    text = json.dumps([{"text": "x" * 40}])[:30]
    asked = text if lost == "request.arguments" else {"a": 1}
    told = text if lost == "response.result" else [{"text": "done"}]
    cut = view("execute_tool", ("tool.message", {"content": asked, "id": "c1"}), ("choice", {"message": told}), limit=30)
    got = check_dialect(DIALECT, cut)
    whole = {"request.arguments": {"a": 1}, "response.result": "done"}
    assert got.fields == {"request.call_id": "c1", **{k: v for k, v in whole.items() if k != lost}}
    assert {g.field: g.cause for g in got.gaps}[lost] == "truncated"


def test_what_a_tool_that_failed_said_is_no_result():
    events = (("tool.message", {"content": {"a": 1}}), ("choice", {"message": [{"text": "gone"}]}))
    failed = view("execute_tool", *events, error__type="ValueError")
    got = check_dialect(DIALECT, failed)
    assert (got.fields["request.arguments"], got.fields["error"].type) == ({"a": 1}, "ValueError")
    assert "response.result" not in got.fields


def test_other_conventions_events_are_left_to_them():
    assert DIALECT.read(view("chat", ("user.message", {"content": "hello"})), Interner()) is None
    assert DIALECT.read(view("chat", ("choice", {"message": [{"type": "text", "text": "x"}]})), Interner()) is None


def test_details_may_be_several_span_events_each_with_a_part_of_the_content():
    details = "client.inference.operation.details"
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": "hello"}]}]
    told = view(
        "chat",
        (details, {"gen_ai.input.messages": asked}),
        (details, {"gen_ai.output.messages": said}),
        gen_ai__provider__name="p",
    )
    got = check_dialect(genai.DIALECT, told)
    assert [m["parts"] for m in got.fields["request.messages"]] == [asked[0]["parts"]]
    assert [m["parts"] for m in got.fields["response.messages"]] == [said[0]["parts"]]
    assert not got.took_logs
