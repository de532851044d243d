"""What people ran into with other tools, as far as it concerns reading: one named case each (E12 to E17, E20, B6 to B11)."""

import json

import pytest

from otelreplay.events import assess
from otelreplay.reconstruct import reconstruct
from tests.dialects.own_spans import js, own_agent, own_model, own_tool, said
from tests.reconstruct.builders import (
    ASK,
    CALL,
    DONE,
    LATEST,
    TOLD,
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
)  # fmt: skip


def turns(count):
    """The messages of a conversation in which each turn but the last asks for one tool: (history before, reply) each."""
    history, out = [text("user", "go")], []
    for n in range(count - 1):
        call = calls((f"c{n}", "find", {"n": n}))
        out.append((list(history), call))
        history += [call, answer(f"c{n}", f'{{"n": {n}}}')]
    return [*out, (list(history), text("assistant", "done"))]


@pytest.mark.parametrize("decorated", [False, True])
def test_e12_four_turns_that_repeat_their_history_are_four_model_events_and_link_each_result_once(decorated):
    spans = [own_agent() if decorated else agent()]
    for n, (history, reply) in enumerate(turns(4)):
        at = 2 + 2 * n
        spans.append(own_model(at, history, reply, parent=1) if decorated else model(at, history, reply))
        if n < 3:
            given = {"arguments": {"n": n}, "result": {"n": n}, "parent": 1}
            spans.append(own_tool(at + 1, **given) if decorated else tool(at + 1, call_id=f"c{n}", **given))
    recording = reconstruct(spans)
    assert [e.kind for e in recording.events] == ["agent", *["model", "tool"] * 3, "model"]
    assert [e.request["call_id"] for e in of_kind(recording, "tool")] == ["c0", "c1", "c2"]
    assert [e.after for e in recording.events[1:]] == [[n] for n in range(7)]
    held = {id(m) for e in of_kind(recording, "model") for m in e.request["messages"]}
    assert len(held) == 7


def test_e13_messages_that_only_the_agent_holds_are_given_to_its_empty_model_call_and_marked():
    given = {"gen_ai__input__messages": json.dumps(ASK), "gen_ai__output__messages": json.dumps([DONE])}
    recording = rebuilt(agent(**given), model(2))
    (event,) = of_kind(recording, "model")
    assert event.response["messages"][0]["parts"] == DONE["parts"]
    assert rules(event)["response.messages"] == "reply_from_agent_output"
    assert gaps(event)["request.messages"] == "content_not_captured"


def test_e13_of_several_empty_model_calls_none_is_guessed_to_have_replied():
    recording = rebuilt(agent(gen_ai__output__messages=json.dumps([DONE])), model(2), model(3))
    first, last = of_kind(recording, "model")
    assert gaps(first)["response.messages"] == "content_not_captured"
    assert first.response.get("messages") is None
    assert rules(last) == {"response.messages": "reply_from_agent_output"}


def test_e14_a_tool_beside_the_model_is_linked_to_the_call_that_decided_it_and_an_absent_one_is_inferred():
    recording = rebuilt(*whole_run())
    (event,) = of_kind(recording, "tool")
    assert event.after == [next(e.seq for e in recording.events if e.kind == "model")]
    run = whole_run()
    del run[2]
    (inferred,) = of_kind(rebuilt(*run), "tool")
    assert rules(inferred)["response.result"] == "result_from_next_request"
    assert inferred.spans == []


@pytest.mark.parametrize("decorated", [False, True])
def test_e15_two_calls_with_ids_on_the_model_side_only_pair_by_name_and_arguments(decorated):
    call = calls(("c1", "find", {"id": 1}), ("c2", "find", {"id": 2}))
    end = [*ASK, call, answer("c1", "one"), answer("c2", "two")]
    first, second = (own_tool, said("assistant", "x")) if decorated else (tool, text("assistant", "x"))
    ask = own_model if decorated else model
    spans = [
        own_agent() if decorated else agent(), ask(2, ASK, call, parent=1), first(3, "find", {"id": 2}, "two", parent=1),
        first(4, "find", {"id": 1}, "one", parent=1), ask(5, end, second, parent=1),
    ]  # fmt: skip
    found = {e.request["call_id"]: e.response["result"] for e in of_kind(reconstruct(spans), "tool")}
    assert found == {"c1": "one", "c2": "two"}


def test_e15_where_the_pairing_is_a_guess_a_note_warns():
    call = calls(("c1", "find", {"id": 1}), ("c2", "find", {"id": 2}))
    recording = rebuilt(
        agent(), model(2, ASK, call), tool(3), tool(4), model(5, [*ASK, call, answer("c1", "1"), answer("c2", "2")], DONE)
    )
    assert {n.code for n in recording.notes} == {"ambiguous_pairing"}
    assert [e.request["call_id"] for e in of_kind(recording, "tool")] == ["c1", "c2"]


def test_e16_one_content_in_three_forms_is_read_once_by_precedence_and_a_conflict_is_flagged():
    both = {
        "gen_ai__prompt": json.dumps([{"role": "user", "content": "legacy attribute"}]),
        "gen_ai__completion": json.dumps([{"role": "assistant", "content": "it is late"}]),
    }
    recording = rebuilt(
        model(2, [text("user", "new attribute")], DONE, parent=None, **both),
        log(2, "gen_ai.user.message", {"content": "event"}, scope=LATEST),
        log(2, "gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "it is late"}}, scope=LATEST),
    )
    (event,) = recording.events
    assert event.request["messages"] == [text("user", "new attribute")]
    assert len(event.response["messages"]) == 1
    assert [n.code for n in recording.notes] == ["conflict"]


def test_e17_a_clock_five_seconds_behind_changes_no_time_and_no_order():
    late = 10_000_000_000
    spans = whole_run()
    spans[2] = tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1", start=late - 5_000_000_000, end=late)
    spans[1] = model(2, ASK, CALL, start=late)
    spans[3] = model(4, [*ASK, CALL, TOLD], DONE, start=late + 1)
    recording = rebuilt(*spans)
    assert [e.kind for e in recording.events] == ["agent", "model", "tool", "model"]
    (event,) = of_kind(recording, "tool")
    assert (event.start, event.end) == ("5000000000", "10000000000")
    assert "clock_skew" in {n.code for n in recording.notes}


def test_e20_a_payload_that_is_kept_elsewhere_is_never_taken_for_an_empty_one():
    (event,) = rebuilt(model(2, parent=None, gen_ai__input__messages_ref="s3://b/1.json")).events
    assert gaps(event)["request.messages"] == "external_reference"
    assert "messages" not in event.request


# ---- payloads ----------------------------------------------------------------------------------------------------------


def test_b6_a_history_of_a_hundred_messages_is_whole_and_what_was_dropped_is_counted():
    history = [text("user", f"m{n}") for n in range(100)]
    (event,) = reconstruct([own_model(2, history, said("assistant", "x"))]).events
    assert event.request["messages"] == history
    (cut,) = reconstruct([own_model(2, reply=said("assistant", "x"), dropped_attributes_count=3)]).events
    assert gaps(cut)["request.messages"] == "attributes_dropped"
    assert "3" in next(m.detail for m in cut.missing)


def test_b7_json_that_a_limit_cut_is_truncated_and_what_a_producer_left_out_says_how_long_it_was():
    whole = js([text("user", "x" * 500)])
    (event,) = rebuilt(
        span(2, "chat m", gen_ai__operation__name="chat", gen_ai__request__model="m", gen_ai__input__messages=whole[:99])
    ).events
    assert gaps(event)["request.messages"] == "truncated"
    lost = [{"path": "gen_ai.input.messages", "class": "builtins:str", "reason": "attribute_limit", "size": 564, "limit": 99}]
    (own,) = reconstruct([own_model(2, reply=said("assistant", "x"), more={"otelreplay.losses": js(lost)})]).events
    assert gaps(own)["request.messages"] == "truncated"
    assert "564" in next(m.detail for m in own.missing if m.cause == "truncated")


def test_b8_arguments_as_an_object_and_as_text_of_it_are_one_object_for_a_model_and_exact_for_a_function():
    call = calls(("c1", "find", '{"id": "o-1"}'))
    recording = reconstruct([
        own_agent(), own_model(2, ASK, call, parent=1), own_tool(3, arguments={"id": "o-1"}, result=1, parent=1),
        own_tool(4, "raw", arguments={"body": '{"id": 1}'}, result=1, parent=1),
    ])  # fmt: skip
    found, raw = of_kind(recording, "tool")
    assert found.request == {"arguments": {"id": "o-1"}, "call_id": "c1"}
    assert raw.request["arguments"] == {"body": '{"id": 1}'}


@pytest.mark.parametrize("wrote", ["SELECT 1", '{"a":'])
def test_b9_arguments_that_are_no_json_are_kept_just_as_the_model_wrote_them(wrote):
    call = calls(("c1", "query", wrote))
    for spans in (
        [own_model(2, ASK, call), own_model(4, [*ASK, call, answer("c1", "no")], said("assistant", "x"))],
        [model(2, ASK, call, parent=None), model(4, [*ASK, call, answer("c1", "no")], DONE, parent=None)],
    ):
        recording = reconstruct(spans)
        (event,) = of_kind(recording, "tool")
        assert event.request["arguments"] == wrote
        assert of_kind(recording, "model")[0].response["messages"][0]["parts"][0]["arguments"] == wrote


def test_b10_reasoning_signatures_and_opaque_blocks_stay_as_they_were_and_in_order():
    parts = [
        {"type": "reasoning", "content": "hm", "signature": "EqQBCkYIBxgC+/=="},
        {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4"},
        {"type": "text", "content": "let me look"},
        {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"id": 1}},
    ]
    for one in (own_model(2, ASK, {"role": "assistant", "parts": parts}), model(2, ASK, {"role": "assistant", "parts": parts})):
        assert of_kind(reconstruct([one]), "model")[0].response["messages"][0]["parts"] == parts


def test_b11_bytes_come_back_as_the_same_bytes():
    png = b"\x89PNG" + bytes(range(256)) * 400
    recording = reconstruct([own_tool(2, arguments={"n": 1}, result={"image": png})])
    assert recording.events[0].response["result"] == {"image": png}
    assert assess(recording.events).verdict == "full"
