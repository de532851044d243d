"""Log records without a trace id get one from the session that they name."""

import pytest

from otelreplay.spans import LogRecord, Resource, Scope, event_of, placed_in_session

CLAUDE = Scope(name="com.anthropic.claude_code.events")


def record(name="codex.tool_result", session=None, **more):
    return LogRecord(attributes={"event.name": name, **(session or {"conversation.id": "c-1"})}, **more)


def test_records_of_one_session_get_one_trace_id_and_others_another():
    first, second, other = (
        placed_in_session(record(name, {"conversation.id": session}))
        for name, session in (("codex.tool_result", "a"), ("codex.user_prompt", "a"), ("codex.user_prompt", "b"))
    )
    assert first.trace_id == second.trace_id != other.trace_id
    assert len(first.trace_id) == 32
    assert set(first.trace_id) <= set("0123456789abcdef")


def test_the_session_is_no_part_of_the_id_as_text():
    assert "ana" not in placed_in_session(record(session={"session.id": "ana"})).trace_id


def test_a_record_of_a_trace_stays_where_it_is():
    given = record(trace_id="ab" * 16)
    assert placed_in_session(given) is given


@pytest.mark.parametrize(
    "given",
    [
        record("codex.user_prompt", {"session": "x"}),
        record("app.started", {"session.id": "s"}),
        record("claude_code.plugin_loaded", {"session.id": "s"}),
        record("gemini_cli.api_response", {"session.id": "s"}),
        record("gen_ai.choice", {"gen_ai.conversation.id": "s"}),
        record("codex.user_prompt", {"session.id": ""}),
        record("codex.user_prompt", {"session.id": 7}),
        LogRecord(body="hello"),
    ],
)
def test_what_names_no_session_or_tells_of_no_boundary_is_not_placed(given):
    assert placed_in_session(given).trace_id == ""


def test_a_session_of_the_resource_counts_and_so_does_the_name_of_the_scope():
    on_resource = LogRecord(
        attributes={"event.name": "api_request"}, resource=Resource(attributes={"session.id": "s"}), scope=CLAUDE
    )
    on_record = LogRecord(attributes={"event.name": "tool_result", "session.id": "s"}, scope=CLAUDE)
    assert placed_in_session(on_resource).trace_id == placed_in_session(on_record).trace_id != ""


def test_a_place_in_the_source_is_no_name_of_an_event():
    bridged = LogRecord(event_name="event otel/src/lib.rs:12", attributes={"event.name": "codex.user_prompt"})
    assert event_of(bridged) == "codex.user_prompt"
    assert event_of(LogRecord(event_name="gen_ai.choice", attributes={"event.name": "other"})) == "gen_ai.choice"
