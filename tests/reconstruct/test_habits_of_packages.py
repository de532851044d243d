"""What real packages do to content, each habit seen in a capture, and what is made of it."""

import json

import msgspec
import pytest

from otelreplay.events import expand
from otelreplay.spans import Scope
from tests.reconstruct.builders import (
    ASK,
    CALL,
    DONE,
    HANDLER,
    TOLD,
    agent,
    answer,
    calls,
    gaps,
    model,
    of_kind,
    rebuilt,
    rules,
    text,
    tool,
)

GOOGLE = Scope(name="opentelemetry.instrumentation.google_genai", version="1.3b0")


def told_result(recorded, told):
    """The result of a tool whose span holds the text ``recorded`` and whose model was told ``told``."""
    call = calls(("c1", "give", {}))
    given = tool(3, "give", arguments={}, call_id="c1")
    given = msgspec.structs.replace(given, attributes=given.attributes | {"gen_ai.tool.call.result": recorded})
    after = [model(4, [*ASK, call, answer("c1", told)], DONE)] if told is not None else []
    (found,) = of_kind(rebuilt(agent(), model(2, ASK, call), given, *after), "tool")
    return found


@pytest.mark.parametrize(
    ("recorded", "told", "result"),
    [
        ("42.5", {"result": 42.5}, 42.5),
        ("42.5", '"42.5"', "42.5"),
        ("false", "false", False),
        ("null", {"result": None}, None),
        ('{"deep": 1}', '"{\\"deep\\": 1}"', '{"deep": 1}'),
        ('{"deep": 1}', '{"deep": 1}', {"deep": 1}),
        ('"plain"', '"plain"', "plain"),
        ("plain", '"plain"', "plain"),
        ("plain", "plain", "plain"),
    ],
)
def test_what_a_recorded_text_stands_for_is_told_by_what_the_model_was_sent(recorded, told, result):
    found = told_result(recorded, told)
    assert found.response == {"result": result}
    assert type(found.response["result"]) is type(result)


def test_a_scalar_that_nobody_tells_of_is_read_from_json_and_marked():
    found = told_result("42.5", None)
    assert found.response == {"result": 42.5}
    assert rules(found) == {"response.result": "scalar_read_from_json_text"}
    assert rules(told_result("plain", None)) == {}


def test_of_several_choices_only_the_one_taken_makes_tool_events():
    other = calls(("c2", "find", {"id": "o-2"}))
    both = json.dumps([CALL, other])
    two = model(2, ASK, gen_ai__output__messages=both, gen_ai__request__choice__count=2)
    assert [e.request["call_id"] for e in of_kind(rebuilt(agent(), two), "tool")] == ["c1"]
    later = model(4, [*ASK, other, answer("c2", "x")], DONE)
    assert [e.request["call_id"] for e in of_kind(rebuilt(agent(), two, later), "tool")] == ["c2"]
    one_turn = model(2, ASK, gen_ai__output__messages=both)
    assert len(of_kind(rebuilt(agent(), one_turn), "tool")) == 2


def test_a_stream_that_the_program_left_is_no_failure_and_keeps_what_came():
    left = model(
        2, ASK, DONE, gen_ai__request__stream=True, error__type="_OTHER", _status_code=2, _status_message="abandoned stream"
    )
    reply = json.dumps([{**DONE, "finish_reason": "error"}])
    left = msgspec.structs.replace(left, attributes=left.attributes | {"gen_ai.output.messages": reply})
    (found,) = of_kind(rebuilt(agent(), left), "model")
    assert found.error is None
    assert found.response["messages"][0]["parts"] == DONE["parts"]
    assert gaps(found) == {"response.messages[0]": "never_ended"}
    nothing = model(2, ASK, gen_ai__request__stream=True, error__type="_OTHER", _status_code=2)
    assert gaps(of_kind(rebuilt(agent(), nothing), "model")[0]) == {"response.messages": "never_ended"}


def test_a_stream_that_failed_stays_a_failure():
    failed = model(2, ASK, gen_ai__request__stream=True, error__type="RateLimitError", _status_code=2)
    (found,) = of_kind(rebuilt(agent(), failed), "model")
    assert found.error.type == "RateLimitError"


def test_an_empty_reply_is_empty_and_not_missing():
    empty = model(2, ASK, gen_ai__response__finish_reasons=["stop"], gen_ai__usage__output_tokens=1)
    (found,) = of_kind(rebuilt(agent(), empty), "model")
    assert found.response["messages"] == [{"role": "assistant", "parts": []}]
    assert rules(found) == {"response.messages": "empty_reply_from_finish_reason"}
    costly = model(2, ASK, gen_ai__response__finish_reasons=["stop"], gen_ai__usage__output_tokens=400)
    assert gaps(of_kind(rebuilt(agent(), costly), "model")[0]) == {"response.messages": "not_carried_by_convention"}


def test_a_reply_that_a_later_request_quotes_was_not_empty():
    cheap = model(2, ASK, gen_ai__response__finish_reasons=["stop"], gen_ai__usage__output_tokens=2)
    recording = rebuilt(agent(), cheap, model(4, [*ASK, CALL, TOLD], DONE))
    first = of_kind(recording, "model")[0]
    assert first.response["messages"] == [CALL]
    assert rules(first) == {"response.messages": "reply_from_later_history"}
    assert recording.missing == ()


def test_finish_reasons_that_only_the_message_holds_are_inferred():
    (found,) = of_kind(rebuilt(agent(), model(2, ASK, DONE)), "model")
    assert found.response["finish_reasons"] == ["stop"]
    assert rules(found) == {"response.finish_reasons": "finish_reason_from_message"}


def test_messages_that_a_package_records_without_their_content_are_marked():
    bare = [{"role": "system", "parts": []}, {"role": "user", "parts": []}]
    found = expand(of_kind(rebuilt(agent(), model(2, bare, DONE)), "model")[0])
    assert gaps(found) == {
        "request.messages[0].parts": "not_carried_by_convention",
        "request.system": "not_carried_by_convention",
    }
    assert "system" not in found.request


def test_tools_that_ran_inside_a_model_span_show_several_exchanges():
    inside = tool(3, arguments={"id": "o-1"}, result=1, parent=2)
    recording = rebuilt(agent(), model(2, ASK, DONE), inside)
    assert [(m.field, m.cause) for m in recording.missing] == [("model", "not_carried_by_convention")]
    assert gaps(of_kind(recording, "model")[0]) == {"request.messages": "not_carried_by_convention"}
    asked = rebuilt(agent(), model(2, ASK, CALL), tool(3, arguments={"id": "o-1"}, result=1, call_id="c1", parent=2))
    assert asked.missing == ()


def test_calls_of_a_provider_with_mute_finish_reasons_may_hide_tools():
    def mute(n):
        return model(n, provider="gemini", gen_ai__response__finish_reasons=["stop"], scope=GOOGLE)

    assert [m.field for m in rebuilt(agent(), mute(2), mute(4)).missing] == ["tool"]
    assert rebuilt(agent(), mute(2)).missing == ()
    assert [m.field for m in rebuilt(agent(), model(2), model(4)).missing] == []


def test_a_result_without_its_call_in_the_history_answers_the_call_of_an_earlier_reply():
    recording = rebuilt(agent(), model(2, ASK, CALL, response_id="resp_0"), model(4, [TOLD], DONE))
    (found,) = of_kind(recording, "tool")
    assert found.response["result"] == {"state": "late"}
    assert [e.after for e in recording.events] == [[], [0], [1], [2]]


def test_an_agents_input_that_a_package_never_records_names_no_switch():
    package = Scope(name="opentelemetry.instrumentation.genai.openai_agents", version="1.3b0")
    recording = rebuilt(agent(scope=package), model(2, ASK, DONE))
    assert gaps(recording.events[0]) == dict.fromkeys(("request.input", "response.output"), "not_carried_by_convention")
    assert {m.remedy for m in recording.events[0].missing} == {""}


def test_what_a_handled_failure_told_the_model_is_the_outcome():
    failed = tool(3, arguments={"id": "o-1"}, call_id="c1", error__type="_OTHER", _status_code=2)
    recording = rebuilt(agent(), model(2, ASK, CALL), failed, model(4, [*ASK, CALL, answer("c1", "Please try again.")], DONE))
    (found,) = of_kind(recording, "tool")
    assert found.response == {"result": "Please try again."}
    assert found.error.type == "_OTHER"


def test_bytes_of_an_image_stand_as_the_same_text_in_both_places():
    def picture(content):
        return [{"role": "user", "parts": [{"type": "blob", "modality": "image", "content": content}]}]

    structured = model(2, reply=DONE)
    structured = msgspec.structs.replace(
        structured, attributes=structured.attributes | {"gen_ai.input.messages": picture(b"\x89P")}
    )
    one = of_kind(rebuilt(agent(), structured), "model")[0]
    two = of_kind(rebuilt(agent(), model(2, picture("iVA="), DONE)), "model")[0]
    assert one.request == two.request


def test_a_tool_span_of_a_resumed_conversation_is_not_paired_with_its_past():
    past = [text("user", "hi"), calls(("p1", "find", {"id": "o-0"})), answer("p1", "old"), text("user", "and now?")]
    recording = rebuilt(agent(), model(2, past, CALL), tool(3, scope=HANDLER), model(4, [*past, CALL, TOLD], DONE))
    (found,) = of_kind(recording, "tool")
    assert found.request["arguments"] == {"id": "o-1"}
    assert recording.notes == ()
