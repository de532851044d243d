"""With ``observe`` a replay goes on after a divergence: it collects them all, the first is the first, and it is never green."""

import copy

import pytest

from otelreplay.boundary import ReplayStopped
from tests.replay.builders import Player, Tape, desk, record, text


def run(player, steps, output="done"):
    """The program makes these calls, whatever comes back; its result."""
    token = player.enter(input={"q": "orders"})
    for n, (kind, name, fields, _) in enumerate(steps):
        player.get(kind, name, parent=token, where=f"agent.py:{n + 1}", **fields)
    player.leave(token, output)
    return player.result()


def observed(steps, made, **more):
    return run(Player(record(steps), observe=True), made, **more)


def kinds(result):
    return [(d.kind, d.seq) for d in (result.first_divergence, *result.others)]


def with_params(steps, *places):
    made = copy.deepcopy(steps)
    for at in places:
        made[at][2]["params"] = {"temperature": 1.0}
    return made


def test_every_changed_request_is_listed_in_order_and_the_program_goes_to_its_end():
    steps = desk(2)
    result = observed(steps, with_params(steps, 0, 2, 4))
    assert kinds(result) == [("request_changed", 1), ("request_changed", 3), ("request_changed", 5)]
    assert (result.exit_code, result.outcome, result.unused, result.observe) == (1, "diverged", 0, True)


def test_the_stand_in_is_the_expected_recording_and_is_listed_as_assumed():
    steps = desk(1)
    player = Player(record(steps), observe=True)
    token = player.enter(input={"q": "orders"})
    player.get("model", "m", parent=token, **steps[0][2])
    assert player.get("tool", "find", parent=token, arguments={"order": "Z"}, call_id="call_0") == {"state": "s0"}
    result = player.result()
    assert {"seq": 2, "origin": "assumed"}.items() <= {"seq": 2, "origin": result.responses[-1]["origin"]}.items()
    assert [entry for entry in result.assumed if 2 in entry.get("seqs", [entry.get("seq")])]
    assert {m["type"] for m in player.messages} == {"served", "divergence"}, "the supervisor is told at once"


def test_without_observe_the_first_one_stops_the_program():
    steps = desk(2)
    with pytest.raises(ReplayStopped):
        run(Player(record(steps)), with_params(steps, 0, 2))


def test_a_call_that_nothing_can_answer_still_stops_the_program():
    player = Player(record(desk(1)), observe=True)
    token = player.enter(input={"q": "orders"})
    with pytest.raises(ReplayStopped):
        player.call("tool", "unknown", parent=token)
    assert player.result().exit_code == 1


def test_missing_data_still_stops_the_program():
    tape = Tape()
    tape.add("tool", "find", arguments={"n": 1})
    player = Player(tape.cassette(), observe=True)
    with pytest.raises(ReplayStopped):
        player.call("tool", "find", arguments={"n": 1})
    assert player.result().exit_code == 3


def test_a_skipped_call_is_named_once_and_what_depends_on_it_goes_on():
    steps = desk(2)
    result = observed(steps, [steps[0], *steps[2:]])
    assert kinds(result) == [("missing_call", 2)]
    assert (result.unused, result.unused_events[0]["seq"]) == (1, 2)


def test_a_call_that_was_put_in_is_told_from_a_changed_one_by_what_follows():
    steps = desk(1)
    extra = ("tool", "find", {"arguments": {"order": "other", "limit": 5}, "call_id": "call_0"}, None)
    result = observed(steps, [steps[0], extra, *steps[1:]])
    assert kinds(result) == [("unexpected_call", 2)]
    first = result.first_divergence
    assert (first.path, first.change, first.where, first.operation) == ("", "", "agent.py:2", "find")
    assert "put in before event 2" in first.detail
    assert result.unused == 0


def test_a_call_that_was_made_twice_gets_the_same_answer_again():
    steps = desk(1)
    result = observed(steps, [steps[0], steps[1], steps[1], steps[2]])
    assert kinds(result) == [("unexpected_call", 3)]


def test_an_agent_that_ends_otherwise_comes_last():
    steps = desk(1)
    result = observed(steps, with_params(steps, 0), output="something else")
    assert kinds(result) == [("request_changed", 1), ("request_changed", 0)]


def test_an_agent_with_another_input_goes_on():
    player = Player(record(desk(1)), observe=True)
    token = player.enter(input={"q": "other"})
    for kind, name, fields, _ in desk(1):
        player.get(kind, name, parent=token, **fields)
    player.leave(token, "done")
    assert kinds(player.result()) == [("request_changed", 0)]
    assert player.result().unused == 0


def test_every_call_that_was_not_made_is_listed():
    tape = Tape()
    for n in range(4):
        tape.tool("find", {"n": n}, give=n, at=1_000)
    player = Player(tape.cassette(), observe=True)
    player.get("tool", "find", arguments={"n": 3})
    with pytest.raises(ReplayStopped):
        player.call("tool", "other")
    player.get("tool", "find", arguments={"n": 9})
    result = player.result()
    assert ("missing_call", 1) in kinds(result)
    assert ("missing_call", 2) in kinds(result)
    assert result.exit_code == 1


def test_as_recorded_is_as_recorded():
    steps = desk(2)
    result = observed(steps, steps)
    assert (result.exit_code, result.first_divergence, result.others) == (0, None, ())
    assert result.responses == ({"origin": "cassette", "from": 1, "to": 5},)
    assert text("user", "a")
