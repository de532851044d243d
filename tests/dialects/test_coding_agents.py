"""Claude Code and Gemini CLI: their own spans, and log records beside them."""

import json

from otelreplay.dialects import claude_code, gemini_cli
from otelreplay.dialects.genai import DIALECT as GENAI
from otelreplay.spans import LogRecord, Scope, SpanEvent
from tests.dialects.views import absent, read, said

CLAUDE = "com.anthropic.claude_code.tracing"
MODEL = {"span.type": "llm_request", "gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
TOOL = {"span.type": "tool", "gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1"}


def log(name, **attributes):
    return LogRecord(event_name=name, attributes=attributes, scope=Scope(name="com.anthropic.claude_code.events"))


def claude(attributes, *logs, **more):
    return read(claude_code.DIALECT, attributes, scope=CLAUDE, logs=logs, **more)


def test_bodies_in_log_records_are_the_call():
    asked = {"model": "m", "system": "be brief", "messages": [{"role": "user", "content": "where?"}]}
    block = {"type": "tool_use", "id": "c1", "name": "look", "input": {"id": 1}}
    gave = {"id": "msg-1", "role": "assistant", "content": [block],
            "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 2}}  # fmt: skip
    got = claude(MODEL, log("api_request_body", body=json.dumps(asked)), log("api_response_body", body=json.dumps(gave)))
    assert (got.kind, got.name, got.took_logs) == ("model", "m", True)
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]
    assert said(got.fields["response.messages"]) == [("assistant", [{"id": 1}])]
    assert got.fields["response.id"] == "msg-1"


def test_a_body_that_was_cut_is_a_gap_and_the_text_that_is_there_is_kept():
    got = claude(MODEL, log("api_request_body", body='{"model": "m", "mess'), log("assistant_response", response="home"))
    assert absent(got)["request.messages"] == absent(got)["request.system"] == "truncated"
    assert said(got.fields["response.messages"]) == [("assistant", ["home"])]


def test_a_reply_that_was_cut_is_a_gap_and_does_not_take_the_request_with_it():
    asked = {"model": "m", "messages": [{"role": "user", "content": "where?"}]}
    got = claude(MODEL, log("api_request_body", body=json.dumps(asked)), log("api_response_body", body='{"id": "msg-1", "con'))
    assert said(got.fields["request.messages"]) == [("user", ["where?"])]
    assert {"response.messages"} <= absent(got).keys() - got.fields.keys()


def test_a_tool_whose_input_has_no_heading_has_it_whole_and_other_events_are_no_result():
    event = SpanEvent(name="tool.progress", attributes={"output": "half"})
    got = claude({**TOOL, "tool_input": '{"id": 1}'}, log("tool_result", success="true"), events=(event,))
    assert got.fields["request.arguments"] == {"id": 1}
    assert not {"error", "response.result"} & got.fields.keys()


def test_text_on_the_span_is_told_once():
    got = claude({**MODEL, "response.model_output": "home"}, log("assistant_response", response="home"))
    assert said(got.fields["response.messages"]) == [("assistant", ["home"])]
    assert "OTEL_LOG_RAW_API_BODIES" in claude(MODEL).gaps[0].remedy


def test_a_tool_is_told_by_its_span_its_event_and_its_record():
    event = SpanEvent(name="tool.output", attributes={"output": '{"at": 2}'})
    got = claude({**TOOL, "tool_input": '[TOOL INPUT: look]\n{"id": 1}'}, events=(event,))
    assert got.fields == {"request.call_id": "c1", "request.arguments": {"id": 1}, "response.result": {"at": 2}}
    got = claude(TOOL, log("tool_result", tool_input='{"id": 1}', error="gone"))
    assert (got.fields["request.arguments"], got.fields["error"].message) == ({"id": 1}, "gone")
    got = claude(
        {"span.type": "tool.execution", "gen_ai.tool.call.id": "c1", "error": "gone", "error.type": "tool_error"}, status_code=2
    )
    assert (got.kind, got.fields["error"].type, got.fields["error"].message) == ("tool", "tool_error", "gone")


def test_a_turn_of_the_user_is_an_agent_and_other_spans_are_not_read():
    assert claude({"span.type": "interaction", "user_prompt": "where?"}).fields == {"request.input": "where?"}
    assert claude({"span.type": "tool.blocked_on_user"}) is None
    assert read(claude_code.DIALECT, MODEL, scope="acme") is None


GEMINI_TOOL = {
    "gen_ai.operation.name": "tool_call",
    "gen_ai.tool.name": "look",
    "gen_ai.tool.call_id": "look__look_7_0",
    "gen_ai.input.messages": json.dumps({"callId": "look__look_7_0", "name": "look", "args": {"id": 1}}),
}


def answered(**response):
    return {**GEMINI_TOOL, "gen_ai.output.messages": json.dumps({"status": "success", "response": response})}


def test_the_messages_of_gemini_cli_s_tools_are_request_and_response():
    part = {"functionResponse": {"id": "look_7_0", "response": {"output": "home"}}}
    got = read(gemini_cli.DIALECT, answered(responseParts=[part]))
    assert (got.kind, got.name) == ("tool", "look")
    assert got.fields == {"request.call_id": "look_7_0", "request.arguments": {"id": 1}, "response.result": {"output": "home"}}
    failed = read(gemini_cli.DIALECT, answered(error={"message": "gone"}))
    assert failed.fields["error"].message == "gone"
    assert read(gemini_cli.DIALECT, {"gen_ai.operation.name": "llm_call"}) is None


def test_the_chunks_of_gemini_cli_s_reply_are_one_message_and_its_ids_the_ones_of_the_history():
    call = {"functionCall": {"name": "look", "args": {"id": 1}, "id": "look__look_7_0"}}
    chunks = [{"role": "model", "parts": [{"text": "it is "}]}, {"role": "model", "parts": [{"text": "home"}]},
              {"role": "model", "parts": [call]}]  # fmt: skip
    held = {"gen_ai.operation.name": "llm_call", "gen_ai.request.model": "m", "gen_ai.output.messages": json.dumps(chunks),
            "gen_ai.system_instructions": '"be brief"'}  # fmt: skip
    got = read(GENAI, held, scope="gemini-cli")
    assert said(got.fields["response.messages"]) == [("assistant", ["it is home", {"id": 1}])]
    assert got.fields["response.messages"][0]["parts"][1]["id"] == "look_7_0"
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]


def test_what_gemini_cli_did_not_write_of_a_tool_is_missing_and_nothing_is_put_in_its_place():
    bare = {"gen_ai.operation.name": "tool_call", "gen_ai.tool.name": "look"}
    got = read(gemini_cli.DIALECT, {**bare, "gen_ai.input.messages": '{"name": "look"}', "gen_ai.output.messages": "[]"})
    assert got.fields == {}
    assert {"request.arguments", "response.result"} <= absent(got).keys()
