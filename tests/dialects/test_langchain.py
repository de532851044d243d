"""LangChain's serialisations of messages, and what frameworks put around a tool's arguments and result."""

import json

import pytest

from otelreplay.dialects import Interner
from otelreplay.dialects.langchain import is_message, messages_of, reply_of, request_of
from otelreplay.dialects.toolio import answer_in, arguments_of, call_id_of, result_of, unwrapped


def built(kind, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", kind], "kwargs": kwargs}


def generations(**kwargs):
    return {"generations": [[{"text": "", "message": built("AIMessage", **kwargs)}]]}


@pytest.mark.parametrize(
    "value",
    [built("HumanMessage", content="hi"), {"type": "human", "content": "hi"}, {"type": "human", "data": {"content": "hi"}},
     {"role": "user", "content": "hi"}],
)  # fmt: skip
def test_every_form_of_a_message_is_the_same_message(value):
    assert is_message(value)
    assert messages_of(value) == [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]


@pytest.mark.parametrize("value", [7, {}, {"content": "hi"}, {"type": "other", "content": "hi"}, built("HumanMessage")])
def test_what_has_no_role_or_no_content_is_no_message(value):
    assert not is_message(value)


def test_a_call_that_stands_in_the_content_as_well_is_one_call():
    block = {"type": "tool_use", "id": "c1", "name": "look", "input": {"id": 1}}
    told = built(
        "AIMessage",
        content=[{"type": "text", "text": "so"}, block],
        tool_calls=[{"name": "look", "args": {"id": 1}, "id": "c1"}],
    )
    (message,) = messages_of(told)
    assert [p["type"] for p in message["parts"]] == ["text", "tool_call"]


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [({"response_metadata": {"id": "resp-1"}, "id": "run-7"}, "resp-1"), ({"id": "resp-2"}, "resp-2"), ({"id": "run-7"}, None),
     ({"id": "lc_run--7"}, None)],
)  # fmt: skip
def test_an_id_that_the_framework_made_is_no_response_id(kwargs, expected):
    assert reply_of(generations(content="hi", **kwargs), Interner()).get("response.id") == expected


def test_other_bodies_are_no_messages():
    for body in (None, 7, {}, {"messages": "x"}, {"messages": [1]}, {"generations": [[{"text": "x"}]]}):
        assert request_of(body, Interner()) == {}
        assert reply_of(body, Interner()) == {}


CALLBACK = {"input_str": "{'id': 1}", "tags": [], "metadata": {}, "inputs": {"id": 1}, "kwargs": {"tool_call_id": "c1"}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("home", "home"),
        ("5", 5),
        ("{'id': 1}", {"id": 1}),
        ("{'id': open('x')}", "{'id': open('x')}"),
        ('{"kwargs": {"id": 1}}', {"id": 1}),
        ('{"args": [], "kwargs": {"id": 1}}', {"id": 1}),
        ('{"args": [1], "kwargs": {}}', {"args": [1], "kwargs": {}}),
        ('{"kwargs": 7}', {"kwargs": 7}),
        (json.dumps(CALLBACK), {"id": 1}),
        (json.dumps({**CALLBACK, "inputs": None}), {"id": 1}),
        ('{"input_str": "a", "city": "b"}', {"input_str": "a", "city": "b"}),
    ],
)
def test_arguments_lose_what_a_package_put_around_them_and_nothing_else(value, expected):
    assert arguments_of(value) == expected


def test_a_protocol_s_request_is_unwrapped_for_the_tool_that_it_names_only():
    given = {"tool_name": "look", "arguments": {"id": 1}}
    assert unwrapped(given, "look") == {"id": 1}
    assert unwrapped(given, "other") == given
    assert unwrapped(given) == given


def test_the_id_of_the_call_is_found_where_a_callback_or_an_answer_tells_it():
    assert call_id_of(json.dumps(CALLBACK)) == "c1"
    assert call_id_of('{"kwargs": {"tool_call_id": "c1"}}') == ""
    told = built("ToolMessage", content='{"at": "home"}', tool_call_id="c1")
    assert result_of(json.dumps({"output": told})) == ("c1", {"at": "home"})
    assert result_of(json.dumps(told)) == ("c1", {"at": "home"})


def test_a_result_of_its_own_is_left_as_it_is():
    for value in ({"output": 1}, {"output": {"type": "tool", "content": 1}}, {"raw_output": 1}, [1], "x"):
        assert answer_in(value) is None
    assert answer_in({"blocks": [], "tool_name": "look", "raw_output": {"at": 1}, "is_error": False}) == ("", {"at": 1})
