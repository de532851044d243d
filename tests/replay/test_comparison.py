"""Two recordings compared as a replay compares."""

import ast
import copy

import pytest

from otelreplay.events import Missing
from otelreplay.redaction import PseudonymKey, compile_policy, off_policy
from otelreplay.replay.comparison import Comparison
from tests.replay import builders
from tests.replay.builders import OTHER_KEY, Tape, asks, desk, first, policy, record, result, text


def compare(one, other, rules=None):
    return Comparison(one, other, redactor=compile_policy(rules or off_policy(), key=OTHER_KEY)).compare().as_json()


def states(report):
    return [row["state"] for row in report["timeline"]]


def test_a_recording_equals_itself():
    found = compare(record(desk(3)), record(desk(3)))
    assert (found["outcome"], found["exit_code"], found["first_divergence"]) == ("equal", 0, None)
    assert {*states(found)} == {"equal"}
    assert len(found["timeline"]) == 8


def other_ids(steps):
    """The same calls, with other call ids."""
    return ast.literal_eval(repr(steps).replace("'call_0'", "'x9'").replace("'call_1'", "'x3'"))


def test_other_ids_times_and_durations_do_not_count():
    tape = Tape()
    tape.now = 77_000_000
    agent = tape.agent(input={"q": "orders"}, output="done")
    for kind, name, fields, gave in other_ids(desk(2)):
        if kind == "model":
            tape.model(parent=agent, reply=gave, took=7, **fields)
        else:
            tape.tool(name, give=gave, parent=agent, took=900, **fields)
    found = compare(record(desk(2)), tape.cassette())
    assert found["outcome"] == "equal"


CHANGES = {
    "a param": lambda s: s[0][2]["params"].__setitem__("temperature", 0.7),
    "an argument": lambda s: s[1][2]["arguments"].__setitem__("limit", 6),
    "a prompt": lambda s: s[0][2].__setitem__("system", "Be long."),
    "a call of something else": lambda s: s.insert(1, ("tool", "other", {"arguments": {"a": 1}}, 1)),
    "a call made twice": lambda s: s.insert(2, copy.deepcopy(s[1])),
    "a message added": lambda s: s[2][2]["messages"].append(text("user", "Hurry.")),
    "the last calls": lambda s: s.__delitem__(slice(4, None)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_difference_is_named_as_a_replay_names_it(change):
    steps = copy.deepcopy(desk(2))
    change(steps)
    replayed = first(record(desk(2)), steps)
    found = compare(record(desk(2)), record(steps))
    told = found["first_divergence"]
    assert found["exit_code"] == 1
    assert (told["code"], told["seq"], told["path"]) == (replayed.code, replayed.seq, replayed.path)
    assert (told["expected"], told["received"], told["cause"]) == (replayed.expected, replayed.received, replayed.cause)


def test_a_call_that_was_left_out_is_named_as_a_replay_names_it():
    steps = desk(2)
    replayed = first(record(steps), [steps[0], *steps[2:]])
    other = record(steps)
    other = other.__class__(**{**_fields(other), "events": tuple(e for e in other.events if e.seq != 2)})
    found = compare(record(steps), other)
    told = found["first_divergence"]
    assert (told["code"], told["seq"], told["detail"]) == (replayed.code, replayed.seq, replayed.detail)
    assert states(found) == ["equal", "equal", "removed", "equal", "equal", "equal"]


def test_an_answer_that_differs_is_told_apart_and_what_follows_is_no_cause():
    steps = copy.deepcopy(desk(2))
    steps[1] = (*steps[1][:3], {"state": "lost"})
    for step in steps[2:]:
        if step[0] == "model":
            step[2]["messages"][2] = result("call_0", {"state": "lost"})
    found = compare(record(desk(2)), record(steps))
    told = found["first_divergence"]
    assert (told["code"], told["seq"], told["path"]) == ("diff.answer_changed", 2, "response.result.state")
    assert (told["expected"], told["received"], told["cause"]) == ("s0", "lost", "tool result")
    assert states(found) == ["equal", "equal", "answer", "changed", "equal", "changed"]
    assert [o["follows"] for o in found["others"]] == [2, 2]


def test_another_reply_of_the_model_is_the_cause_of_another_call():
    steps = copy.deepcopy(desk(1))
    asked = asks(("call_0", "find", {"order": "B-7", "limit": 5}))
    steps[0] = (*steps[0][:3], asked)
    steps[1][2]["arguments"]["order"] = "B-7"
    steps[2][2]["messages"][1] = asked
    found = compare(record(desk(1)), record(steps))
    told = found["first_divergence"]
    assert (told["code"], told["seq"], told["cause"]) == ("diff.answer_changed", 1, "model answer")
    assert told["path"] == "response.messages[0].parts[0].arguments.order"
    assert all(other["follows"] == 1 for other in found["others"])


def test_the_end_of_an_agent_comes_after_what_led_to_it():
    steps = copy.deepcopy(desk(1))
    steps[-1] = (*steps[-1][:3], "other")
    found = compare(record(desk(1)), record(steps, output="other"))
    assert (found["first_divergence"]["seq"], found["first_divergence"]["boundary"]) == (3, "model")
    assert [(o["boundary"], o["path"], o["follows"]) for o in found["others"]] == [("agent", "response.output", 3)]


def test_an_event_whose_counterpart_comes_later_is_left_to_it():
    """A replay, which does not know what comes, takes the additional call for the first one with other content."""
    calls = [("tool", "find", {"arguments": {"order": f"A-{n}"}}, n) for n in range(3)]
    more = [("tool", "find", {"arguments": {"order": "X"}}, 9), *calls]
    found = compare(record(calls), record(more))
    assert states(found) == ["equal", "added", "equal", "equal", "equal"]
    found = compare(record(more), record(calls))
    assert states(found) == ["equal", "removed", "equal", "equal", "equal"]


def test_times_and_ids_that_each_run_made_stand_for_each_other():
    def made(clock, new_id):
        said = text("user", f"It is {clock}, case {new_id}.")
        return record([
            ("clock", "clock", {}, clock), ("id", "id", {}, new_id), ("model", "m", {"messages": [said]}, "fine"),
            ("tool", "log", {"arguments": {"at": clock, "case": new_id}}, f"logged {new_id}"),
        ])  # fmt: skip

    found = compare(made(1790000000.25, "0b6b6ae0-1d8a"), made(1790099999.5, "77777777-0000"))
    assert found["outcome"] == "equal"
    assert {n["rule"] for n in found["normalised"]} == {"clock", "id"}


def _fields(cassette):
    return {name: getattr(cassette, name) for name in cassette.__dataclass_fields__}


def mails(key, address="jo@example.com", again=None):
    """A run that holds an address in its question, a result, and what follows from it; redacted under this key."""
    steps = [
        ("tool", "who", {"arguments": {"name": "Jo"}}, {"mail": address}),
        ("tool", "send", {"arguments": {"to": again or address, "text": "hello"}}, "sent"),
        ("model", "m", {"messages": [text("user", f"Mail {address}?")]}, "yes"),
    ]
    held = builders.KEY
    builders.KEY = key
    try:
        return record(steps, policy=MAIL)
    finally:
        builders.KEY = held


MAIL = policy(("mail", "detector: email, action: pseudonym"))


def test_pseudonyms_of_different_keys_are_holes():
    one, other = (PseudonymKey(secret=name * 32) for name in (b"a", b"b"))
    found = compare(mails(one), mails(other), MAIL)
    assert found["outcome"] == "equal"
    assert mails(one).events[1].response != mails(other).events[1].response
    twice = compare(mails(one), mails(other, again="ann@example.com"), MAIL)
    assert (twice["first_divergence"]["seq"], twice["first_divergence"]["path"]) == (2, "request.arguments.to")


def test_nothing_in_common_is_never_equal():
    empty = record([], output=None)
    for one, other in ((empty, empty), (empty, record(desk(1))), (record(desk(1)), empty)):
        found = compare(one, other)
        assert (found["outcome"], found["exit_code"]) == ("different", 1)
        assert found["first_divergence"]["kind"] == "events_unused"


def test_concurrent_calls_may_come_in_any_order_and_twins_by_their_answers():
    def run(order):
        tape = Tape()
        agent = tape.agent(input={"q": "orders"}, output="done")
        for n, give in enumerate(order):
            tape.tool("poll", give=give, parent=agent, at=5_000 + n, took=10_000)
        return tape.cassette()

    assert compare(run(["a", "b", "c"]), run(["c", "a", "b"]))["outcome"] == "equal"
    assert compare(run(["a", "b"]), run(["a", "a"]))["first_divergence"]["code"] == "diff.answer_changed"


def test_what_one_recording_does_not_hold_is_unchecked():
    gap = record(desk(1))
    events = []
    for event in gap.events:
        if event.kind == "tool":
            lost = [Missing(field="response.result", cause="content_not_captured")]
            event = event.model_copy(update={"response": None, "missing": lost})
        events.append(event)
    other = gap.__class__(**{**_fields(gap), "events": tuple(events)})
    for found in (compare(gap, other), compare(other, gap)):
        assert found["outcome"] == "equal"
        assert [u["field"] for u in found["unchecked"]] == ["response.result"]
