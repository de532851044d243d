"""The order of arrival, repetition and splitting change nothing (I7); copies that differ are settled by rule."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.spans import mark_twins, unify_logs, unify_spans, with_lengths
from tests.dialects.test_genai_events import choice, old
from tests.reconstruct.builders import (
    ASK,
    CALL,
    DONE,
    OWN,
    TOLD,
    agent,
    answer,
    calls,
    log,
    model,
    of_kind,
    rebuilt,
    span,
    text,
    tool,
    whole_run,
)

MIXED = [
    *whole_run(),
    old(12, parent=1),
    log(12, "gen_ai.user.message", {"content": "hi"}, at=1),
    choice(12, 2, {"content": "yes"}),
    log(12, "app", {"a": 1}, at=3),
    span(13, "POST", parent=1, scope=OWN, http__method="POST"),
    log(99, "gen_ai.user.message", {"content": "lost"}, at=9),
    tool(14, "other", parent=88),
    span(14, "execute_tool other", parent=88, scope=OWN, gen_ai__operation__name="execute_tool", end=0),
]


def lines(recording):
    return [e.model_dump_json(by_alias=True) for e in recording.events] + [
        repr(recording.missing),
        repr(recording.notes),
        recording.run_id,
    ]


@given(seed=st.integers(0, 10**6), repeats=st.lists(st.integers(0, len(MIXED) - 1), max_size=6))
def test_shuffled_and_repeated_input_gives_the_same_bytes(seed, repeats):
    items = [*MIXED, *(MIXED[n] for n in repeats)]
    random.Random(seed).shuffle(items)
    assert lines(rebuilt(*items)) == lines(rebuilt(*MIXED))


@given(seed=st.integers(0, 10**6))
def test_the_order_of_attributes_is_no_difference_between_copies(seed):
    shuffled = []
    for item in MIXED:
        pairs = list(item.attributes.items())
        random.Random(seed).shuffle(pairs)
        shuffled.append(msgspec.structs.replace(item, attributes=dict(pairs)))
    assert lines(rebuilt(*MIXED, *shuffled)) == lines(rebuilt(*shuffled, *MIXED))


def test_an_ended_span_beats_its_stub():
    (found,) = unify_spans([span(1, end=0, a=1, b=2), span(1, end=5)])
    assert found.span.end == 5
    assert len(found.losers) == 1


def test_a_superset_of_attributes_beats_its_subset_and_both_are_kept():
    one, two = model(2, ASK, parent=None), model(2, ASK, DONE, parent=None)
    recording = rebuilt(one, two)
    (found,) = recording.events
    assert found.response["messages"][0]["parts"] == DONE["parts"]
    assert len(found.attributes["otelreplay.conflicts"]) == 1
    assert [n.code for n in recording.notes] == ["conflict"]


@pytest.mark.parametrize("order", [1, -1])
def test_copies_that_only_differ_are_settled_by_digest(order):
    copies = [span(1, a="x"), span(1, a="y")][::order]
    assert unify_spans(copies)[0].span == unify_spans(copies[::-1])[0].span


def test_lone_surrogates_have_an_identity_too():
    odd = span(1, a="\ud83e", b=2**63 - 1)
    assert len(unify_spans([odd, odd, span(1, a="\ud83e", b=3)])[0].losers) == 1


def test_a_redelivered_log_record_is_one_but_twins_of_one_request_are_two():
    record = log(1, "x", "body", at=1)
    assert len(unify_logs([record, record])) == 1
    twins = mark_twins([record, record])
    assert len(unify_logs([*twins, *twins])) == 2
    assert mark_twins([record]) == (record,)


def test_a_clock_that_runs_behind_changes_no_order_and_no_time():
    late_parent = agent(start=5000)
    recording = rebuilt(late_parent, *whole_run()[1:])
    assert [e.kind for e in recording.events] == ["agent", "model", "tool", "model"]
    assert recording.events[0].start == "5000"
    assert {n.code for n in recording.notes} == {"clock_skew"}


def test_causes_in_a_circle_are_cut_and_noted():
    first = calls_each_other("c1", "c2")
    recording = rebuilt(*first)
    assert sorted(e.kind for e in recording.events) == ["model", "model", "tool", "tool"]
    assert "causal_circle" in {n.code for n in recording.notes}


def calls_each_other(a, b):
    """Two model calls that quote each other's tool result: impossible, and found in the wild when ids are reused."""
    from tests.reconstruct.builders import answer, calls

    x, y = calls((a, "find", {"n": 1})), calls((b, "find", {"n": 2}))
    return [
        model(2, [*ASK, y, answer(b, "2")], x, parent=None),
        model(4, [*ASK, x, answer(a, "1")], y, parent=None),
    ]


def test_a_later_branch_goes_on_from_the_history_it_shares():
    aside = [*ASK, CALL, TOLD, text("user", "shorter")]
    recording = rebuilt(*whole_run(), model(6, aside, text("assistant", "late")))
    last = of_kind(recording, "model")[-1]
    assert last.after == [2]
    assert recording.missing == ()


def test_a_reply_given_twice_belongs_to_the_call_that_the_request_goes_on_from():
    same = text("assistant", "ok")
    recording = rebuilt(
        agent(),
        model(2, [text("user", "a")], same),
        model(4, [text("user", "b")], same),
        model(6, [text("user", "a"), same, text("user", "more")], DONE),
    )
    assert of_kind(recording, "model")[-1].after == [1]


def test_split_assistant_turns_of_a_history_are_the_one_reply():
    whole = {"role": "assistant", "parts": [{"type": "text", "content": "look"}, *CALL["parts"]]}
    recording = rebuilt(
        agent(),
        model(2, ASK, whole),
        tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1"),
        model(4, [*ASK, text("assistant", "look"), CALL, TOLD], DONE),
    )
    assert recording.missing == ()
    assert [e.after for e in recording.events] == [[], [0], [1], [2]]


def test_a_request_waits_for_tools_whose_asker_was_lost():
    second = calls(("c2", "find", {"id": "o-2"}))
    recording = rebuilt(
        agent(),
        tool(3, arguments={"id": "o-1"}, result=1, call_id="c1"),
        tool(4, arguments={"id": "o-2"}, result=2, call_id="c2"),
        model(6, [*ASK, CALL, answer("c1", "1"), second, answer("c2", "2")], DONE),
    )
    assert recording.events[-1].after == [1, 2]


def test_a_call_without_a_span_stands_between_its_siblings():
    three = calls(("a", "find", {"n": 1}), ("b", "find", {"n": 2}), ("c", "find", {"n": 3}))
    recording = rebuilt(
        agent(),
        model(2, ASK, three),
        tool(3, arguments={"n": 1}, result=1, call_id="a"),
        tool(4, arguments={"n": 3}, result=3, call_id="c"),
        model(5, [*ASK, three, answer("a", "1"), answer("b", "2"), answer("c", "3")], DONE),
    )
    assert [e.request["arguments"]["n"] for e in of_kind(recording, "tool")] == [1, 2, 3]


def test_a_span_that_redaction_changed_knows_how_long_its_texts_were():
    given = span(1, a="secret", b="x", c=3)
    changed = msgspec.structs.replace(given, attributes={"a": "[REDACTED:r]", "b": "x", "c": 3})
    assert with_lengths(changed, given).lengths == {"a": 6}
    assert with_lengths(given, given) is given
    same = msgspec.structs.replace(given, name="n")
    assert with_lengths(same, given) is same
