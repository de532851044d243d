"""Every gap has its cause and a remedy, and what is there is never called missing."""

import json

import msgspec
import pytest

from otelreplay.spans import Removal, Scope, SpanEvent
from tests.reconstruct.builders import (
    ASK,
    CALL,
    DONE,
    HANDLER,
    LATEST,
    LEGACY,
    OWN,
    TOLD,
    TRACE,
    agent,
    answer,
    calls,
    gaps,
    log,
    model,
    of_kind,
    rebuilt,
    rules,
    span,
    text,
    tool,
    whole_run,
)

LONG = "x" * 400


def with_attributes(item, **attributes):
    return msgspec.structs.replace(item, attributes=item.attributes | {k.replace("__", "."): v for k, v in attributes.items()})


def test_content_switched_off_names_the_switch_of_the_package():
    recording = rebuilt(agent(), model(2))
    (found,) = of_kind(recording, "model")
    assert gaps(found) == dict.fromkeys(
        ("request.messages", "request.system", "request.tools", "response.messages"), "content_not_captured"
    )
    assert all("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only" in m.remedy for m in found.missing)


def test_the_older_form_names_another_switch_and_the_logs_pipeline():
    old = span(2, "chat m", scope=LEGACY, gen_ai__operation__name="chat", gen_ai__system="openai", gen_ai__request__model="m")
    (found,) = rebuilt(old).events
    assert "CONTENT=true" in found.missing[0].remedy
    assert "logs pipeline" in found.missing[0].remedy
    assert gaps(found)["request.messages"] == "content_not_captured"


def test_no_system_prompt_and_no_tools_are_no_gaps_when_the_messages_are_there():
    (found,) = of_kind(rebuilt(agent(), model(2, [text("user", "hi")], DONE)), "model")
    assert found.missing == []


def test_tool_definitions_that_a_package_never_records_are_missed_only_where_tools_are_used():
    scope = msgspec.structs.replace(HANDLER, version="0.4b0")
    plain = of_kind(rebuilt(model(2, ASK, DONE, parent=None, scope=scope)), "model")[0]
    assert gaps(plain) == {}
    using = of_kind(rebuilt(model(2, ASK, CALL, parent=None, scope=scope)), "model")[0]
    assert gaps(using) == {"request.tools": "not_carried_by_convention"}


def test_a_value_cut_by_a_limit_is_never_served_as_whole():
    messages = json.dumps([text("user", LONG)])[:200]
    (found,) = of_kind(rebuilt(with_attributes(model(2, reply=DONE, parent=None), gen_ai__input__messages=messages)), "model")
    assert gaps(found)["request.messages"] == "truncated"
    assert "messages" not in found.request
    assert found.attributes["gen_ai.input.messages"] == messages
    assert "LENGTH_LIMIT" in next(m.remedy for m in found.missing if m.cause == "truncated")


def test_plain_text_of_the_length_at_which_json_was_cut_is_cut_too():
    limit = json.dumps([text("user", LONG)])[:200]
    cut_text = tool(3, arguments={"id": 1}, parent=None)
    cut_text = with_attributes(cut_text, gen_ai__tool__call__result="y" * 200)
    recording = rebuilt(with_attributes(model(2, parent=None), gen_ai__input__messages=limit), cut_text)
    assert gaps(of_kind(recording, "tool")[0]) == {"response.result": "truncated"}
    alone = rebuilt(cut_text)
    assert of_kind(alone, "tool")[0].response == {"result": "y" * 200}


def test_broken_json_that_is_not_the_longest_text_is_what_the_model_wrote():
    broken = '{"order_id": "ord-7"'
    written = with_attributes(tool(3, parent=None), gen_ai__tool__call__arguments=broken)
    recording = rebuilt(written, with_attributes(tool(4, parent=None), gen_ai__tool__call__result="w" * 50))
    assert of_kind(recording, "tool")[0].request["arguments"] == broken
    assert [m.cause for e in recording.events for m in e.missing if m.cause == "truncated"] == []


def test_several_texts_of_one_greatest_length_show_a_limit_without_any_json():
    cut = [with_attributes(tool(n, parent=None), gen_ai__tool__call__result=letter * 90) for n, letter in enumerate("abc", 3)]
    assert {gaps(e).get("response.result") for e in of_kind(rebuilt(*cut), "tool")} == {"truncated"}
    assert {gaps(e).get("response.result") for e in of_kind(rebuilt(*cut[:2]), "tool")} == {None}


def test_a_form_that_cannot_be_read_is_undecodable_and_kept():
    odd = with_attributes(model(2, reply=DONE, parent=None), gen_ai__input__messages=7)
    (found,) = of_kind(rebuilt(odd), "model")
    assert gaps(found)["request.messages"] == "undecodable"
    assert found.attributes["gen_ai.input.messages"] == 7


def test_attributes_that_the_sdk_dropped_are_the_cause():
    (found,) = rebuilt(model(2, parent=None, _dropped_attributes_count=3)).events
    assert set(gaps(found).values()) == {"attributes_dropped"}
    assert "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT" in found.missing[0].remedy


@pytest.mark.parametrize("suffix", ["_ref", ".ref"])
def test_content_kept_elsewhere_is_an_external_reference(suffix):
    item = model(2, reply=DONE, parent=None)
    item = msgspec.structs.replace(item, attributes=item.attributes | {f"gen_ai.input.messages{suffix}": "s3://b/k"})
    (found,) = rebuilt(item).events
    gap = next(m for m in found.missing if m.field == "request.messages")
    assert (gap.cause, gap.detail) == ("external_reference", "s3://b/k")


def test_what_the_policy_removed_is_redacted_not_uncaptured():
    removed = model(
        2, reply=DONE, parent=None, _removed=(Removal(path="attributes.gen_ai.input.messages", rule="no-input", action="drop"),)
    )
    (found,) = rebuilt(removed).events
    assert gaps(found)["request.messages"] == "redacted"
    assert "no-input" in next(m.detail for m in found.missing if m.cause == "redacted")


def test_a_span_that_never_ended_says_so():
    (found,) = rebuilt(model(2, ASK, DONE, parent=None, end=0)).events
    assert gaps(found) == {"end": "never_ended"}
    assert found.end is None


def test_dropped_span_events_are_said():
    (found,) = rebuilt(model(2, ASK, DONE, parent=None, _dropped_events_count=2)).events
    assert gaps(found) == {"attributes": "attributes_dropped"}


def test_a_parent_that_never_arrived_is_named():
    (found,) = rebuilt(model(2, ASK, DONE, parent=77)).events
    (gap,) = found.missing
    assert (gap.field, gap.cause) == ("parent", "span_not_received")
    assert f"{77:016x}" in gap.detail


def test_log_records_of_a_span_that_never_arrived_still_make_its_event():
    details = log(
        9,
        "gen_ai.client.inference.operation.details",
        at=50,
        scope=LATEST,
        gen_ai__operation__name="chat",
        gen_ai__request__model="m",
        gen_ai__input__messages=[text("user", "hi")],
    )
    (found,) = rebuilt(details).events
    assert (found.kind, found.request["messages"][0]["role"]) == ("model", "user")
    assert gaps(found)["span"] == "span_not_received"
    assert gaps(found)["response.messages"] == "span_not_received"


def test_records_that_name_no_span_are_counted():
    recording = rebuilt(model(2, ASK, DONE, parent=None), msgspec.structs.replace(log(2, "app"), span_id=""))
    assert [n.code for n in recording.notes] == ["logs_not_placed"]


def test_a_model_call_without_content_is_filled_from_the_next_request():
    recording = rebuilt(
        agent(),
        model(2),
        tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1"),
        model(4, [*ASK, CALL, TOLD], DONE),
    )
    first = of_kind(recording, "model")[0]
    assert first.response["messages"] == [CALL]
    assert [m["role"] for m in first.request["messages"]] == ["user"]
    assert first.request["system"] == [{"type": "text", "content": "be brief"}]
    assert rules(first) == {
        "response.messages": "reply_from_later_history",
        "request.messages": "request_from_later_history",
        "request.system": "request_from_later_history",
    }
    assert gaps(first) == {}
    assert recording.missing == ()
    assert of_kind(recording, "tool")[0].after == [1]


def test_the_last_reply_is_filled_from_what_the_agent_put_out():
    output = json.dumps([{**DONE, "finish_reason": "stop"}])
    recording = rebuilt(agent(gen_ai__output__messages=output), *whole_run()[1:3], model(4))
    last = of_kind(recording, "model")[-1]
    assert last.response["messages"][0]["parts"] == DONE["parts"]
    assert rules(last) == {"response.messages": "reply_from_agent_output"}


def test_an_output_that_a_recorded_reply_gave_is_not_given_to_another_call():
    output = json.dumps([DONE])
    recording = rebuilt(agent(gen_ai__output__messages=output), model(2, ASK, DONE), model(4))
    assert rules(of_kind(recording, "model")[-1]) == {}


def test_a_reply_that_no_event_gave_is_a_model_call_that_is_missing():
    recording = rebuilt(
        agent(), tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1"), model(4, [*ASK, CALL, TOLD], DONE)
    )
    (gap,) = recording.missing
    assert (gap.field, gap.cause) == ("model", "span_not_received")
    assert len(of_kind(recording, "model")) == 1
    assert len(of_kind(recording, "tool")) == 1


def test_the_past_of_a_resumed_conversation_is_neither_missing_nor_new():
    past = [text("user", "hello"), CALL, TOLD, text("assistant", "it was late")]
    recording = rebuilt(agent(), model(2, [*past, text("user", "and today?")], DONE))
    assert recording.missing == ()
    assert of_kind(recording, "tool") == []


def test_several_lost_replies_and_not_as_many_empty_calls_are_not_guessed():
    second = calls(("c2", "find", {"id": "o-2"}))
    recording = rebuilt(
        agent(),
        model(2),
        model(
            6,
            [
                *ASK,
                CALL,
                TOLD,
                second,
                {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": "x"}]},
            ],
            DONE,
        ),
    )
    assert [m.field for m in recording.missing] == ["model", "model"]
    assert len(of_kind(recording, "tool")) == 2


def test_content_switched_off_in_one_span_and_a_lost_one_are_both_said():
    recording = rebuilt(agent(), model(2), model(4))
    assert {m.field for e in of_kind(recording, "model") for m in e.missing} >= {"request.messages", "response.messages"}


def test_leftovers_are_never_dropped():
    odd = model(2, ASK, DONE, parent=None, acme__tenant="t", _trace_state="a=b", _status_message="fine")
    (found,) = rebuilt(odd).events
    assert found.attributes["acme.tenant"] == "t"
    assert found.attributes["otelreplay.trace_state"] == "a=b"
    assert found.attributes["otelreplay.status_message"] == "fine"
    assert found.attributes["otelreplay.scope"].startswith("opentelemetry.instrumentation.genai.openai")
    (strange,) = rebuilt(span(1, "x", scope=OWN), log(1, "app.event", {"a": 1}, scope=OWN)).events
    assert strange.attributes["otelreplay.logs"][0]["body"] == {"a": 1}


def test_links_are_kept_with_their_attributes():
    from otelreplay.spans import Link

    (found,) = rebuilt(
        model(2, ASK, DONE, parent=None, _links=(Link(trace_id=TRACE, span_id="1" * 16, attributes={"why": "x"}),))
    ).events
    assert found.attributes["otelreplay.links"] == [{"span": f"{TRACE}/{'1' * 16}", "attributes": {"why": "x"}}]


def test_a_result_that_no_model_call_reads_is_noted():
    ran = tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1")
    assert [n.code for n in rebuilt(agent(), model(2, ASK, CALL), ran).notes] == ["result_unread"]
    assert rebuilt(agent(), model(2, ASK, CALL), ran, model(4, [*ASK, CALL, TOLD], DONE)).notes == ()
    assert rebuilt(agent(), model(2), ran).notes == ()


def test_a_system_prompt_inside_cut_messages_is_cut_with_them():
    cut = with_attributes(model(2, reply=DONE, parent=None), gen_ai__input__messages=json.dumps([text("user", LONG)])[:200])
    (found,) = of_kind(rebuilt(cut), "model")
    assert gaps(found)["request.system"] == gaps(found)["request.messages"] == "truncated"


def test_one_result_that_breaks_off_is_cut_whatever_else_is_longer():
    cut = with_attributes(tool(3, arguments={"id": "o-1"}, call_id="c1"), gen_ai__tool__call__result='{"state": "la')
    recording = rebuilt(agent(), model(2, ASK, CALL), cut)
    (found,) = of_kind(recording, "tool")
    assert gaps(found) == {"response.result": "truncated"}
    assert found.attributes["gen_ai.tool.call.result"] == '{"state": "la'
    later = rebuilt(agent(), model(2, ASK, CALL), cut, model(4, [*ASK, CALL, TOLD], DONE))
    assert of_kind(later, "tool")[0].response == {"result": {"state": "late"}}
    assert rules(of_kind(later, "tool")[0])["response.result"] == "result_from_next_request"


def test_half_of_some_json_that_the_model_was_told_just_so_is_whole():
    half = '{"state": "la'
    written = with_attributes(tool(3, arguments={"id": "o-1"}, call_id="c1"), gen_ai__tool__call__result=half)
    recording = rebuilt(agent(), model(2, ASK, CALL), written, model(4, [*ASK, CALL, answer("c1", half)], DONE))
    (found,) = of_kind(recording, "tool")
    assert (found.response, gaps(found), rules(found)) == ({"result": half}, {}, {})


def test_a_limit_is_known_by_lengths_before_redaction():
    limit = json.dumps([text("user", LONG)])[:200]
    shorter = msgspec.structs.replace(
        with_attributes(tool(3, parent=None), gen_ai__tool__call__result="[email#…] and more"),
        lengths={"gen_ai.tool.call.result": 200},
    )
    longer = msgspec.structs.replace(
        with_attributes(model(2, parent=None), gen_ai__input__messages=limit + "[REDACTED:x]"),
        lengths={"gen_ai.input.messages": 200},
    )
    recording = rebuilt(longer, shorter)
    assert gaps(of_kind(recording, "tool")[0])["response.result"] == "truncated"
    assert "after 200 characters" in next(m.detail for m in of_kind(recording, "model")[0].missing if m.cause == "truncated")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("attributes.gen_ai.tool.call.result.parcel", "response.result.parcel"),
        ("attributes.gen_ai.tool.call.arguments[0]", "request.arguments[0]"),
    ],
)
def test_what_a_policy_took_out_of_a_payload_is_named(path, field):
    removed = tool(
        3, arguments={"id": 1}, result={"a": 1}, parent=None, _removed=(Removal(path=path, rule="r", action="drop"),)
    )
    assert gaps(of_kind(rebuilt(removed), "tool")[0]) == {field: "redacted"}


def test_what_a_policy_took_out_of_a_message_is_named_where_the_message_stands():
    removed = tuple(
        Removal(path=f"attributes.gen_ai.input.messages[{n}].parts[0].content", rule="r", action="drop") for n in (0, 1)
    )
    (found,) = of_kind(rebuilt(model(2, ASK, DONE, parent=None, _removed=removed)), "model")
    assert gaps(found) == {"request.system": "redacted", "request.messages[0].parts[0].content": "redacted"}


@pytest.mark.parametrize("parts", [[], [{"type": "text", "content": "one moment"}], [{"type": "function", "id": "c1"}]])
def test_a_reply_that_ended_by_calling_and_shows_no_call_says_that_tools_are_missing(parts):
    reply = {"role": "assistant", "parts": parts}
    recording = rebuilt(model(2, ASK, reply, parent=None, gen_ai__response__finish_reasons=["tool_calls"]))
    (gap,) = recording.missing
    assert (gap.field, gap.cause) == ("tool", "span_not_received")
    assert "ended by calling tools" in gap.detail


def test_tools_that_left_spans_are_not_missing_beside_a_reply_that_shows_no_call():
    reply = {"role": "assistant", "parts": []}
    calling = model(2, ASK, reply, gen_ai__response__finish_reasons=["tool_calls"])
    recording = rebuilt(agent(), calling, tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1"))
    assert "tool" not in [m.field for m in recording.missing]


def test_content_that_azure_s_sdk_left_out_names_its_own_switch():
    azure = Scope(name="azure.core.tracing.ext.opentelemetry_span", version="1.0.0b13")
    choice = SpanEvent(name="gen_ai.choice", attributes={"gen_ai.event.content": '{"finish_reason": "stop", "index": 0}'})
    for events in ((), (choice,)):
        call = model(2, parent=None, scope=azure, provider="az.ai.inference", _events=events)
        (event,) = of_kind(rebuilt(call), "model")
        told = [m.remedy for m in event.missing if "messages" in m.field]
        assert told
        assert all("AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true" in remedy for remedy in told)
