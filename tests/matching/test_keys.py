"""Which components a request has, and what makes two of them equal."""

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.canonical import digest, digest_value, jcs
from otelreplay.events import Event, Kind
from otelreplay.matching import SEMANTICS, VERSION, KeyMemo, component_keys, request_components, request_hash

TEXT = {"type": "text", "content": "Be brief."}
USER = {"role": "user", "parts": [{"type": "text", "content": "hi"}]}


def keys(kind, _name="n", **request):
    return request_components(kind, _name, request)


def test_every_kind_has_its_rule():
    assert set(SEMANTICS) == set(get_args(Kind))
    assert VERSION == "1"


def test_a_model_request_has_a_key_for_each_part_that_matters():
    event = Event(
        seq=0, id="a/b", kind="model", name="chat", start="1", spans=["a/b"],
        request={
            "api": "chat", "provider": "p", "model": "m", "params": {"seed": 1, "top_p": 0.5},
            "system": [TEXT], "messages": [USER], "tools": [{"name": "f"}],
        },
        response={"usage": {}},
    )  # fmt: skip
    found = component_keys(event)
    assert list(found) == ["model", "params.seed", "params.top_p", "messages", "system", "tools"]
    assert found["model"] == digest_value("m")
    assert found["params.seed"] == digest_value(1.0)
    assert component_keys(event, KeyMemo()) == found
    assert component_keys(event.model_copy(update={"name": "x", "start": "2", "response": None, "id": "c/d"})) == found
    assert request_hash(found) == digest(jcs(dict(reversed(found.items()))))


def test_what_was_not_sent_has_no_key():
    assert keys("model") == {}
    assert keys("model", model=None, params={"seed": None}, system=[], tools=[], messages=None) == {}
    assert keys("model", system=[{"type": "text", "content": ""}, {"type": "text", "content": None}], params=None) == {}
    assert list(keys("model", messages=[])) == ["messages"]
    assert keys("agent") == keys("agent", input=None) == keys("clock") == {}
    assert list(keys("agent", input="")) == ["input"]


def test_transport_has_no_key_and_params_have_one_name():
    assert keys("model", params={"stream": True, "stream_options": {}, "timeout": 3, "extra_headers": {"a": 1}}) == {}
    assert (
        keys("model", params={"max_completion_tokens": 5})
        == keys("model", params={"max_output_tokens": 5})
        == keys("model", params={"max_tokens": 5})
    )
    assert keys("model", params={"stop": "x"}) == keys("model", params={"stop_sequences": ["x"]})
    assert keys("model", params={"stop": ["x"]}) != keys("model", params={"stop": ["y"]})
    assert keys("embeddings", model="m", inputs=["a"], params={"a.b": 1}).keys() == {"model", "inputs", 'params["a.b"]'}


@pytest.mark.parametrize("role", ["system", "developer"])
def test_leading_system_messages_count_as_system(role):
    apart = keys("model", system=[TEXT], messages=[USER])
    assert keys("model", messages=[{"role": role, "parts": [TEXT]}, USER]) == apart
    assert keys("model", system="Be brief.", messages=[USER]) == apart
    assert (
        keys(
            "model",
            system=[{"type": "text", "content": "Be "}],
            messages=[{"role": role, "parts": [{"type": "text", "content": "brief."}]}, USER],
        )
        == apart
    )
    later = keys("model", system=[TEXT], messages=[USER, {"role": role, "parts": [TEXT]}])
    assert later["system"] == apart["system"]
    assert later["messages"] != apart["messages"]
    assert "messages" in keys("model", messages=[{"role": role, "parts": [TEXT]}])


def test_json_text_of_messages_system_and_tools_equals_their_value():
    assert keys("model", messages=jcs([USER]).decode(), system=jcs([TEXT]).decode(), tools='[{"name":"f"}]') == keys(
        "model", messages=[USER], system=[TEXT], tools=[{"name": "f"}]
    )
    assert keys("model", messages="cut {") == {"messages": digest_value("cut {")}


FUNCTION = {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    "other",
    [
        {"name": "f", "description": "d", "parameters": '{"type": "object"}'},
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}},
        FUNCTION | {"strict": None, "cache_control": {"type": "ephemeral"}},
    ],
)
def test_a_tool_in_another_spelling_is_the_same_tool(other):
    assert keys("model", tools=[other]) == keys("model", tools=[FUNCTION])


@pytest.mark.parametrize(
    "others",
    [
        [FUNCTION | {"name": "g"}],
        [FUNCTION | {"description": None}],
        [FUNCTION, FUNCTION],
        [FUNCTION | {"type": "web_search"}],
        ["f"],
    ],
)
def test_another_tool_is_another_tool(others):
    assert keys("model", tools=others) != keys("model", tools=[FUNCTION])
    assert keys("model", tools=[{"type": "web_search", "depth": 1}]) != keys(
        "model", tools=[{"type": "web_search", "depth": 2}]
    )


def test_tools_are_digested_as_documented():
    inner = [bytes.fromhex(digest_value(tool).removeprefix("sha256:")) for tool in (FUNCTION, {"type": "x", "a": 1})]
    assert keys("model", tools=[FUNCTION, {"type": "x", "a": 1, "b": None}])["tools"] == digest(b"".join(inner))


def test_a_tool_request_has_its_name_and_a_key_for_each_argument():
    assert keys("tool", "f", arguments={"a": 1, "b.c": [2]}, call_id="x") == {
        "name": digest_value("f"),
        "arguments.a": digest_value(1),
        'arguments["b.c"]': digest_value([2]),
    }
    assert keys("tool", "f", call_id="x") == {"name": digest_value("f")}


def test_no_arguments_are_told_from_arguments_that_were_not_recorded():
    none = {"name": digest_value("f"), "arguments": digest_value({})}
    assert (
        keys("tool", "f", arguments={})
        == keys("tool", "f", arguments=None)
        == keys("tool", "f", arguments="")
        == keys("tool", "f", arguments="{}")
        == none
    )
    assert keys("tool", "f") != none


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.integers()), max_size=4), st.text())
def test_arguments_as_json_text_have_the_same_keys_whatever_the_call_id(arguments, call_id):
    text = json.dumps(arguments)
    assert keys("tool", "f", arguments=arguments, call_id="a") == keys("tool", "f", arguments=text, call_id=call_id)


def test_arguments_that_are_no_object_are_one_component():
    for arguments in ("SELECT 1", '{"a":', [1], {1: "a"}, {(1, 2): 3}):
        assert keys("tool", "f", arguments=arguments) == {"name": digest_value("f"), "arguments": digest_value(arguments)}
    assert keys("tool", "f", arguments="[1]") == keys("tool", "f", arguments=[1])


def test_a_value_inside_arguments_is_taken_as_it_is():
    assert keys("tool", "f", arguments={"a": "4"}) != keys("tool", "f", arguments={"a": 4})
    assert keys("tool", "f", arguments={"a": '{"x":1}'}) != keys("tool", "f", arguments={"a": {"x": 1}})
    assert keys("tool", "f", arguments={"a": None}) != keys("tool", "f", arguments={"b": None})


def test_an_agents_input_may_be_text_json_text_or_messages():
    assert keys("agent", input='{"q": 1}') == keys("agent", input={"q": 1.0})
    with_ids = [USER, {"role": "assistant", "parts": [{"type": "tool_call", "id": "x", "name": "f"}]}]
    other_ids = [USER, {"role": "assistant", "parts": [{"type": "tool_call", "id": "y", "name": "f"}]}]
    assert keys("agent", input=with_ids) == keys("agent", input=other_ids)
    assert keys("agent", input=[USER, 1]) == {"input": digest_value([USER, 1])}


def test_other_kinds_have_a_key_for_each_field_but_ids_and_transport():
    assert keys("state", key="k", value=b"x", call_id="c", api="a") == {"key": digest_value("k"), "value": digest_value(b"x")}
    assert keys("retrieval", query="q", top="x", params={"top_k": 3}).keys() == {"query", "params.top_k"}
