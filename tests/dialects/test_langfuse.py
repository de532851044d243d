"""Langfuse's observations."""

import json

import pytest

from otelreplay.dialects.langfuse import DIALECT
from tests.dialects.views import read, said

AT = "langfuse.observation."


def observation(kind, given=None, gave=None, /, **more):
    held = {f"{AT}type": kind} | {
        AT + k.replace("__", "."): v if isinstance(v, str) else json.dumps(v) for k, v in more.items()
    }
    for at, value in (("input", given), ("output", gave)):
        if value is not None:
            held[AT + at] = value if isinstance(value, str) else json.dumps(value)
    return read(DIALECT, held, name="span")


ASKED = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]
REPLY = {"role": "assistant", "content": "hi"}
ITEM = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}


@pytest.mark.parametrize("given", [ASKED, {"messages": ASKED}])
@pytest.mark.parametrize("gave", [REPLY, [REPLY], "hi", ITEM, [ITEM]])
def test_a_generation_has_messages_in_every_form_that_the_sdk_writes(given, gave):
    got = observation("generation", given, gave, model__name="m-1")
    assert (got.kind, got.name, got.fields["response.model"]) == ("model", "m-1", "m-1")
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]
    assert said(got.fields["request.messages"]) == [("user", ["hello"])]
    assert said(got.fields["response.messages"]) == [("assistant", ["hi"])]


def test_items_of_the_responses_api_are_messages():
    given = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}]
    assert said(observation("generation", given).fields["request.messages"]) == [("user", ["hello"])]


def test_a_prompt_that_is_text_is_what_was_said():
    got = observation("generation", "hello", "hi").fields
    assert said(got["request.messages"]) == [("user", ["hello"])]


@pytest.mark.parametrize("gave", ["None", "null", [], [1]])
def test_a_reply_of_no_shape_is_left_where_it_is(gave):
    got = observation("generation", ASKED, gave)
    assert "response.messages" not in got.fields
    assert f"{AT}output" not in got.taken


@pytest.mark.parametrize("gave", ["", {}, []])
def test_a_generation_that_failed_has_no_reply(gave):
    got = observation("generation", ASKED, json.dumps(gave), level="ERROR", status_message="rate limit")
    assert got.fields["error"].message == "rate limit"
    assert "response.messages" not in got.fields


def test_an_input_of_no_shape_is_left_where_it_is():
    got = observation("generation", {"a": 1}, REPLY)
    assert "request.messages" not in got.fields
    assert f"{AT}input" not in got.taken


def test_params_that_the_sdk_filled_in_were_not_sent():
    params = {"temperature": 1, "max_tokens": "Infinity", "top_p": 0.5, "seed": None}
    assert observation("generation", ASKED, REPLY, model__parameters=params).fields["request.params"] == {"top_p": 0.5}
    assert "request.params" not in observation("generation", ASKED, REPLY, model__parameters={"temperature": 1}).fields


def test_usage_is_what_was_counted():
    got = observation("generation", ASKED, REPLY, usage_details={"input": 3, "output": 1, "total": 4}).fields
    assert got["response.usage"] == {"input_tokens": 3, "output_tokens": 1}
    assert "response.usage" not in observation("generation", ASKED, REPLY, usage_details={"total": 4}).fields


def test_metadata_holds_instructions_the_id_of_a_response_and_how_it_ended():
    given = [{"role": "user", "content": "hello"}]
    more = {"metadata__instructions": "be brief", "metadata__id": "resp_1", "metadata__finish_reason": "stop"}
    got = observation("generation", given, REPLY, **more).fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert (got["response.id"], got["response.finish_reasons"]) == ("resp_1", ["stop"])
    assert "response.id" not in observation("generation", given, REPLY, metadata__id="order-1").fields


def test_a_decorated_tool_has_its_arguments_by_name_and_its_result():
    got = observation("tool", {"args": [], "kwargs": {"order": "A-1"}}, {"state": "sent"})
    assert (got.fields["request.arguments"], got.fields["response.result"]) == ({"order": "A-1"}, {"state": "sent"})
    positional = {"args": ["A-1"], "kwargs": {}}
    assert observation("tool", positional).fields["request.arguments"] == positional
    assert "response.result" not in observation("tool", positional, {"a": 1}, level="ERROR").fields


def test_agents_retrievers_and_embeddings_hold_what_went_in():
    assert observation("agent", {"args": [], "kwargs": {"q": 1}}, "done").fields["request.input"] == {"q": 1}
    assert observation("retriever", "orders", ["a"]).fields["request.query"] == "orders"
    assert observation("embedding", ["a"]).fields["request.inputs"] == ["a"]


def test_plain_spans_are_not_read():
    assert observation("span", "a", "b") is None
    assert read(DIALECT, {f"{AT}type": 7}) is None


def test_a_reply_of_nothing_but_calls_has_no_role_in_what_was_put_together_from_a_stream():
    call = {"function": {"name": "find", "arguments": '{"a": 1}'}}
    got = observation("generation", ASKED, {"tool_calls": [call]}).fields["response.messages"]
    assert said(got) == [("assistant", [{"a": 1}])]


@pytest.mark.parametrize(("name", "asked"), [("m-1", "m-1"), ("m-1-2024-07-18", None), ("m-20240718", None)])
def test_a_model_s_name_without_a_date_is_the_one_that_was_asked_for(name, asked):
    got = observation("generation", ASKED, REPLY, model__name=name)
    assert (got.fields["response.model"], got.fields.get("request.model")) == (name, asked)
