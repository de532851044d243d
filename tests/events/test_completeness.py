"""What counts as held, as inferred and as absent, and the verdict that follows."""

import pytest

from otelreplay.events import Event, Failure, Inferred, Message, Missing, Redaction, assess
from otelreplay.events.completeness import CONTENT, content_states, is_content_gap


def model(seq=0, **given):
    content = {
        "request": {"messages": [Message({"role": "user", "parts": []})]},
        "response": {"messages": [Message({"role": "assistant", "parts": []})]},
    }
    return Event(**{"seq": seq, "id": f"t/{seq}", "kind": "model", "name": "m", **content, **given})


def tool(seq=0, **given):
    content = {"request": {"arguments": {"n": 1}}, "response": {"result": None}}
    return Event(**{"seq": seq, "id": f"t/{seq}", "kind": "tool", "name": "f", **content, **given})


def gap(field, cause="content_not_captured"):
    return Missing(field=field, cause=cause)


def inferred(field):
    return Inferred(field=field, source="t/0:x", rule="r")


def test_a_run_whose_boundaries_hold_request_and_response_is_full():
    found = assess([model(0), tool(1)])
    assert ("full", 4, 0, 0, {"model": 1, "tool": 1}) == (
        found.verdict,
        found.recorded,
        found.inferred,
        found.absent,
        found.by_kind,
    )


def test_a_recorded_null_is_held_and_an_absent_key_is_not():
    held, absent = assess([tool(response={"result": None})]), assess([tool(response={})])
    assert (2, 0) == (held.recorded, held.absent)
    assert (1, 1, "partial") == (absent.recorded, absent.absent, absent.verdict)


def test_an_empty_list_of_messages_is_held():
    assert "full" == assess([model(request={"messages": []})]).verdict


def test_without_any_content_only_the_structure_is_there():
    found = assess([model(request={}, response=None), tool(1, request={}, response=None)])
    assert ("structure_only", 0, 4) == (found.verdict, found.recorded, found.absent)


def test_no_events_at_all_is_structure_only():
    assert "structure_only" == assess([]).verdict


def test_a_failure_is_an_outcome():
    assert "full" == assess([tool(response=None, error=Failure(type="LookupError"))]).verdict


def test_a_failure_does_not_stand_for_a_request():
    assert [("request.arguments", "absent"), ("response.result", "recorded")] == list(
        content_states(tool(request={}, response=None, error=Failure(type="LookupError")))
    )


def test_a_run_level_gap_makes_a_run_partial():
    found = assess([model()], [gap("tool", "span_not_received")])
    assert ("partial", ("tool",)) == (found.verdict, tuple(m.field for m in found.missing))


@pytest.mark.parametrize("field", ["request.messages", "request"])
def test_a_mark_on_a_field_or_on_the_whole_it_is_in_makes_it_absent(field):
    found = assess([model(missing=[gap(field)])])
    assert (1, 1, "partial") == (found.recorded, found.absent, found.verdict)


@pytest.mark.parametrize("cause", ["truncated", "undecodable", "conflict"])
def test_what_was_cut_is_held_in_part_and_a_gap(cause):
    found = assess([tool(missing=[gap("response.result", cause)])])
    assert (2, 0, "partial") == (found.recorded, found.absent, found.verdict)


def test_a_mark_on_a_part_leaves_the_field_recorded_and_the_run_partial():
    found = assess([model(missing=[gap("response.messages[0].parts[0].content")])])
    assert (2, 0, "partial", 1) == (found.recorded, found.absent, found.verdict, len(found.gaps))


@pytest.mark.parametrize("field", ["response.usage", "request.params.seed", "response.messages_count", "end"])
def test_a_gap_in_a_detail_is_listed_and_leaves_the_run_full(field):
    found = assess([model(missing=[gap(field)])])
    assert ("full", [field]) == (found.verdict, [mark.field for _, mark in found.gaps])


def test_a_gap_in_the_system_text_makes_a_run_partial():
    assert "partial" == assess([model(missing=[gap("request.system")])]).verdict


def test_marks_that_a_message_carries_count_for_every_event_that_holds_it():
    message = Message({"role": "user", "parts": [{}]}, [gap("parts[0].content", "truncated")])
    found = assess([model(0, request={"messages": [message]}), model(1, request={"messages": [message, message]})])
    assert [(0, "request.messages[0]"), (1, "request.messages[0]"), (1, "request.messages[1]")] == [
        (seq, mark.field.removesuffix(".parts[0].content")) for seq, mark in found.gaps
    ]


def test_a_field_is_inferred_when_a_mark_names_it_or_each_of_its_messages():
    first, second = (Message({"n": n}, [inferred("")]) for n in range(2))
    assert 1 == assess([tool(inferred=[inferred("response.result")])]).inferred
    assert 1 == assess([model(request={"messages": [first, second]})]).inferred
    assert 0 == assess([model(request={"messages": [first, Message({})]})]).inferred


def test_masked_text_is_held_and_dropped_text_is_not():
    masked = assess([tool(redactions=[Redaction(field="request.arguments.n", rule="email", action="mask")])])
    dropped = assess([tool(request={}, missing=[gap("request.arguments", "redacted")])])
    assert ("full", 1) == (masked.verdict, masked.redactions)
    assert ("partial", 1) == (dropped.verdict, dropped.absent)


def test_an_agent_owes_no_input_unless_it_is_said_to_be_missing():
    agent = Event(seq=0, id="t/0", kind="agent", name="a")
    assert (0, 0) == (assess([agent]).recorded, assess([agent]).absent)
    assert 1 == assess([agent.model_copy(update={"missing": [gap("request.input")]})]).absent
    assert 1 == assess([agent.model_copy(update={"request": {"input": "hi"}})]).recorded


def test_other_kinds_owe_what_came_back():
    assert "full" == assess([Event(seq=0, id="t/0", kind="clock", name="now", response={"value": 1})]).verdict
    assert 1 == assess([Event(seq=0, id="t/0", kind="random", name="r")]).absent


@pytest.mark.parametrize("kind", ["context", "embeddings", "memory", "decision", "human"])
def test_structure_around_the_boundaries_owes_nothing_and_counts_what_is_marked(kind):
    bare = Event(seq=0, id="t/0", kind=kind, name="x")
    field = CONTENT.get(kind, ("request",))[0]
    assert 0 == assess([bare]).absent
    assert 1 == assess([bare.model_copy(update={"missing": [gap(field)]})]).absent


def test_what_the_model_was_told_stands_for_a_result_of_a_tool():
    found = assess([tool(response={"as_seen": "42"}, inferred=[inferred("response.as_seen")])])
    assert (1, 1, "full") == (found.recorded, found.inferred, found.verdict)


def test_every_content_field_is_a_content_gap_of_its_kind():
    for kind, names in CONTENT.items():
        event = Event(seq=0, id="t/0", kind=kind, name="x")
        assert all(is_content_gap(event, gap(name)) for name in names)
        assert not is_content_gap(event, gap(""))
