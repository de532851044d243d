"""Haystack's own spans, with content only where it was switched on."""

import json

from otelreplay.dialects.haystack import DIALECT
from tests.dialects.views import absent, read, said

LLM, TOOL, RUN = "haystack.agent.step.llm", "haystack.agent.step.tool", "haystack.agent.run"
ASKED = {
    "messages": [
        {"role": "system", "content": [{"text": "be brief"}]},
        {"role": "user", "name": "ann", "content": [{"text": "where?"}]},
        {"role": "assistant", "content": [{"tool_call": {"tool_name": "look", "arguments": {"id": 1}, "id": "c1"}}]},
        {"role": "tool", "content": [{"tool_call_result": {"result": "home", "origin": {"id": "c1"}, "error": False}}]},
        {"role": "user", "content": [{"image": "…"}, 7]},
    ],
    "tools": [{"type": "Tool", "data": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}],
    "generation_kwargs": {"temperature": 0},
}
META = {"model": "m-1", "finish_reason": "stop", "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
GIVEN = {"replies": [{"role": "assistant", "meta": META, "content": [{"text": "home"}]}]}


def test_a_model_call_has_messages_tools_and_what_the_reply_s_metadata_tell():
    got = read(DIALECT, {f"{LLM}.input": json.dumps(ASKED), f"{LLM}.output": json.dumps(GIVEN)}, name=LLM)
    assert (got.kind, got.name) == ("model", "m-1")
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]
    asked = said(got.fields["request.messages"])
    assert asked[:3] == [("user", ["where?"]), ("assistant", [{"id": 1}]), ("tool", ["home"])]
    assert got.fields["request.messages"][0]["name"] == "ann"
    assert got.fields["request.messages"][2]["parts"][0]["id"] == "c1"
    assert got.fields["request.tools"][0]["name"] == "look"
    assert got.fields["request.params"] == {"temperature": 0}
    assert got.fields["response.usage"] == {"input_tokens": 3, "output_tokens": 1}
    assert got.fields["response.finish_reasons"] == ["stop"]


def test_without_content_the_name_of_the_span_still_tells_the_boundary():
    got = read(DIALECT, {}, name=LLM)
    assert got.kind == "model"
    assert absent(got)["response.messages"] == "content_not_captured"
    assert "HAYSTACK_CONTENT_TRACING_ENABLED" in got.gaps[0].remedy
    assert read(DIALECT, {}, name="haystack.pipeline.run") is None


def test_a_tool_that_failed_says_how():
    held = {"haystack.tool.name": "look", f"{TOOL}.input": '{"id": 1}', f"{TOOL}.output": '{"error": "gone"}'}
    got = read(DIALECT, {**held, "haystack.tool.error": True}, name=TOOL)
    assert (got.kind, got.name) == ("tool", "look")
    assert got.fields["request.arguments"] == {"id": 1}
    assert got.fields["error"].message == "gone"


def test_a_run_is_an_agent_with_what_went_in_and_came_out():
    got = read(DIALECT, {"haystack.agent.input": '{"q": 1}', "haystack.agent.output": "done"}, name=RUN)
    assert got.fields == {"request.input": {"q": 1}, "response.output": "done"}


def test_a_call_that_says_little_has_only_what_it_says():
    asked = {"messages": [{"role": "user", "content": "where?"}, "?"], "tools": ["?"], "generation_kwargs": {}}
    gave = {
        "replies": [{"role": "assistant", "content": "home", "meta": {"usage": {"other": 1}}}, {"role": "assistant", "meta": 3}]
    }
    got = read(DIALECT, {f"{LLM}.input": json.dumps(asked), f"{LLM}.output": json.dumps(gave)}, name=LLM).fields
    assert said(got["request.messages"]) == [("user", ["where?"])]
    assert said(got["response.messages"])[0] == ("assistant", ["home"])
    told = {"request.system", "request.tools", "request.params", "response.model", "response.usage", "response.finish_reasons"}
    assert not got.keys() & told


def test_a_tool_that_worked_has_no_error():
    got = read(DIALECT, {f"{TOOL}.input": "{}", f"{TOOL}.output": '"home"', "haystack.tool.error": False}, name=TOOL).fields
    assert (got["response.result"], got.get("error")) == ("home", None)
