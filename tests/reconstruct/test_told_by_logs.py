"""Coding agents that export log records and no spans: every call of a model and of a tool is an event."""

import json
import random

from otelreplay.events import expand
from otelreplay.reconstruct import reconstruct
from otelreplay.spans import LogRecord, Scope, Span, placed_in_session

CLAUDE = Scope(name="com.anthropic.claude_code.events", version="2.1")
MS = 1_000_000


def claude(at, name, **attributes):
    attributes = {"session.id": "s-1", "prompt.id": "p-1", "event.sequence": at, "event.name": name, **attributes}
    return LogRecord(time=10**18 + at * MS, body=f"claude_code.{name}", attributes=attributes, scope=CLAUDE)


def codex(at, name, **attributes):
    attributes = {"conversation.id": "c-1", "model": "gpt-5", "event.name": f"codex.{name}", **attributes}
    return LogRecord(
        time=10**18 + at * MS, event_name="event otel/src/x.rs:1", attributes=attributes, scope=Scope(name="codex_otel")
    )


MESSAGE = {
    "id": "msg_1",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "tool_use", "id": "t1", "name": "mcp__shop__look", "input": {"id": 7}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 5, "output_tokens": 2},
}
TURN = [
    claude(0, "user_prompt", prompt="where is it?"),
    claude(10, "api_request_body", body='{"model": "claude", "messages": [{"role', body_truncated="true", request_body_id="b1",
           model="claude"),
    claude(40, "tool_decision", tool_use_id="t1", tool_name="mcp_tool", decision="accept"),
    claude(50, "api_request", model="claude-x", input_tokens="5", output_tokens="2", duration_ms="45"),
    claude(51, "api_response_body", body=json.dumps(MESSAGE), request_body_id="b1", **{"message.id": "msg_1"}),
    claude(60, "tool_result", tool_use_id="t1", tool_name="mcp_tool", success="false", error="no such order",
           error_type="McpError", tool_input='{"id": 7}', duration_ms="12",
           tool_parameters='{"mcp_server_name": "shop", "mcp_tool_name": "look"}'),
    claude(90, "api_request", model="claude-x", input_tokens="9", output_tokens="3", duration_ms="20"),
    claude(91, "assistant_response", response="It is lost."),
]  # fmt: skip


def run(records, spans=()):
    return reconstruct(list(spans), [placed_in_session(r) for r in records])


def events(recording):
    return [expand(e) for e in recording.events]


def test_every_call_of_claude_code_is_an_event_in_its_turn():
    agent, first, tool, second = events(run(TURN))
    assert (agent.kind, agent.request["input"]) == ("agent", "where is it?")
    assert [e.parent for e in (first, tool, second)] == [agent.seq] * 3
    assert (first.kind, first.request["model"], first.response["id"]) == ("model", "claude", "msg_1")
    assert first.response["usage"] == {"input_tokens": 5, "output_tokens": 2}
    assert "truncated" in {m.cause for m in first.missing if m.field == "request.messages"}
    assert (tool.name, tool.request["arguments"], tool.request["call_id"]) == ("look", {"id": 7}, "t1")
    assert (tool.error.type, tool.error.message) == ("McpError", "no such order")
    assert second.response["messages"][0]["parts"] == [{"type": "text", "content": "It is lost."}]
    assert int(first.end) - int(first.start) == 46 * MS  # from what the record of its end says, to the body behind it


def test_records_in_any_order_and_twice_give_the_same_events():
    wanted = [e.model_dump_json() for e in events(run(TURN))]
    for seed in range(5):
        shuffled = random.Random(seed).sample(TURN, len(TURN)) + TURN[:3]
        assert [e.model_dump_json() for e in events(run(shuffled))] == wanted


def test_records_beside_spans_of_the_same_agent_are_no_events_of_their_own():
    span = Span(trace_id="a" * 32, span_id="b" * 16, name="claude_code.interaction", start=1, end=2,
                attributes={"span.type": "interaction"}, scope=Scope(name="com.anthropic.claude_code.tracing"))  # fmt: skip
    records = [LogRecord(trace_id="a" * 32, time=r.time, attributes=r.attributes, scope=r.scope) for r in TURN]
    assert [e.kind for e in run(records, [span]).events] == ["agent"]


def test_content_that_is_hidden_is_said_to_be_missing_and_not_quoted():
    hidden = [claude(0, "user_prompt", prompt="<REDACTED>"), claude(9, "api_request", model="m"),
              claude(9, "assistant_response", response="<REDACTED>")]  # fmt: skip
    agent, model = events(run(hidden))
    assert "REDACTED" not in agent.model_dump_json(include={"request"}) + model.model_dump_json(include={"response"})
    assert {"request.messages", "response.messages"} <= {m.field for m in model.missing}
    assert all("OTEL_LOG" in m.remedy for m in model.missing if m.cause == "content_not_captured")


def test_a_call_that_the_provider_refused_failed():
    (model,) = events(run([claude(9, "api_error", model="m", error="overloaded", status_code="529", duration_ms="3")]))
    assert (model.kind, model.error.type, model.error.message) == ("model", "529", "overloaded")


def test_a_tool_that_failed_without_a_word_failed_and_one_that_was_only_asked_about_lacks_its_result():
    said = [claude(1, "tool_result", tool_use_id="t1", tool_name="look", success="false"),
            claude(2, "tool_decision", tool_use_id="t2", tool_name="draft", decision="reject"),
            claude(3, "tool_result", tool_name="find", success="true")]  # fmt: skip
    by_name = {e.name: e for e in events(run(said))}
    assert (by_name["look"].error.type, by_name["look"].error.message) == (None, None)
    assert by_name["draft"].error is None
    assert "response.result" in {m.field for m in by_name["draft"].missing}
    assert "call_id" not in (by_name["find"].request or {})


def test_a_text_whose_message_was_told_before_belongs_to_the_same_call():
    told = [claude(1, "api_request", model="a"), claude(2, "api_request", model="b"),
            claude(3, "api_response_body", body=json.dumps({**MESSAGE, "model": "b"}), **{"message.uuid": "u1"}),
            claude(4, "api_request", model="c"),
            claude(5, "assistant_response", response="of b", **{"message.uuid": "u1"})]  # fmt: skip
    spoken = {e.name: (e.response or {}).get("messages") for e in events(run(told))}
    assert not spoken["a"]
    assert not spoken["c"]
    assert [part["type"] for part in spoken["b"][0]["parts"]] == ["tool_call"]


def test_two_sources_at_once_keep_their_own_texts():
    """A subagent works while the main agent does."""
    told = [claude(1, "api_request", model="a", query_source="main"), claude(2, "api_request", model="b", query_source="sub"),
            claude(3, "assistant_response", response="of main", query_source="main"),
            claude(4, "assistant_response", response="of sub", query_source="sub")]  # fmt: skip
    said = {e.name: e.response["messages"][0]["parts"][0]["content"] for e in events(run(told))}
    assert said == {"a": "of main", "b": "of sub"}


def test_every_call_of_codex_is_an_event():
    told = [
        codex(0, "user_prompt", prompt="list"),
        codex(20, "api_request", duration_ms="15"),
        codex(22, "sse_event", **{"event.kind": "response.output_item.done"}),
        codex(30, "sse_event", **{"event.kind": "response.completed", "input_token_count": "7", "output_token_count": "3"}),
        codex(45, "tool_result", tool_name="shell", call_id="c9", arguments='{"cmd": "ls"}', output="a.py", success="true",
              duration_ms="10"),
        codex(60, "api_request", duration_ms="5"),
        codex(70, "sse_event", **{"event.kind": "response.completed", "input_token_count": 11, "output_token_count": 4}),
        codex(71, "api_request", duration_ms="1", **{"error.message": "http 500"}),
    ]  # fmt: skip
    agent, first, tool, second, failed = events(run(told))
    assert (agent.name, agent.request["input"]) == ("codex", "list")
    assert [e.response["usage"] for e in (first, second)] == [
        {"input_tokens": 7, "output_tokens": 3}, {"input_tokens": 11, "output_tokens": 4},
    ]  # fmt: skip
    assert (tool.name, tool.request["arguments"], tool.response["result"]) == ("shell", {"cmd": "ls"}, "a.py")
    assert first.request["model"] == "gpt-5"
    (call,) = first.response["messages"][0]["parts"]
    assert (call["id"], call["name"], call["arguments"]) == ("c9", "shell", {"cmd": "ls"})
    assert [m.field for m in first.inferred] == ["response.messages"]
    assert "response.messages" in {m.field for m in second.missing}
    assert {"request.messages", "request.system", "request.tools"} <= {m.field for m in first.missing}
    assert tool.after == [first.seq]
    assert failed.error.message == "http 500"


def test_what_a_reply_of_codex_said_beside_its_call_is_missing():
    kinds = [("response.output_text.delta",), ("response.completed",)]
    told = [codex(n, "sse_event", **{"event.kind": kind}) for n, (kind,) in enumerate(kinds)]
    told.append(codex(9, "tool_result", tool_name="shell", call_id="c9", arguments="{}", output="nothing", success="false"))
    model, tool = events(run(told))
    assert "response.messages[0].parts" in {m.field for m in model.missing}
    assert tool.error.message == "nothing"


def test_a_tool_of_codex_has_only_what_its_record_holds():
    (tool,) = events(run([codex(5, "tool_result", tool_name="shell", success="true")]))
    assert tool.kind == "tool"
    assert not {"arguments", "call_id"} & (tool.request or {}).keys()
    assert "response.result" in {m.field for m in tool.missing}
