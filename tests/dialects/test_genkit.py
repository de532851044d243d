"""Genkit's actions: models, tools, flows, retrievers, embedders."""

import json

import pytest

from otelreplay.dialects.genkit import DIALECT
from tests.dialects.views import absent, read, said


def action(kind, given=None, gave=None, /, *, name="x", state="success", older=False, **span):
    held = {"genkit:name": name, "genkit:state": state}
    held |= {"genkit:type": kind} if older else {"genkit:type": "action", "genkit:metadata:subtype": kind}
    for at, value in (("genkit:input", given), ("genkit:output", gave)):
        if value is not None:
            held[at] = json.dumps(value)
    return read(DIALECT, held, name="span", **span)


ASKED = {
    "messages": [
        {"role": "system", "content": [{"text": "be brief"}]},
        {"role": "user", "content": [{"text": "hello"}, {"media": {"url": "data:x", "contentType": "image/png"}}]},
        {"role": "model", "content": [{"reasoning": "hm"}, {"toolRequest": {"name": "find", "ref": "c1", "input": {"n": 1}}}]},
        {"role": "tool", "content": [{"toolResponse": {"name": "find", "ref": "c1", "output": [1]}}]},
        {"role": "user", "content": [{"custom": 1}, "bare", {"media": {"url": "https://a.example/b"}}]},
        "and now?",
    ],
    "config": {"maxOutputTokens": 9, "temperature": 0.5, "version": "x", "apiKey": "k", "topK": None},
    "tools": [{"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}, {"name": "bare"}],
}
GAVE = {"message": {"role": "model", "content": [{"text": "hi"}]}, "finishReason": "stop",
        "usage": {"inputTokens": 3, "outputTokens": 1, "totalTokens": None}}  # fmt: skip


def test_a_model_call_has_everything_that_genkit_says_of_it():
    got = action("model", ASKED, GAVE, name="openai/m-1")
    fields = got.fields
    assert (got.kind, fields["request.provider"], fields["request.model"]) == ("model", "openai", "m-1")
    assert fields["request.system"] == [{"type": "text", "content": "be brief"}]
    asked = fields["request.messages"]
    assert [m["role"] for m in asked] == ["user", "assistant", "tool", "user", "user"]
    assert asked[0]["parts"][1] == {"type": "uri", "uri": "data:x", "mime_type": "image/png"}
    assert asked[1]["parts"] == [
        {"type": "reasoning", "content": "hm"}, {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"n": 1}},
    ]  # fmt: skip
    assert asked[2]["parts"] == [{"type": "tool_call_response", "id": "c1", "name": "find", "response": [1]}]
    assert asked[3]["parts"] == [
        {"type": "generic", "value": {"custom": 1}}, {"type": "text", "content": "bare"}, {"type": "uri", "uri": "https://a.example/b"},
    ]  # fmt: skip
    assert said(asked)[4] == ("user", ["and now?"])
    assert fields["request.params"] == {"max_tokens": 9, "temperature": 0.5}
    assert fields["request.tools"] == [
        {"type": "function", "name": "find", "description": "Finds.", "parameters": {"type": "object"}},
        {"type": "function", "name": "bare"},
    ]
    assert said(fields["response.messages"]) == [("assistant", ["hi"])]
    assert fields["response.finish_reasons"] == ["stop"]
    assert fields["response.usage"] == {"input_tokens": 3, "output_tokens": 1}


def test_the_older_form_has_candidates_and_its_kind_as_type():
    got = action("model", ASKED, {"candidates": [{"message": GAVE["message"], "finishReason": "length"}]}, older=True, name="m")
    assert got.fields["request.model"] == "m"
    assert said(got.fields["response.messages"]) == [("assistant", ["hi"])]
    assert got.fields["response.finish_reasons"] == ["length"]


@pytest.mark.parametrize("gave", [{}, {"candidates": []}, {"message": None, "usage": 3}])
def test_a_reply_without_a_message_is_left_where_it_is(gave):
    got = action("model", {"config": 3}, gave)
    assert not got.fields.keys() & {"request.messages", "response.messages", "response.finish_reasons", "response.usage"}
    assert not {"genkit:input", "genkit:output"} & {*got.taken}


def test_content_that_was_not_logged_is_a_gap_with_its_switch():
    got = action("model")
    assert absent(got)["response.messages"] == "content_not_captured"
    assert "disableLoggingInputAndOutput" in got.gaps[0].remedy


@pytest.mark.parametrize(
    ("subtype", "kind", "given", "gave"),
    [
        ("tool.v2", "tool", "request.arguments", "response.result"), ("flow", "agent", "request.input", "response.output"),
        ("retriever", "retrieval", "request.query", "response.result"),
    ],
)  # fmt: skip
def test_what_went_in_and_what_came_out_of_other_actions(subtype, kind, given, gave):
    got = action(subtype, {"a": 1}, {"b": 2}, name="find")
    assert (got.kind, got.name, got.fields[given], got.fields[gave]) == (kind, "find", {"a": 1}, {"b": 2})


def test_an_embedder_has_a_model_and_inputs():
    got = action("embedder", {"input": ["a"]}, name="openai/e-1")
    assert (got.kind, got.fields["request.model"], got.fields["request.inputs"]) == ("embeddings", "e-1", {"input": ["a"]})


def test_an_action_that_failed_says_how():
    got = action("tool", {"a": 1}, state="error", status_code=2, status_message="gone")
    assert got.fields["error"].message == "gone"


def test_calls_without_a_ref_have_no_id():
    asked = {"messages": [{"role": "model", "content": [{"toolRequest": {"name": "find", "ref": ""}}]}]}
    assert action("model", asked).fields["request.messages"][0]["parts"] == [
        {"type": "tool_call", "name": "find", "arguments": {}}
    ]


def test_utilities_and_other_spans_are_not_read():
    assert action("util", {"a": 1}) is None
    assert read(DIALECT, {"genkit:name": "x"}) is None
