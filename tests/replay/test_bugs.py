"""What users of recorders reported against other tools (the letters name the report), each as a test of this one."""

import random

import pytest

from otelreplay.boundary import ReplayStopped
from otelreplay.events import Missing
from otelreplay.redaction import default_policy
from otelreplay.replay import timestamps, uuids
from tests.replay.builders import Player, Tape, asks, desk, first, play, policy, record, result, text


def agent_with(*calls, **more):
    """A cassette of an agent with tool calls (name, arguments, result), one after the other."""
    return record([("tool", name, {"arguments": arguments}, gave) for name, arguments, gave in calls], **more)


def test_e1_equal_requests_get_their_answers_in_order():
    player = Player(agent_with(("find", {"x": 1}, "a"), ("find", {"x": 1}, "b")))
    token = player.enter(input={"q": "orders"})
    assert [player.get("tool", "find", arguments={"x": 1}, parent=token) for _ in range(2)] == ["a", "b"]


def test_e2_parallel_calls_in_another_order_each_get_their_own_answer():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    for n in range(5):
        tape.tool("find", {"n": n}, f"answer {n}", parent=agent, at=2_000, took=500)
    for seed in range(10):
        player = Player(tape.cassette())
        token = player.enter(input={"q": "orders"})
        order = random.Random(seed).sample(range(5), 5)
        assert [player.get("tool", "find", arguments={"n": n}, parent=token) for n in order] == [f"answer {n}" for n in order]
        player.leave(token)
        assert player.result().exit_code == 0


def test_e3_a_changed_prompt_is_not_answered_with_the_old_reply():
    steps = desk(1)
    changed = [(k, n, f | {"messages": [text("user", "Where is mine?")]}, g) for k, n, f, g in steps[:1]]
    found = first(record(steps), changed)
    assert (found.kind, found.path) == ("request_changed", "request.messages[0].parts[0].content")


def test_e3_two_independent_calls_in_the_other_order_are_no_difference():
    calls = [("tool", "find", {"arguments": {"x": 1}}, "a"), ("tool", "find", {"arguments": {"x": 2}}, "b")]
    assert play(Player(record(calls)), calls[::-1]).exit_code == 0


def test_e4_one_field_deep_in_a_large_body_is_named_with_both_values():
    body = {"rows": [{"id": n, "cells": ["x" * 100, {"deep": {"flag": True}}]} for n in range(300)]}
    other = {"rows": [*body["rows"][:200], {"id": 200, "cells": ["x" * 100, {"deep": {"flag": False}}]}, *body["rows"][201:]]}
    found = first(agent_with(("save", body, "ok")), [("tool", "save", {"arguments": other}, None)])
    assert found.path == "request.arguments.rows[200].cells[1].deep.flag"
    assert (found.seq, found.expected, found.received, found.others) == (1, True, False, ())


def test_e5_unused_used_up_and_changed_are_three_different_findings():
    twice = [("tool", "find", {"arguments": {"x": 1}}, "a")] * 2
    cassette = record(twice)
    assert first(cassette, twice * 2).kind == "unexpected_call"
    assert "has it twice" in first(cassette, twice * 2).detail
    assert first(cassette, [("tool", "find", {"arguments": {"x": 2}}, "")]).kind == "request_changed"
    assert first(cassette, twice[:1]).kind == "events_unused"


def test_e6_swapped_steps_are_told_with_expected_and_actual_event_and_position():
    steps = desk(1)
    found = first(record(steps), [steps[1], steps[0], steps[2]])
    assert (found.kind, found.cause) == ("order_violation", "order")
    assert (found.seq, found.boundary, found.operation, found.where) == (2, "tool", "find", "agent.py:1")
    assert "before event 1" in found.detail


@pytest.mark.parametrize("kind", ["random", "id", "clock"])
def test_e7_an_inserted_made_up_value_is_named_and_not_the_step_that_it_shifts(kind):
    steps = []
    for value in ("key-aaaa", "key-bbbb", "key-cccc"):
        steps += [(kind, kind, {}, value), ("tool", "save", {"arguments": {"key": value}}, "ok")]
    player = Player(record(steps))
    token = player.enter(input={"q": "orders"})
    player.get(kind, kind, parent=token, where="new.py:9")

    def rest():
        for _ in range(3):
            made = player.get(kind, kind, parent=token, where="agent.py:1")
            player.get("tool", "save", arguments={"key": made}, parent=token, where="agent.py:2")

    with pytest.raises(ReplayStopped):
        rest()
    found = player.result().first_divergence
    assert (found.kind, found.boundary, found.cause) == ("unexpected_call", kind, "clock" if kind == "clock" else "random")
    assert (found.seq, found.where) == (3, "agent.py:1")
    assert "additional" in found.detail


def test_e7_an_inserted_id_whose_shift_nothing_else_shows_is_named_at_the_end():
    steps = [("id", "id", {}, "key-aaaa"), ("tool", "save", {"arguments": {"key": "key-aaaa"}}, "ok"),
             ("id", "id", {}, "key-bbbb"), ("tool", "save", {"arguments": {"key": "key-bbbb"}}, "ok")]  # fmt: skip
    done = play(Player(record(steps)), [steps[0], steps[2], steps[3]])
    assert (done.first_divergence.kind, done.first_divergence.boundary) == ("unexpected_call", "id")
    assert (done.first_divergence.seq, done.first_divergence.where) == (3, "agent.py:2")


def test_e7_a_shifted_random_number_in_a_later_request_names_the_insertion():
    steps = [("random", "random", {}, "key-aaaa"), ("tool", "save", {"arguments": {"key": "key-aaaa"}}, "ok"),
             ("random", "random", {}, "key-bbbb")]  # fmt: skip
    player = Player(record(steps))
    token = player.enter(input={"q": "orders"})
    player.get("random", "random", parent=token, where="new.py:9")
    made = player.get("random", "random", parent=token, where="agent.py:1")
    with pytest.raises(ReplayStopped):
        player.get("tool", "save", arguments={"key": made}, parent=token, where="agent.py:2")
    found = player.result().first_divergence
    assert (found.kind, found.boundary, found.where) == ("unexpected_call", "random", "agent.py:1")
    assert "request.arguments.key" in found.detail


def test_e7_an_omitted_random_number_is_named_and_not_the_request_that_lacks_it():
    steps = [("random", "random", {}, "key-aaaa"), ("tool", "save", {"arguments": {"key": "key-aaaa"}}, "ok")]
    found = first(record(steps), [("tool", "save", {"arguments": {"key": "fixed-key"}}, "ok")])
    assert (found.kind, found.seq, found.boundary, found.cause) == ("missing_call", 1, "random", "random")


TODAY = "Today is {}. Run {}."
STAMPS = ("2026-01-31T10:00:00Z", "0b6b6ae0-1d8a-4e0c-9d6a-0f8f6f6b7a01")
LATER = ("2026-02-01T09:30:00Z", "7c1f2ab4-9a55-4a53-8a0a-5a6f2f2a7b02")


def dated(stamps, question="q"):
    return [("model", "m", {"messages": [text("user", question)], "system": TODAY.format(*stamps)}, "fine")]


def test_e8_a_date_and_a_uuid_in_the_prompt_match_when_normalisers_are_declared():
    done = play(Player(record(dated(STAMPS)), normalizers=[timestamps(), uuids()]), dated(LATER))
    assert done.exit_code == 0
    assert {entry["rule"] for entry in done.normalised} == {"timestamp", "uuid"}
    assert LATER[1] not in str(done.as_json())


def test_e8_without_normalisers_they_are_a_change_and_with_them_other_changes_still_are():
    assert first(record(dated(STAMPS)), dated(LATER)).path == "request.system[0].content"
    found = first(record(dated(STAMPS)), dated(LATER, "another question"), normalizers=[timestamps(), uuids()])
    assert found.path == "request.messages[0].parts[0].content"


def test_e8_what_normalisers_leave_equal_is_not_listed():
    done = play(Player(record(dated(STAMPS)), normalizers=[timestamps(), uuids()]), dated(STAMPS))
    assert (done.exit_code, done.normalised) == (0, ())


def test_e9_a_redacted_value_is_matched_by_the_live_one():
    """The recording has no e-mail address in it, the running program does."""
    steps = [("tool", "send", {"arguments": {"to": "jane.roe@acme-mail.com", "text": "hi"}}, "sent")]
    cassette = record(steps, policy=default_policy())
    assert "jane.roe" not in str(cassette.events)
    done = play(Player(cassette, default_policy()), steps)
    assert done.exit_code == 0
    assert [entry["rule"] for entry in done.normalised] == ["email"]


def test_e11_a_reply_without_usage_and_stop_reason_is_served_whole():
    assert play(Player(record(desk(1))), desk(1)).exit_code == 0


def test_e15_results_are_found_when_call_ids_differ_on_both_sides():
    """Ids are ordinals: the program's own ids are new at every run."""
    steps = desk(2)
    renamed = []
    for kind, name, fields, gave in steps:
        fields = dict(fields)
        if "messages" in fields:
            fields["messages"] = [
                {**m, "parts": [p | {"id": f"other-{p['id'][-1]}"} if "id" in p else p for p in m["parts"]]}
                for m in fields["messages"]
            ]
        else:
            fields.pop("call_id")
        renamed.append((kind, name, fields, gave))
    assert play(Player(record(steps)), renamed).exit_code == 0


@pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe", b"\x1f\x8b\x08\x00", bytes(range(256))])
def test_e18_bytes_come_back_as_the_same_bytes(data):
    player = Player(agent_with(("read", {"path": "x"}, {"data": data})))
    token = player.enter(input={"q": "orders"})
    assert player.get("tool", "read", arguments={"path": "x"}, parent=token) == {"data": data}


def test_e21_an_id_that_a_tool_minted_anew_is_named_as_the_origin():
    """The tool's answer is not the recorded one (here a fixture), and what it minted enters the next request."""
    asked = asks(("c", "book", {"n": 1}))

    def steps(minted):
        told = [text("user", "book"), asked, result("c", {"id": minted})]
        return [
            ("model", "m", {"messages": [text("user", "book")]}, asked),
            ("tool", "book", {"arguments": {"n": 1}}, {"id": minted}),
            ("model", "m", {"messages": told}, "booked"),
        ]

    cassette = record(steps("id-recorded"))
    lost = Missing(field="response.result", cause="content_not_captured")
    events = tuple(e.model_copy(update={"response": None, "missing": [lost]}) if e.seq == 2 else e for e in cassette.events)
    cassette = type(cassette)(header=cassette.header, events=events)
    found = first(cassette, steps("id-minted-anew"), fixtures={2: {"result": {"id": "id-minted-anew"}}})
    assert (found.kind, found.path, found.cause) == (
        "request_changed",
        "request.messages[2].parts[0].response.id",
        "tool result",
    )
    assert found.origin == "event 2, tool (fixture)"


def test_e22_an_edited_prompt_is_listed_by_component():
    steps = desk(1)
    edited = [(k, n, f | ({"system": "Be long."} if "system" in f else {}), g) for k, n, f, g in steps]
    result_ = play(Player(record(steps)), edited)
    assert result_.exit_code == 1
    assert result_.first_divergence.path == "request.system[0].content"
    assert result_.first_divergence.cause == "prompt"
    assert any("request.system" in line for line in result_.lines())


def test_e22_a_new_version_of_a_tool_is_listed_though_its_request_is_as_recorded():
    found = play(
        Player(record([("tool", "find", {"arguments": {}, "version": "1"}, "a")])),
        [("tool", "find", {"arguments": {}, "version": "2"}, "a")],
    )
    assert found.served == 1
    assert (found.exit_code, found.first_divergence.kind) == (1, "version_drift")
    assert (found.first_divergence.expected, found.first_divergence.received) == ("1", "2")


def test_e23_a_tool_that_the_program_no_longer_has_is_said_to_be_so():
    recorded = agent_with(("find", {"x": 1}, "a"), ("send", {}, "b"))
    player = Player(recorded, registered=lambda: {"find"})
    assert not player.session.diverged, "a module that is imported late may still bring it"
    found = player.result()
    assert (found.first_divergence.kind, found.first_divergence.operation) == ("tool_not_registered", "send")
    assert found.exit_code == 1
    assert Player(recorded, registered=lambda: {"find", "send"}).result().first_divergence.kind == "events_unused"


def test_e23_a_tool_that_is_gone_is_the_first_cause_of_what_its_absence_leads_to():
    recorded = agent_with(("find", {"x": 1}, "a"), ("send", {}, "b"), ("find", {"x": 2}, "c"))
    player = Player(recorded, registered=lambda: {"find"})
    found = play(player, [("tool", "find", {"arguments": {"x": 1}}, "a"), ("tool", "find", {"arguments": {"x": 3}}, None)])
    assert (found.first_divergence.kind, found.first_divergence.seq) == ("tool_not_registered", 2)


def test_e24_nothing_hides_a_recorded_event_at_load_time():
    """A normaliser that throws everything away still leaves every event to be asked for."""

    class Nothing:
        name = "nothing"

        def normal(self, field, value, /):
            return "" if isinstance(value, str) else value

    player = Player(agent_with(("find", {"x": "1"}, "a"), ("find", {"x": "2"}, "b")), normalizers=[Nothing()])
    assert player.result().unused == 3


def test_a_rule_of_masks_matches_and_says_what_it_could_not_compare():
    hide = policy(("who", "detector: email, action: mask"))
    steps = [("tool", "send", {"arguments": {"to": "jane.roe@acme-mail.com"}}, "sent")]
    other = [("tool", "send", {"arguments": {"to": "john.doe@acme-mail.com"}}, "sent")]
    done = play(Player(record(steps, policy=hide), hide), other)
    assert done.exit_code == 0
    assert [entry["field"] for entry in done.unchecked] == ["request.arguments.to"]
