"""LangSmith's OpenTelemetry mode: LangChain's serialisations, as text or as bytes."""

import json

import pytest

from otelreplay.dialects.langsmith import DIALECT, KIND
from tests.dialects.views import absent, read, said

PROMPT, COMPLETION = "gen_ai.prompt", "gen_ai.completion"


def message(kind, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


ASKED = {"messages": [[message("SystemMessage", content="be brief"), message("HumanMessage", content="where?")]]}
GIVEN = {
    "generations": [
        [
            {
                "message": message(
                    "AIMessage",
                    content="",
                    tool_calls=[{"name": "look", "args": {"id": 1}, "id": "c1"}],
                    response_metadata={"id": "resp-1", "model_name": "m-1", "finish_reason": "tool_calls"},
                )
            }
        ]
    ]
}


@pytest.mark.parametrize("written", [json.dumps, lambda v: json.dumps(v).encode()], ids=["text", "bytes"])
def test_a_model_call_is_read_from_text_and_from_bytes(written):
    held = {KIND: "llm", PROMPT: written(ASKED), COMPLETION: written(GIVEN), "gen_ai.request.model": "m"}
    got = read(DIALECT, held)
    assert (got.kind, got.name) == ("model", "m")
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]
    assert said(got.fields["request.messages"]) == [("user", ["where?"])]
    assert said(got.fields["response.messages"]) == [("assistant", [{"id": 1}])]
    assert (got.fields["response.id"], got.fields["response.model"]) == ("resp-1", "m-1")
    assert got.fields["response.finish_reasons"] == ["tool_calls"]


def test_a_tool_s_answer_tells_its_call():
    answer = {"output": message("ToolMessage", content='{"at": "home"}', tool_call_id="c1")}
    got = read(DIALECT, {KIND: "tool", PROMPT: '{"id": 1}', COMPLETION: json.dumps(answer), "gen_ai.tool.name": "look"})
    assert (got.kind, got.name) == ("tool", "look")
    assert got.fields == {"request.arguments": {"id": 1}, "request.call_id": "c1", "response.result": {"at": "home"}}


def test_a_plain_output_is_the_result_and_an_empty_one_after_a_failure_is_none():
    assert read(DIALECT, {KIND: "tool", COMPLETION: '{"output": "home"}'}).fields["response.result"] == "home"
    failed = read(DIALECT, {KIND: "tool", COMPLETION: "{}"}, status_code=2, status_message="gone")
    assert "response.result" not in failed.fields
    assert failed.fields["error"].message == "gone"


def test_a_retriever_has_a_query_and_documents():
    got = read(DIALECT, {KIND: "retriever", PROMPT: '{"query": "q"}', COMPLETION: '{"documents": [1]}'})
    assert got.fields == {"request.query": "q", "response.result": [1]}


def test_what_is_hidden_is_said_to_be_and_chains_are_not_read():
    got = read(DIALECT, {KIND: "llm"})
    assert absent(got)["request.messages"] == "content_not_captured"
    assert "LANGSMITH_HIDE_INPUTS" in got.gaps[0].remedy
    assert read(DIALECT, {KIND: "chain"}) is None
    assert read(DIALECT, {KIND: 7}) is None


def test_parameters_stand_in_the_metadata():
    held = {KIND: "llm", "langsmith.metadata.ls_temperature": 0.0, "langsmith.metadata.ls_max_tokens": 9}
    assert read(DIALECT, held).fields["request.params"] == {"max_tokens": 9, "temperature": 0.0}
