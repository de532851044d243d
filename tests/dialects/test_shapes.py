"""Spans of no convention, read by their shape; LiteLLM's raw bodies; functions that are tools only if a model says so."""

import json

from otelreplay.dialects import functions, litellm, plain
from tests.dialects.views import absent, read, said

ASKED = {"model": "m", "messages": [{"role": "user", "content": "where?"}], "temperature": 0}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"id": 1}'}}
CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}
GIVEN = {"id": "resp-1", "model": "m-1", "choices": [CHOICE], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}


def test_bodies_of_a_known_api_make_a_model_call_whatever_they_are_called():
    got = read(plain.DIALECT, {"acme.in": json.dumps(ASKED), "acme.out": json.dumps(GIVEN), "acme.note": "x"})
    assert (got.kind, got.name, got.taken) == ("model", "m", {"acme.in", "acme.out"})
    assert said(got.fields["request.messages"]) == [("user", ["where?"])]
    assert said(got.fields["response.messages"]) == [("assistant", [{"id": 1}])]
    assert got.fields["response.id"] == "resp-1"


def test_messages_without_a_model_are_no_request():
    assert read(plain.DIALECT, {"state": json.dumps({"messages": ASKED["messages"]})}) is None


def test_a_span_of_a_convention_is_left_to_it():
    held = {"llm.request": json.dumps(ASKED), "llm.response": json.dumps(GIVEN)}
    assert read(plain.DIALECT, held) is not None
    for mark in ("gen_ai.system", "openinference.span.kind", "mlflow.spanType", "http.method"):
        assert read(plain.DIALECT, {**held, mark: "x"}) is None


def test_a_tool_s_name_beside_what_it_was_given_and_gave_makes_a_tool():
    got = read(plain.DIALECT, {"tool.name": "look", "tool.args": '{"id": 1}', "tool.output": '{"at": 2}', "tool.call.id": "c1"})
    assert (got.kind, got.name) == ("tool", "look")
    assert got.fields == {"request.arguments": {"id": 1}, "response.result": {"at": 2}, "request.call_id": "c1"}


def test_a_call_that_only_was_asked_for_is_no_run_of_a_tool():
    held = {"tool.name": "look", "tool.parameters": '{"id": 1}'}
    assert read(plain.DIALECT, held) is None
    assert read(plain.DIALECT, held, status_code=2, status_message="gone").fields["error"].message == "gone"
    assert absent(read(plain.DIALECT, held, end=0)) == {"response.result": "content_not_captured"}
    assert read(plain.DIALECT, {"tool.name": "look"}) is None


def test_litellm_s_raw_body_is_read_from_what_python_prints():
    answer = {"role": "tool", "tool_call_id": "c1", "content": "2"}
    held = {
        "llm.openai.messages": str([{"role": "assistant", "tool_calls": [CALL]}, answer]),
        "llm.openai.temperature": 0, "llm.openai.extra_body": "{}", "llm.openai.metadata": "",
        "llm.openai.choices": str([CHOICE]), "llm.openai.id": "resp-1", "llm.openai.model": "m-1",
    }  # fmt: skip
    got = read(litellm.DIALECT, held)
    assert (got.kind, got.name) == ("model", "m-1")
    assert [p["id"] for m in got.fields["request.messages"] for p in m["parts"]] == ["c1", "c1"]
    assert got.fields["request.params"] == {"temperature": 0}
    assert (got.fields["response.id"], got.fields["response.finish_reasons"]) == ("resp-1", ["tool_calls"])
    assert got.taken == held.keys()


def test_other_attributes_that_begin_like_litellm_s_are_not_its_bodies():
    assert read(litellm.DIALECT, {"llm.request.type": "chat", "llm.input_messages.0.message.content": "x"}) is None
    assert read(litellm.DIALECT, {"llm.openai.messages": "printed"}) is None


def test_a_traced_function_is_context_and_says_what_it_would_be_as_a_tool():
    held = {"function.args": "()", "function.kwargs": "{'id': 1}", "gen_ai.output.messages": {"at": 2}}
    got = read(functions.DIALECT, held, name="look")
    assert (got.kind, got.fields, got.taken) == ("context", {}, frozenset())
    assert (got.as_tool.name, got.as_tool.fields) == ("look", {"request.arguments": {"id": 1}, "response.result": {"at": 2}})
    by_place = read(functions.DIALECT, {**held, "function.args": "('x',)"}, name="look")
    assert by_place.as_tool.fields["request.arguments"] == {"args": "('x',)", "kwargs": {"id": 1}}


def test_a_function_of_logfire_has_one_attribute_a_parameter():
    held = {
        "code.function": "Desk.look",
        "code.lineno": 3,
        "logfire.msg": "look",
        "id": 1,
        "tags": '["a"]',
        "return": '{"at": 2}',
    }
    got = read(functions.DIALECT, held, scope="logfire").as_tool
    assert (got.name, got.fields["request.arguments"], got.fields["response.result"]) == (
        "look",
        {"id": 1, "tags": ["a"]},
        {"at": 2},
    )
    assert read(functions.DIALECT, held, scope="acme") is None


def test_a_function_whose_argument_was_cut_has_no_arguments():
    got = read(functions.DIALECT, {"code.function": "look", "text": "abcde"}, scope="logfire", limit=5).as_tool
    assert "request.arguments" not in got.fields
    assert "record_return" in next(g.remedy for g in got.gaps if g.field == "response.result")
