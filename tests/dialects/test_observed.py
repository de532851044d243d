"""LangWatch, Laminar and Braintrust: a kind, an input and an output on every span."""

import json

import pytest

from otelreplay.dialects.observed import DIALECT
from tests.dialects.views import absent, read, said

ASKED = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]
REPLY = {"role": "assistant", "content": "hi"}
LANGWATCH = ("langwatch.span.type", "langwatch.input", "langwatch.output")
LAMINAR = ("lmnr.span.type", "lmnr.span.input", "lmnr.span.output")
BRAINTRUST = ("braintrust.span_attributes", "braintrust.input_json", "braintrust.output_json")


def span(sdk, kind, given=None, gave=None, /, **more):
    held = {sdk[0]: json.dumps({"type": kind}) if sdk is BRAINTRUST else kind}
    for attribute, value in zip(sdk[1:], (given, gave), strict=True):
        if value is not None:
            held[attribute] = value if isinstance(value, str) else json.dumps(value)
    return read(DIALECT, held | {k.replace("__", "."): v for k, v in more.items()}, name="step")


@pytest.mark.parametrize("sdk", [LANGWATCH, LAMINAR, BRAINTRUST])
def test_a_model_call_is_its_messages_and_its_reply(sdk):
    got = span(sdk, "llm", ASKED, [{"message": REPLY, "finish_reason": "stop", "index": 0}], gen_ai__request__model="m")
    assert (got.kind, got.name) == ("model", "m")
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]
    assert said(got.fields["request.messages"]) == [("user", ["hello"])]
    assert said(got.fields["response.messages"]) == [("assistant", ["hi"])]
    assert got.fields["response.finish_reasons"] == ["stop"]


def test_messages_of_no_provider_that_we_know_are_messages_all_the_same():
    asked = [
        {"role": "system", "parts": [{"text": "be brief"}]},
        {"role": "user", "parts": [{"type": "text", "content": "hello"}]},
    ]
    got = span(LAMINAR, "llm", asked, [REPLY]).fields
    assert said(got["request.messages"]) == [("user", ["hello"])]
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert said(got["response.messages"]) == [("assistant", ["hi"])]


def test_the_envelope_that_tells_the_type_of_a_value_is_no_part_of_it():
    got = span(LANGWATCH, "llm", {"type": "chat_messages", "value": ASKED}, {"type": "text", "value": "hi"})
    assert said(got.fields["request.messages"]) == [("user", ["hello"])]
    assert said(got.fields["response.messages"]) == [("assistant", ["hi"])]


def test_the_body_of_a_request_and_of_a_response_are_read_as_that():
    body = {"model": "m", "messages": ASKED, "temperature": 0.5}
    reply = {"id": "c-1", "model": "m-1", "choices": [{"index": 0, "message": REPLY, "finish_reason": "stop"}]}
    got = span(LAMINAR, "llm", body, reply).fields
    assert got["request.params"] == {"temperature": 0.5}
    assert (got["response.id"], got["response.model"]) == ("c-1", "m-1")


def test_text_is_what_the_user_and_the_assistant_said():
    got = span(LANGWATCH, "llm", "hello", "hi").fields
    assert said(got["request.messages"] + got["response.messages"]) == [("user", ["hello"]), ("assistant", ["hi"])]


def test_a_reply_of_no_shape_is_left_where_it_is():
    got = span(LANGWATCH, "llm", ASKED, {"score": 1})
    assert "response.messages" not in got.fields
    assert "langwatch.output" not in got.taken


def test_a_reply_that_is_not_there_is_a_gap():
    got = span(LANGWATCH, "llm", ASKED)
    assert absent(got)["response.messages"] == "content_not_captured"
    assert "capture_output" in next(gap.remedy for gap in got.gaps if gap.field == "response.messages")


def test_what_braintrust_tells_beside_is_model_provider_tools_and_params():
    tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
    told = {"model": "m", "provider": "openai", "tools": [tool], "temperature": 0.5, "stream": True, "note": "x"}
    got = span(BRAINTRUST, "llm", ASKED, [REPLY], braintrust__metadata=json.dumps(told)).fields
    assert (got["request.model"], got["request.provider"]) == ("m", "openai")
    assert [t["name"] for t in got["request.tools"]] == ["find"]
    assert got["request.params"] == {"temperature": 0.5}


def test_a_tool_has_arguments_and_a_result_unless_it_failed():
    got = span(LAMINAR, "TOOL", {"order": "A-1"}, {"state": "sent"}, gen_ai__tool__name="find")
    assert (got.kind, got.name) == ("tool", "find")
    assert (got.fields["request.arguments"], got.fields["response.result"]) == ({"order": "A-1"}, {"state": "sent"})
    failed = read(DIALECT, {LAMINAR[0]: "TOOL", LAMINAR[1]: "{}", LAMINAR[2]: "null"}, status_code=2, name="find")
    assert "response.result" not in failed.fields
    assert failed.name == "find"


def test_agents_and_retrievals_hold_what_went_in_and_what_came_out():
    agent = span(LANGWATCH, "agent", {"type": "json", "value": {"q": 1}}, "done")
    assert (agent.kind, agent.fields["request.input"], agent.fields["response.output"]) == ("agent", {"q": 1}, "done")
    found = span(LANGWATCH, "rag", "orders of Jo", ["a", "b"])
    assert (found.kind, found.fields["request.query"], found.fields["response.result"]) == (
        "retrieval",
        "orders of Jo",
        ["a", "b"],
    )
    assert "request.query" not in span(LANGWATCH, "rag", None, ["a"]).fields


def test_the_name_that_a_span_tells_of_itself_counts():
    held = {"braintrust.span_attributes": json.dumps({"type": "tool", "name": "find"})}
    assert read(DIALECT, held, name="step").name == "find"


def test_other_kinds_and_other_spans_are_not_read():
    assert span(LANGWATCH, "chain", "a", "b") is None
    assert read(DIALECT, {"langwatch.input": "a"}) is None


JUDGEVAL = ("judgment.span_kind", "gen_ai.prompt", "gen_ai.completion")


@pytest.mark.parametrize("kind", ["acme.span_kind", "acme.span.kind", "acme.type", "my-sdk.observation.type", "acme.run.type"])
def test_an_sdk_that_nobody_knows_is_read_by_its_kind_input_and_output(kind):
    name = kind.partition(".")[0]
    got = read(DIALECT, {kind: "TOOL", f"{name}.input": '{"a": 1}', f"{name}.output": '{"b": 2}'}, name="find")
    assert (got.kind, got.name) == ("tool", "find")
    assert (got.fields["request.arguments"], got.fields["response.result"]) == ({"a": 1}, {"b": 2})
    assert got.taken == {kind, f"{name}.input", f"{name}.output"}


@pytest.mark.parametrize("kind", ["generation", "llm", "chat", "LLM"])
def test_its_model_calls_may_have_their_bodies_under_the_old_names_of_the_conventions(kind):
    body = {"model": "m", "messages": ASKED}
    got = span(JUDGEVAL, kind, body, {"id": "c-1", "choices": [{"index": 0, "message": REPLY}]})
    assert (got.kind, got.name) == ("model", "m")
    assert said(got.fields["request.messages"] + got.fields["response.messages"]) == [
        ("user", ["hello"]),
        ("assistant", ["hi"]),
    ]


def test_an_empty_text_may_stand_for_a_reply_of_calls_alone():
    got = span(JUDGEVAL, "llm", {"model": "m", "messages": ASKED}, "")
    assert absent(got)["response.messages"] == "content_not_captured"


@pytest.mark.parametrize(
    "attributes",
    [
        {"acme.span_kind": "tool"},
        {"acme.span_kind": "tool", "other.input": "{}"},
        {"acme.span_kind": "chain", "acme.input": "{}"},
        {"acme.span_kind": 3, "acme.input": "{}"},
        {"acme.span_kind": "tool", "gen_ai.prompt": "{}"},
        {"http.type": "tool", "http.input": "{}"},
        {"acme.deep.span_kind": "tool", "acme.deep.input": "{}"},
    ],
)
def test_what_is_less_than_a_kind_beside_an_input_or_output_of_one_name_is_nobody_s(attributes):
    assert read(DIALECT, attributes) is None
