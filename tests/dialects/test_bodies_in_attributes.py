"""Langfuse and MLflow: bodies of requests and replies as JSON in one attribute each."""

import json

import pytest

from otelreplay.dialects import SpanView, langfuse, mlflow
from otelreplay.spans import Span, SpanEvent
from otelreplay.testing.dialects import check_dialect

ASKED = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def read(dialect, attributes, **span):
    view = SpanView(span=Span(trace_id="a" * 32, span_id="b" * 16, name="span", attributes=attributes, **span))
    return check_dialect(dialect.DIALECT, view)


def observation(kind, given=None, said=None, **more):
    at = "langfuse.observation."
    attributes = {f"{at}type": kind, **{at + k.replace("__", "."): v for k, v in more.items()}}
    if given is not None:
        attributes[f"{at}input"] = given if isinstance(given, str) else json.dumps(given)
    if said is not None:
        attributes[f"{at}output"] = said if isinstance(said, str) else json.dumps(said)
    return read(langfuse, attributes)


def parts(messages):
    return [part for message in messages for part in message["parts"]]


def test_a_generation_has_messages_tools_and_the_reply():
    got = observation(
        "generation",
        {"messages": ASKED, "tools": TOOLS},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        model__name="m-2024-07-18",
        model__parameters='{"temperature": 0, "max_tokens": "Infinity", "top_p": 1}',
        usage_details='{"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}',
    ).fields
    assert parts(got["request.messages"]) == [{"type": "text", "content": "hello"}]
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert [t["name"] for t in got["request.tools"]] == ["look"]
    assert parts(got["response.messages"]) == [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"a": 1}}]
    assert got["response.usage"] == {"input_tokens": 3, "output_tokens": 1}
    assert got["response.model"] == "m-2024-07-18"
    assert got["request.params"] == {"temperature": 0}, "what is filled in for a param that was not given was not sent"
    assert "request.model" not in got, "the convention keeps only the model that answered"


@pytest.mark.parametrize("said", ["hi", {"role": "assistant", "content": "hi"}, [{"role": "assistant", "content": "hi"}]])
def test_a_reply_may_be_text_one_message_or_a_list(said):
    assert parts(observation("generation", {"messages": ASKED}, said).fields["response.messages"]) == [
        {"type": "text", "content": "hi"}
    ]


def test_a_lone_item_of_the_responses_api_is_a_reply():
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}"}
    got = observation("generation", {"input": ASKED}, item).fields
    (call,) = parts(got["response.messages"])
    assert (call["type"], call["id"], call["name"]) == ("tool_call", "c1", "look")
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]


def test_a_decorated_function_has_its_arguments_by_name():
    got = observation("tool", {"args": [], "kwargs": {"a": 1}}, "two words").fields
    assert got == {"request.arguments": {"a": 1}, "response.result": "two words"}
    assert observation("tool", {"args": [1], "kwargs": {}}).fields["request.arguments"] == {"args": [1], "kwargs": {}}


def test_an_observation_that_failed_says_so_without_an_exception():
    got = observation("tool", {"args": [], "kwargs": {}}, level="ERROR", status_message="no such order").fields
    assert got["error"].message == "no such order"


def test_what_was_not_captured_is_a_gap():
    assert {g.field: g.cause for g in observation("agent").gaps} == {
        "request.input": "content_not_captured",
        "response.output": "content_not_captured",
    }


def traced(kind, given=None, said=None, **more):
    attributes = {"mlflow.spanType": json.dumps(kind), **more.pop("attributes", {})}
    if given is not None:
        attributes["mlflow.spanInputs"] = json.dumps(given)
    if said is not None:
        attributes["mlflow.spanOutputs"] = json.dumps(said)
    return read(mlflow, attributes, **more)


def chat(message, reason):
    return {"id": "chatcmpl-1", "model": "m-2024", "choices": [{"index": 0, "finish_reason": reason, "message": message}]}


def test_every_attribute_of_mlflow_is_decoded_once_more():
    usage = {"mlflow.chat.tokenUsage": '{"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}'}
    reply = chat({"role": "assistant", "content": "hi"}, "stop")
    got = traced("CHAT_MODEL", {"model": "m", "messages": ASKED}, reply, attributes=usage).fields
    assert got["request.model"] == "m"
    assert parts(got["request.messages"]) == [{"type": "text", "content": "hello"}]
    assert parts(got["response.messages"]) == [{"type": "text", "content": "hi"}]
    assert got["response.usage"] == {"input_tokens": 3, "output_tokens": 1}


def test_a_stream_is_read_from_its_chunks_not_from_what_was_made_of_them():
    deltas = [{"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}, {}]
    chunks = [
        {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": d, "finish_reason": r}]}
        for d, r in zip(deltas, [None, "tool_calls"], strict=True)
    ]
    events = tuple(
        SpanEvent(name=f"mlflow.chunk.item.{n}", attributes={"mlflow.chunk.value": json.dumps(c)}) for n, c in enumerate(chunks)
    )
    made = chat({"role": "assistant", "content": ""}, "stop")
    got = traced("CHAT_MODEL", {"model": "m", "messages": ASKED}, made, events=events).fields
    assert [p["type"] for p in parts(got["response.messages"])] == ["tool_call"]
    assert got["response.finish_reasons"] == ["tool_calls"]


def test_bare_texts_are_replies_where_messages_were_asked():
    assert parts(traced("LLM", {"messages": ASKED}, ["hi"]).fields["response.messages"]) == [{"type": "text", "content": "hi"}]
    assert "response.messages" not in traced("LLM", {"question": "x"}, ["hi"]).fields


def test_a_tool_of_mlflow_has_arguments_and_result():
    got = traced("TOOL", {"a": 1}, "two")
    assert got.fields == {"request.arguments": {"a": 1}, "response.result": "two"}
    cut = read(mlflow, {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"a": "b'})
    assert {g.field: g.cause for g in cut.gaps}["request.arguments"] == "truncated"
