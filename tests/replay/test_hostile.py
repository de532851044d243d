"""Whatever a cassette holds, a replay says something about it and never breaks; long ones are no slower by the event."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.boundary import ReplayStopped
from otelreplay.events import Event, Failure, Missing
from otelreplay.replay import Diverged, Live
from otelreplay.replay.causes import Provenance
from otelreplay.replay.diff import Difference
from otelreplay.replay.score import Score
from tests.replay.builders import Player, Tape, call, cassette_of, run_of, session, text


def tool(seq, name="t", **more):
    given = {"kind": "tool", "request": {"arguments": {"n": seq}}, "response": {"result": seq}} | more
    return Event(seq=seq, id=f"t/{seq}", name=name, spans=[f"t/{seq}"], **given)


def player(*events, **more):
    return Player(cassette_of(run_of(events, **more)))


def test_circles_of_predecessors_and_parents_are_cut():
    lost = [tool(2, parent=3), tool(3, parent=2), tool(4, parent=4), tool(5, parent=77)]
    made = player(tool(0, after=[1, 0, 99]), tool(1, after=[0, 1]), *lost)
    assert made.get("tool", "t", arguments={"n": 0}) == 0
    assert made.get("tool", "t", arguments={"n": 1}) == 1
    assert made.result().exit_code == 1


def test_a_circle_of_agents_is_cut():
    events = [tool(0, kind="agent", parent=1, request={}), tool(1, kind="agent", parent=0, request={}), tool(2, parent=1)]
    assert player(*events).get("tool", "t", arguments={"n": 2}) == 2


def test_a_seq_that_stands_twice_names_the_first():
    made = player(tool(1, after=[0]), tool(1, name="u"), tool(0))
    made.get("tool", "t", arguments={"n": 0})
    assert made.get("tool", "t", arguments={"n": 1}) == 1
    assert made.get("tool", "u", arguments={"n": 1}) == 1


def test_predecessors_are_followed_through_what_is_not_served():
    """A context event between two calls carries the edge on; what happened inside a call counts as that call."""
    inside = [tool(1, name="inner", parent=0), tool(2, kind="context", after=[1])]
    made = player(tool(0, name="a"), *inside, tool(3, name="b", after=[2]), tool(4, name="c", after=[2]))
    for name, seq in (("b", 3), ("c", 4)):
        with pytest.raises(ReplayStopped, match="missing_call"):
            made.get("tool", name, arguments={"n": seq})
    assert [d.seq for d in (made.result().first_divergence, *made.result().others)] == [0, 0]
    made.get("tool", "a", arguments={"n": 0})
    assert made.get("tool", "b", arguments={"n": 3}) == 3
    assert made.get("tool", "c", arguments={"n": 4}) == 4


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
    | st.sampled_from(["[mail#aaaaaaaaaaaaaaaa]", "[REDACTED:x]", "aaaaaaaaaaaaaaaa@mail.invalid", "{", "\ud800", "[1]"]),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), v, max_size=3) | st.tuples(v, v),
    max_leaves=8,
)  # fmt: skip
fields = st.dictionaries(
    st.sampled_from(["messages", "system", "tools", "params", "arguments", "query", "model", "input", "x"]), odd, max_size=4
)
KINDS = st.sampled_from(["model", "tool", "agent", "retrieval", "state", "clock", "embeddings", "context", "memory", "human"])
events = st.builds(
    lambda seq, kind, name, request, response, parent, after, gap, versions: Event(
        seq=seq, id=f"t/{seq}", kind=kind, name=name, request=request, response=response, parent=parent, after=after,
        spans=["t/1"],
        missing=[Missing(field=gap, cause="truncated")] if gap else [], versions=versions, start="5", attributes=request,
        error=Failure(type=name) if gap == "request" else None,
    ),
    st.integers(0, 6), KINDS, st.sampled_from(["a", "b", "[mail#aaaaaaaaaaaaaaaa]", ""]), fields,
    st.none() | st.dictionaries(st.sampled_from(["result", "messages", "chunks", "stream"]), odd, max_size=3),
    st.none() | st.integers(0, 6), st.lists(st.integers(-1, 7), max_size=3),
    st.sampled_from(["", "request", "response", "request.messages[0].parts", "request.arguments.a", "end", "request.messages"]),
    st.dictionaries(st.text(max_size=2), odd, max_size=1),
)  # fmt: skip
lives = st.builds(lambda kind, name, request, stream: Live(kind=kind, name=name, request=request, stream=stream),
                  KINDS, st.sampled_from(["a", "b"]), fields, st.booleans())  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(st.lists(events, max_size=6), st.lists(lives, max_size=5), st.booleans())
def test_no_recording_and_no_call_breaks_a_session(recorded, called, replay_them):
    made = session(cassette_of(run_of(recorded, missing=(Missing(field="tool", cause="span_not_received"),))))
    if replay_them:
        called = [Live(kind=e.kind, name=e.name, request=e.request, versions={"a": 1}) for e in recorded]
    scope, lines = None, [""]
    for live in called:
        try:
            if live.kind == "agent":
                scope = made.enter(live)
            else:
                made.call(live)
        except Diverged as diverged:
            lines.append(diverged.divergence.line())
    if scope is not None:
        try:
            made.leave(scope, output=1)
        except Diverged as diverged:
            lines.append(diverged.divergence.line())
    done = made.result()
    assert done.as_json()
    assert "".join([*lines, *done.lines()]).isprintable()


def test_a_long_run_costs_the_same_by_the_event():
    """Index and search are by digest; ten times the events take about ten times as long."""

    def cost(count):
        recorded = [tool(n, after=[n - 1] if n else [], request={"arguments": {"n": n % 7}}) for n in range(count)]
        before = time.process_time()
        made = session(cassette_of(run_of(recorded)))
        for n in range(count):
            assert made.call(Live(kind="tool", name="t", request={"arguments": {"n": n % 7}})).value == n
        assert made.result().exit_code == 0
        return time.process_time() - before

    small, large = min(cost(500) for _ in range(2)), cost(5_000)
    assert large < 40 * small


def test_after_very_many_divergences_a_session_still_answers():
    made = player(tool(0))
    for _ in range(130):
        try:
            made.get("tool", "nobody")
        except ReplayStopped:
            continue
    assert made.get("tool", "t", arguments={"n": 0}) == 0
    assert (len(made.result().others), made.result().more) == (99, 30)


def test_provenance_needs_words_that_tell_something():
    tape = Tape()
    tape.made("id", "abc")
    tape.made("id", "long-enough")
    made = session(tape.cassette())
    found = Provenance(made._situation)
    assert found.source(Difference("f", True, None, "changed")) is None
    assert found.expected_from(Difference("f", "ab", "cd", "changed")) is None
    assert found.expected_from(Difference("f", "the long-enough one", "the other one", "changed")).seq == 1
    assert found.taken_early("id") is None


def test_a_score_lists_what_is_owed_in_order():
    made = player(tool(3), tool(1, kind="clock", name="clock", request={}), tool(2, kind="context"))
    score: Score = made.session._score
    assert [item.seq for item in score.owed()] == [1, 3]
    made.call("clock", "clock")
    assert [item.seq for item in score.owed()] == [3]
    assert call("clock", "clock").kind == "clock"
    assert text("user", "a")["role"] == "user"
