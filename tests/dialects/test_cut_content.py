"""Content that a length limit cut: what is whole is read, and the rest is a gap, never a message."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.dialects import genai, genai_events, observed
from otelreplay.dialects.values import whole_members
from otelreplay.spans import SpanEvent
from tests.dialects.views import absent, read, said

MODEL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def spoken(*events):
    return tuple(SpanEvent(name=f"gen_ai.{n}", time=at, attributes=held) for at, (n, held) in enumerate(events))


ASKED = ("user.message", {"content": "Where is it?"})
SYSTEM = ("system.message", {"content": "be brief"})
REPLY = ("choice", {"message": "It left.", "finish_reason": "stop"})


def got(*events, limit=40):
    return read(genai_events.DIALECT, MODEL, events=spoken(*events), limit=limit)


def test_whole_events_are_messages():
    found = got(SYSTEM, ASKED, REPLY)
    assert said(found.fields["request.messages"] + found.fields["response.messages"]) == [
        ("user", ["Where is it?"]), ("assistant", ["It left."]),
    ]  # fmt: skip
    assert absent(found) == {}


@pytest.mark.parametrize("cut", ['[{"toolResult": {"toolUseId": "c1", "cont', "x" * 40])
def test_an_event_that_was_cut_takes_its_side_with_it_and_no_other(cut):
    asked = got(SYSTEM, ASKED, ("tool.message", {"content": cut}), REPLY)
    assert absent(asked) == {"request.messages": "truncated"}
    assert "tool.message" in asked.gaps[0].detail
    assert said(asked.fields["response.messages"]) == [("assistant", ["It left."])]
    told = got(SYSTEM, ASKED, ("choice", {"message": cut, "finish_reason": "stop"}))
    assert absent(told) == {"response.messages": "truncated"}
    assert said(told.fields["request.messages"]) == [("user", ["Where is it?"])]


def test_text_that_a_person_began_like_json_is_text():
    found = got(("user.message", {"content": "[todo] find it"}), REPLY)
    assert said(found.fields["request.messages"]) == [("user", ["[todo] find it"])]


ASK = [{"type": "text", "content": "Where is it?"}]
TEXT = json.dumps([{"role": "user", "parts": ASK}])
DETAILS = "gen_ai.client.inference.operation.details"


@pytest.mark.parametrize("held", [TEXT, [{"role": "user", "parts": ASK}]])
def test_a_whole_value_in_the_details_takes_the_place_of_a_cut_one(held):
    attributes = {**MODEL, "gen_ai.input.messages": TEXT[:40]}
    details = SpanEvent(name=DETAILS, time=1, attributes={"gen_ai.input.messages": held, "event.name": DETAILS})
    found = read(genai.DIALECT, attributes, events=(details,), limit=40)
    assert said(found.fields["request.messages"]) == [("user", ["Where is it?"])]
    assert "request.messages" not in absent(found)


def test_a_value_that_is_cut_in_both_places_stays_a_gap():
    attributes = {**MODEL, "gen_ai.input.messages": TEXT[:40]}
    details = SpanEvent(name=DETAILS, time=1, attributes={"gen_ai.input.messages": TEXT[:40]})
    assert absent(read(genai.DIALECT, attributes, events=(details,), limit=40))["request.messages"] == "truncated"


BODY = {"model": "m", "messages": [{"role": "user", "content": "Where is it?"}], "n": 12, "tools": [{"name": "find"}]}
WHOLE = json.dumps(BODY)


@given(st.integers(0, len(WHOLE)))
def test_of_an_object_that_breaks_off_only_what_is_whole_is_read(cut):
    found = whole_members(WHOLE[:cut])
    assert found.items() <= BODY.items()
    assert list(found) == list(BODY)[: len(found)]
    if cut < len(WHOLE) - 1:
        assert len(found) < len(BODY)


def test_a_number_that_may_go_on_is_not_whole():
    assert whole_members('{"a": 1, "n": 12') == {"a": 1}
    assert whole_members('{"a": 1, "n": 12,') == {"a": 1, "n": 12}


@pytest.mark.parametrize("text", ["", "[1", '{"a"', '{"a" 1', "{1: 2", '{"a": tru', "text", '{"a": "b'])
def test_what_holds_no_whole_member_gives_none(text):
    assert whole_members(text) == {}


def test_messages_that_stand_whole_in_front_of_a_cut_are_messages_and_what_follows_is_a_gap():
    held = {"langwatch.span.type": "llm", "langwatch.input": WHOLE[:-6], "langwatch.output": "hi"}
    found = read(observed.DIALECT, held)
    assert said(found.fields["request.messages"]) == [("user", ["Where is it?"])]
    assert absent(found) == {"request.system": "truncated", "request.tools": "truncated"}
    assert found.not_sent == frozenset()
    cut = read(observed.DIALECT, {**held, "langwatch.input": WHOLE[:40]})
    assert "request.messages" not in cut.fields
    assert absent(cut)["request.messages"] == "truncated"
