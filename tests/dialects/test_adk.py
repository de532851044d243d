"""Google ADK 1: Gemini bodies on ``call_llm``, arguments and results on tools' spans."""

import json

from otelreplay.dialects.adk import ARGUMENTS, DIALECT, REQUEST, RESPONSE, RESULT
from tests.dialects.views import absent, read, said

ASKED = {
    "model": "gemini-2.5-flash",
    "config": {"system_instruction": "be brief", "temperature": 0.5, "http_options": {}},
    "contents": [
        {"role": "user", "parts": [{"text": "where?"}]},
        {"role": "model", "parts": [{"function_call": {"name": "look", "args": {"id": 1}}}]},
        {"role": "user", "parts": [{"function_response": {"name": "look", "response": {"at": "home"}}}]},
    ],
}
GIVEN = {
    "content": {"role": "model", "parts": [{"text": "home"}]},
    "finish_reason": "STOP",
    "model_version": "gemini-2.5-flash-001",
}


def call(**more):
    return {REQUEST: json.dumps(ASKED), RESPONSE: json.dumps(GIVEN), "gen_ai.request.model": "gemini-2.5-flash", **more}


def test_a_model_call_is_read_from_the_two_bodies():
    got = read(DIALECT, call())
    assert (got.kind, got.name) == ("model", "gemini-2.5-flash")
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]
    assert said(got.fields["request.messages"]) == [
        ("user", ["where?"]),
        ("assistant", [{"id": 1}]),
        ("tool", [{"at": "home"}]),
    ]
    assert said(got.fields["response.messages"]) == [("assistant", ["home"])]
    assert got.fields["request.params"] == {"temperature": 0.5}
    assert got.fields["response.finish_reasons"] == ["STOP"]


def test_bodies_that_are_empty_hold_nothing_and_the_switch_is_named():
    got = read(DIALECT, call(**{REQUEST: "{}", RESPONSE: "{}"}))
    assert absent(got)["request.messages"] == absent(got)["response.messages"] == "content_not_captured"
    assert "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS" in got.gaps[0].remedy


def test_a_body_that_breaks_off_was_cut():
    got = read(DIALECT, call(**{REQUEST: json.dumps(ASKED)[:80]}))
    assert absent(got)["request.messages"] == "truncated"


def test_a_tool_has_its_arguments_and_its_result():
    held = {"gen_ai.tool.name": "look", "gen_ai.operation.name": "execute_tool", REQUEST: "{}", RESPONSE: "{}"}
    got = read(DIALECT, {**held, ARGUMENTS: '{"id": 1}', RESULT: '{"at": "home"}'})
    assert (got.kind, got.name) == ("tool", "look")
    assert got.fields == {"request.arguments": {"id": 1}, "response.result": {"at": "home"}}


def test_the_answers_of_parallel_tools_put_together_are_no_tool():
    got = read(DIALECT, {"gen_ai.tool.name": "(merged tools)", "gen_ai.operation.name": "execute_tool"})
    assert (got.kind, got.no_boundary) == ("context", True)


def test_other_spans_are_not_read():
    assert read(DIALECT, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}) is None
