"""A divergence holds the ten things that a report promises, and each class of cause is provoked."""

from typing import get_args

import pytest

from otelreplay.boundary import ReplayStopped
from otelreplay.events import Missing
from otelreplay.replay import Blocked
from otelreplay.replay.divergence import CauseClass, cut_around
from otelreplay.replay.source import recorded_function, recorded_where
from tests.replay.builders import Player, Tape, asks, desk, first, play, policy, record, result, text
from tests.replay.test_changes import TOOLS, changed, drop, put


def steps():
    return [(k, n, f | ({"tools": TOOLS} if k == "model" else {}), g) for k, n, f, g in desk(2)]


def of_change(at, change, **more):
    return first(record(steps(), **more), changed(steps(), at, change))


def of_clock():
    story = [("clock", "clock", {}, 1.5), ("model", "m", {"messages": [text("user", "It is 2026-01-31.")]}, "so")]
    now = [story[0], ("model", "m", {"messages": [text("user", "It is 2026-02-01.")]}, None)]
    return first(record(story), now)


def of_random():
    one, other = ("0b6b6ae0-1d8a-4e0c-9d6a-0f8f6f6b7a01", "1b6b6ae0-1d8a-4e0c-9d6a-0f8f6f6b7a02")
    story = [("tool", "find", {"arguments": {"key": one}}, "so")]
    return first(record(story), [("tool", "find", {"arguments": {"key": other}}, None)])


def of_order():
    story = desk(1)
    return first(record(story), [story[1], story[0]])


def of_redaction():
    rules = policy(("mail", "detector: email, action: pseudonym"))
    story = [("tool", "send", {"arguments": {"to": "a@example.com", "cc": "b@example.com"}}, 1)]
    now = [("tool", "send", {"arguments": {"to": "a@example.com", "cc": "a@example.com"}}, None)]
    return play(Player(record(story, policy=rules), policy=rules), now).first_divergence


def of_truncation():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output="done")
    tape.tool("find", {"n": 1}, "x", parent=agent)
    cassette = tape.cassette()
    gap = Missing(field="response.result", cause="truncated")
    cut = [e.model_copy(update={"response": None, "missing": [gap]}) if e.kind == "tool" else e for e in cassette.events]
    object.__setattr__(cassette, "events", tuple(cut))
    return play(Player(cassette), [("tool", "find", {"arguments": {"n": 1}}, None)]).first_divergence


def of_missing_data():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"})
    tape.add("tool", "find", arguments={"n": 1}, parent=agent)
    return play(Player(tape.cassette()), [("tool", "find", {"arguments": {"n": 1}}, None)]).first_divergence


CAUSES = {
    "code": lambda: of_change(1, put("arguments", "limit", value=6)),
    "prompt": lambda: of_change(0, put("system", value="Be long.")),
    "tool schema": lambda: of_change(0, drop("tools", 0, "parameters")),
    "model options": lambda: of_change(0, put("params", "temperature", value=2)),
    "tool result": lambda: of_change(2, put("messages", 2, "parts", 0, "response", "state", value="other")),
    "clock": of_clock,
    "random": of_random,
    "order": of_order,
    "redaction": of_redaction,
    "truncation": of_truncation,
    "missing data": of_missing_data,
}


def test_there_is_a_provocation_of_every_class():
    assert {*CAUSES} == {*get_args(CauseClass)}


@pytest.mark.parametrize("cause", CAUSES)
def test_the_class_of_a_cause_is_told(cause):
    found = CAUSES[cause]()
    assert found is not None
    assert found.cause == cause


def test_all_ten_fields_of_a_change_are_there():
    story = steps()
    player = Player(record(story), command="otelreplay replay c --agent a:b")
    mutant = changed(changed(story, 2, put("params", "temperature", value=0.9)), 2, put("system", value="Be long."))
    done = play(player, mutant)
    found = done.first_divergence
    assert found.code == "replay.request_changed"
    assert (found.seq, found.boundary, found.operation, found.agent) == (3, "model", "m", "desk")
    assert found.span
    assert (found.call, found.received_boundary, found.received_operation, found.received_agent) == (4, "model", "m", "desk")
    assert (found.where, found.function) == ("agent.py:3", "agent:m")
    assert (found.last_agreed, found.agreed) == (2, 3)
    shown = {(d.path, d.change, d.expected, d.received) for d in found.differences}
    assert shown == {
        ("request.system[0].content", "changed", "Be brief.", "Be long."), ("request.params.temperature", "changed", 0.5, 0.9),
    }  # fmt: skip
    assert found.cause in ("prompt", "model options")
    assert done.responses == ({"origin": "cassette", "from": 1, "to": 2},)
    assert (found.reproduce, found.accept) == ("otelreplay replay c --agent a:b", "record the run again")
    assert found.page == "docs/divergences/request_changed.md"


def test_the_nearest_recordings_of_an_unexpected_call_are_named():
    story = [("tool", "find", {"arguments": {"n": n}}, n) for n in range(3)]
    found = first(record(story), [*story, story[1]])
    assert (found.nearest[0].seq, found.nearest[0].path, found.nearest[0].state) == (2, "", "served")


def test_the_origin_of_a_value_and_of_each_answer_is_known():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output="done")
    tape.add("tool", "find", arguments={"n": 1}, parent=agent)
    tape.tool("send", {"to": "the warehouse"}, 1, parent=agent)
    player = Player(tape.cassette(), fixtures={"1": "the elsewhere"})
    now = [("tool", "find", {"arguments": {"n": 1}}, None), ("tool", "send", {"arguments": {"to": "the elsewhere"}}, None)]
    done = play(player, now)
    assert done.first_divergence.origin == "event 1, tool (fixture)"
    assert done.responses == ({"origin": "fixture", "from": 1, "to": 1},)


def test_what_was_not_compared_of_the_expected_event_is_listed():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output="done")
    tape.tool("find", {"n": 1}, 1, parent=agent)
    cassette = tape.cassette()
    gap = Missing(field="request.arguments.n", cause="truncated")
    cut = [e.model_copy(update={"missing": [gap]}) if e.kind == "tool" else e for e in cassette.events]
    object.__setattr__(cassette, "events", tuple(cut))
    done = play(Player(cassette), [("tool", "find", {"arguments": {"n": 1}}, None)])
    assert done.unchecked


def test_the_source_of_a_recorded_call_is_read_in_every_spelling():
    event = record(desk(1)).events[1]

    def with_(**attributes):
        return event.model_copy(update={"attributes": {n.replace("__", "."): v for n, v in attributes.items()}})

    assert recorded_where(with_(code__file__path="/a/b/agent.py", code__line__number=12)) == "agent.py:12"
    assert recorded_where(with_(code__filepath="C:\\x\\agent.py", code__lineno=3)) == "agent.py:3"
    assert recorded_where(with_(code__file__path="agent.py")) == "agent.py"
    assert recorded_where(with_()) == ""
    assert recorded_function(with_(otelreplay__function="a:b", code__function="c")) == "a:b"
    assert recorded_function(with_(code__function__name="c")) == "c"


def test_long_texts_are_cut_on_both_sides_of_what_differs():
    was, now = cut_around("a" * 5000 + "X" + "b" * 5000, "a" * 5000 + "Y" + "b" * 5000)
    assert was == "…" + "a" * 200 + "X" + "b" * 200 + "…"
    assert now == was.replace("X", "Y")
    assert cut_around("same", "same and more") == ("same", "same and more")
    assert [len(side) for side in cut_around("x" * 3000, "y" * 3000)] == [1001, 1001]


def test_a_value_is_redacted_before_it_is_cut():
    """A cut through a secret would leave a half that no detector knows."""
    rules = policy(("mail", "detector: email, action: mask"))
    body = "x" * 150 + " ada.byron@example.com and so on"
    story = [("tool", "send", {"arguments": {"text": "one " + body}}, 1)]
    now = [("tool", "send", {"arguments": {"text": "two " + body}}, 1)]
    found = play(Player(record(story, policy=rules), policy=rules), now).first_divergence
    assert "REDACTED:mail" in str(found.expected) + str(found.received)
    assert "ada" not in str(found.as_json())


def test_a_blocked_call_says_where_and_what_to_do():
    made = Player(record(desk(1)))
    made.session.blocked(Blocked(what="connect", target="203.0.113.9:443", where="agent.py:4"))
    found = made.result().first_divergence
    assert (found.kind, found.boundary, found.operation, found.where) == (
        "live_call_blocked", "connect", "203.0.113.9:443", "agent.py:4"
    )  # fmt: skip
    assert found.remedy
    assert found.accept


def test_of_branches_that_part_at_once_the_lowest_event_is_first_and_the_others_are_listed():
    """Whichever of them the scheduler lets run first."""
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output="done")
    for n in range(4):
        tape.tool(f"t{n}", {"n": n}, n, parent=agent, at=1_000)
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)):
        player = Player(tape.cassette())
        token = player.enter(input={"q": "orders"})
        for n in order:
            with pytest.raises(ReplayStopped, match="request_changed"):
                player.call("tool", f"t{n}", parent=token, arguments={"n": n + 10})
        done = player.result()
        assert done.first_divergence.seq == 1
        assert sorted(d.seq for d in done.others) == [2, 3, 4]


def test_the_end_of_an_agent_that_swallowed_a_divergence_is_not_the_first():
    player = Player(record(desk(1)))
    token = player.enter(input={"q": "orders"})
    with pytest.raises(ReplayStopped, match="request_changed"):
        player.call("model", "m", parent=token, messages=[text("user", "Where are my orders?")], system="Be long.")
    with pytest.raises(ReplayStopped, match="missing_call"):
        player.leave(token, "something else")
    assert player.result().first_divergence.kind == "request_changed"
    assert asks(("a", "b", {}))["role"] != result("a", 1)["role"]
