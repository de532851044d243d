"""Pieces of a run that are traces of their own, and where they belong."""

import msgspec

from otelreplay.reconstruct import TraceExtent, join_traces, reconstruct, run_id
from otelreplay.spans import Scope
from tests.reconstruct.builders import ASK, CALL, DONE, TOLD, agent, answer, calls, model, of_kind, span, text, tool


def lone(n, messages, reply, **more):
    return model(n, messages, reply, parent=None, trace=f"{n:032x}", **more)


def groups(*traces):
    """The groups of several spans or lists of spans, as numbers of traces; groups of one left out."""
    held = {spans[0].trace_id: spans for spans in (t if isinstance(t, list) else [t] for t in traces)}
    extents = [
        TraceExtent(trace_id=t, start=min(s.start for s in spans), end=max(s.end for s in spans), spans=len(spans))
        for t, spans in held.items()
    ]
    found = join_traces(extents, lambda t: (held[t], []))
    assert sorted(t for g in found for t in g) == sorted(held), "no trace is lost or doubled"
    return [[int(t, 16) for t in g] for g in found if len(g) > 1]


def in_trace(n, *spans):
    return [msgspec.structs.replace(s, trace_id=f"{n:032x}") for s in spans]


def test_a_call_that_goes_on_from_another_joins_its_run():
    first, second = lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE)
    assert groups(second, first) == [[2, 4]]
    recording = reconstruct([first, second])
    assert [e.kind for e in recording.events] == ["model", "tool", "model"]
    assert of_kind(recording, "tool")[0].response["result"] == {"state": "late"}


def test_a_call_in_between_that_was_lost_breaks_no_run():
    second = calls(("c2", "find", {"id": "o-2"}))
    assert groups(lone(2, ASK, CALL), lone(6, [*ASK, CALL, TOLD, second, answer("c2", "x")], DONE)) == [[2, 6]]


def test_a_call_that_failed_still_goes_on_from_the_one_before():
    assert groups(lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], None)) == [[2, 4]]


def test_equal_plain_greetings_are_continued_once_each():
    hello, reply = [text("user", "hi")], text("assistant", "hello")
    more = [*hello, reply, text("user", "more")]
    found = groups(lone(1, hello, reply), lone(2, hello, reply), lone(3, more, DONE), lone(4, more, DONE))
    assert found == [[1, 4], [2, 3]]


def test_a_history_with_tool_calls_may_go_on_in_two_ways():
    found = groups(
        lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE), lone(6, [*ASK, CALL, TOLD], text("assistant", "again"))
    )
    assert found == [[2, 4, 6]]


def test_other_arguments_or_another_system_prompt_are_another_run():
    assert groups(lone(2, ASK, CALL), lone(4, [*ASK, calls(("c1", "find", {"id": "o-2"})), TOLD], DONE)) == []
    assert groups(lone(2, ASK, CALL), lone(4, [text("system", "other"), ASK[1], CALL, TOLD], DONE)) == []


def test_an_agent_around_it_makes_a_run_of_its_own():
    assert groups(in_trace(2, agent(), model(2, ASK, CALL)), lone(4, [*ASK, CALL, TOLD], DONE)) == []
    assert groups(lone(2, ASK, CALL), in_trace(4, model(4, [*ASK, CALL, TOLD], DONE, parent=77))) == []
    assert groups(in_trace(1, *(span(n) for n in range(9))), lone(2, ASK, CALL)) == []


def test_the_sdks_own_span_below_does_not_count():
    sdk = Scope(name="com.anthropic.sdk.python", version="2.0")
    both = in_trace(2, model(2, ASK, CALL, parent=None, response_id="x"), model(3, parent=2, response_id="x", scope=sdk))
    assert groups(both, lone(4, [*ASK, CALL, TOLD], DONE)) == [[2, 4]]


def test_a_call_that_is_told_best_by_the_inner_of_its_two_spans_is_a_lone_one_too():
    """A framework's span without content is the root, the body stands in one below it (LiteLLM)."""
    outer = model(2, parent=None, response_id="x")
    both = in_trace(2, outer, model(3, ASK, CALL, parent=2, response_id="x", start=outer.start, end=outer.end))
    assert groups(both, lone(4, [*ASK, CALL, TOLD], DONE)) == [[2, 4]]


def test_calls_that_a_reply_was_recorded_without_ids_of_are_continued_once_by_the_nearest():
    bare = calls((None, "find", {"id": "o-1"}))
    later = lone(4, [*ASK, CALL, TOLD], DONE)
    assert groups(lone(2, ASK, bare), later) == [[2, 4]]
    assert groups(lone(1, ASK, bare), lone(2, ASK, bare), later) == [[2, 4]]
    assert groups(lone(2, ASK, calls((None, "find", {"id": "o-2"}))), later) == []
    other = lone(5, [*ASK, calls(("c9", "find", {"id": "o-1"})), answer("c9", "lost")], DONE)
    assert groups(lone(2, ASK, bare), later, other) == [[2, 4]]
    more = lone(6, [*ASK, CALL, TOLD, calls(("c2", "find", {"id": "o-9"})), answer("c2", "9")], DONE)
    assert groups(lone(2, ASK, bare), lone(4, [*ASK, CALL, TOLD], calls((None, "find", {"id": "o-9"}))), more) == [[2, 4, 6]]


def test_text_beside_calls_and_reasoning_do_not_matter_for_joining():
    said = calls(("c1", "find", {"id": "o-1"}), said="let me look")
    assert groups(lone(2, ASK, said), lone(4, [*ASK, CALL, TOLD], DONE)) == [[2, 4]]
    thought = {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, *DONE["parts"]]}
    assert groups(lone(2, ASK, thought), lone(4, [*ASK, DONE, text("user", "more")], DONE)) == [[2, 4]]


def test_a_reply_that_the_history_splits_in_two_messages_is_one_turn():
    said = calls(("c1", "find", {"id": "o-1"}), said="let me look")
    assert groups(lone(2, ASK, said), lone(4, [*ASK, text("assistant", "let me look"), CALL, TOLD], DONE)) == [[2, 4]]


def test_answers_to_calls_that_are_not_quoted_join_the_trace_that_asked():
    assert groups(lone(2, ASK, CALL, response_id="resp_0"), lone(4, [TOLD], DONE)) == [[2, 4]]
    assert groups(lone(2, ASK, CALL), lone(4, [answer("other", "x")], DONE)) == []


def test_a_named_previous_response_joins_its_trace():
    later = lone(4, [text("user", "and?")], DONE, gen_ai__request__previous_response__id="resp_0")
    assert groups(lone(2, ASK, DONE, response_id="resp_0"), later) == [[2, 4]]


def loose(n, *, trace, **more):
    return msgspec.structs.replace(tool(n, parent=None, **more), trace_id=f"{trace:032x}")


def test_tools_that_lost_their_context_belong_to_the_reply_that_asked_for_them():
    run = in_trace(1, agent(), model(2, ASK, CALL), model(9, [*ASK, CALL, TOLD], DONE))
    assert groups(run, loose(3, trace=7, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1")) == [[1, 7]]
    assert groups(run, loose(3, trace=7, arguments={"id": "o-1"}, result={"state": "late"})) == [[1, 7]]
    assert groups(run, loose(3, trace=7, arguments={"id": "o-2"}, result={"state": "late"})) == []


def test_a_tool_that_two_runs_may_have_asked_for_is_left_alone():
    one, two = in_trace(1, agent(), model(2, ASK, CALL)), in_trace(2, agent(), model(2, ASK, CALL))
    assert groups(one, two, loose(3, trace=7, arguments={"id": "o-1"}, result=1)) == []


def test_a_tool_of_long_after_is_no_part_of_a_run_that_ended():
    run = in_trace(
        1,
        *(msgspec.structs.replace(s, end=1300) for s in (agent(), model(2, ASK, CALL), *(model(n, ASK) for n in range(3, 7)))),
    )
    assert groups(run, loose(90, trace=7, arguments={"id": "o-1"}, result=1)) == []


def test_the_run_id_is_a_digest_of_tenant_and_the_earliest_root():
    early, late = span(1, trace="b" * 32, start=5), span(1, trace="a" * 32, start=9)
    child = span(2, parent=1, trace="0" * 32, start=1)
    assert run_id([late, early, child]) == run_id([early]) != run_id([late])
    assert run_id([early], tenant="x") != run_id([early])
    tie = span(1, trace="c" * 32, start=5)
    assert run_id([tie, early]) == run_id([early])
    assert len(run_id([])) == 32
    assert set(run_id([early])) <= set("0123456789abcdef")


def test_a_single_trace_is_never_read_for_joining():
    def fail(_trace):
        raise AssertionError("read for nothing")

    assert join_traces([TraceExtent(trace_id="a", start=1, end=2, spans=1)], fail) == [("a",)]


def test_google_ids_that_no_wire_carried_do_not_keep_a_run_apart():
    google = Scope(name="opentelemetry.instrumentation.google_genai", version="1.3b0")
    first = lone(2, ASK, calls(("find_1", "find", {"id": "o-1"}), said="look"), scope=google)
    second = lone(4, [*ASK, calls(("find_0", "find", {"id": "o-1"})), answer("find_0", {"result": 1})], DONE, scope=google)
    assert groups(first, second) == [[2, 4]]
    recording = reconstruct([first, second])
    (found,) = of_kind(recording, "tool")
    assert found.response["result"] == {"result": 1}
    assert "call_id" not in found.request
