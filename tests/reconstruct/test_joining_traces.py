"""Calls of an agent without a span of its own are traces of their own, and one run."""

import json

import msgspec

from otelreplay.reconstruct import continuation_of, join_traces, reconstruct, run_id
from otelreplay.spans import Scope
from tests.reconstruct.builders import ASK, CALL, DONE, TOLD, agent, answer, calls, model, of_kind, span, text, tool


def lone(n, messages, reply, **more):
    return model(n, messages, reply, parent=None, trace=f"{n:032x}", **more)


def groups(*spans):
    found = [continuation_of([s], []) for s in spans]
    return join_traces(c for c in found if c)


def short(group):
    return [int(t, 16) for t in group]


def test_a_call_that_goes_on_from_another_joins_its_run():
    first, second = lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE)
    (group,) = groups(second, first)
    assert short(group) == [2, 4]
    recording = reconstruct([first, second])
    assert [e.kind for e in recording.events] == ["model", "tool", "model"]
    assert of_kind(recording, "tool")[0].response["result"] == {"state": "late"}


def test_a_call_in_between_that_was_lost_breaks_no_run():
    second = calls(("c2", "find", {"id": "o-2"}))
    (group,) = groups(lone(2, ASK, CALL), lone(6, [*ASK, CALL, TOLD, second, answer("c2", "x")], DONE))
    assert short(group) == [2, 6]


def test_equal_plain_greetings_are_continued_once_each():
    hello, reply = [text("user", "hi")], text("assistant", "hello")
    more = [*hello, reply, text("user", "more")]
    found = groups(lone(1, hello, reply), lone(2, hello, reply), lone(3, more, DONE), lone(4, more, DONE))
    assert [short(g) for g in found] == [[1, 4], [2, 3]]


def test_a_history_with_tool_calls_may_go_on_in_two_ways():
    found = groups(
        lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE), lone(6, [*ASK, CALL, TOLD], text("assistant", "again"))
    )
    assert [short(g) for g in found] == [[2, 4, 6]]


def test_other_arguments_or_another_system_prompt_are_another_run():
    assert groups(lone(2, ASK, CALL), lone(4, [*ASK, calls(("c1", "find", {"id": "o-2"})), TOLD], DONE)) == []
    assert groups(lone(2, ASK, CALL), lone(4, [text("system", "other"), ASK[1], CALL, TOLD], DONE)) == []


def test_traces_that_are_more_than_one_call_are_runs_of_their_own():
    assert continuation_of([], []) is None
    assert continuation_of([agent(), model(2, ASK, CALL)], []) is None
    assert continuation_of([tool(2, parent=None)], []) is None
    assert continuation_of([model(2, ASK, CALL, parent=77)], []) is None
    assert continuation_of([model(2)], []) is None
    assert continuation_of([span(n) for n in range(9)], []) is None


def test_the_sdks_own_span_below_does_not_count():
    sdk = Scope(name="com.anthropic.sdk.python", version="2.0")
    below = msgspec.structs.replace(model(3, parent=2, response_id="x", scope=sdk), trace_id=f"{2:032x}")
    assert continuation_of([lone(2, ASK, CALL, response_id="x"), below], []) is not None


def test_the_run_id_is_a_digest_of_tenant_and_the_earliest_root():
    early, late = span(1, trace="b" * 32, start=5), span(1, trace="a" * 32, start=9)
    child = span(2, parent=1, trace="0" * 32, start=1)
    assert run_id([late, early, child]) == run_id([early]) != run_id([late])
    assert run_id([early], tenant="x") != run_id([early])
    tie = span(1, trace="c" * 32, start=5)
    assert run_id([tie, early]) == run_id([early])
    assert len(run_id([])) == 32
    assert set(run_id([early])) <= set("0123456789abcdef")


def test_text_beside_calls_does_not_matter_for_joining():
    said = calls(("c1", "find", {"id": "o-1"}), said="let me look")
    assert len(groups(lone(2, ASK, said), lone(4, [*ASK, CALL, TOLD], DONE))) == 1


def test_a_call_without_messages_joins_nothing():
    bare = span(2, gen_ai__operation__name="chat", gen_ai__provider__name="p", gen_ai__output__messages=json.dumps([DONE]))
    assert continuation_of([bare], []) is None
