"""Content in span events that a length limit cut is a gap, never a message."""

import pytest

from otelreplay.dialects import genai_events
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
