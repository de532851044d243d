"""Runs of decorated programs: parents, order, tools and the calls that asked for them, streams, what never ended."""

import pytest

from otelreplay.events import assess
from otelreplay.reconstruct import reconstruct
from tests.dialects.own_spans import failed, js, own, own_agent, own_model, own_tool, said
from tests.reconstruct.builders import answer, calls, gaps, of_kind, rules

ASK = [said("user", "where is o-1?")]


def told(call_id, value):
    return answer(call_id, value)


def run(tool, *, call=None, result='{"state": "late"}'):
    """An agent that asks a model, runs one tool, and asks again."""
    call = call or calls(("c1", "find", {"id": "o-1"}))
    return [
        own_agent(given={"ask": "where is o-1?"}, output="late"),
        own_model(2, ASK, call, parent=1),
        tool,
        own_model(4, [*ASK, call, told("c1", result)], said("assistant", "late"), parent=1),
    ]


def kinds(recording):
    return [(e.kind, e.name, e.parent) for e in recording.events]


def test_a_decorated_run_is_whole_and_in_order():
    recording = reconstruct(run(own_tool(3, arguments={"id": "o-1"}, result={"state": "late"}, parent=1)))
    assert kinds(recording) == [("agent", "desk", None), ("model", "m", 0), ("tool", "find", 0), ("model", "m", 0)]
    assert [e.after for e in recording.events] == [[], [0], [1], [2]]
    assert [e.agent for e in recording.events][1:] == ["desk"] * 3
    assert not any(e.missing for e in recording.events)
    assert assess(recording.events, recording.missing).verdict == "full"
    assert recording.notes == ()


@pytest.mark.parametrize(
    ("arguments", "more", "noted"),
    [
        ({"id": "x"}, {"gen_ai.tool.call.id": "c1"}, False),
        ({"id": "o-1"}, {}, False),
        ({"id": "o-1", "limit": 10, "when": (1,)}, {}, False),
        ({"id": ("o", 1)}, {}, True),
    ],
    ids=["by call id", "by arguments", "defaults filled in", "other types"],
)
def test_a_decorated_tool_answers_the_call_that_asked_for_it(arguments, more, noted):
    recording = reconstruct(run(own_tool(3, arguments=arguments, result={"state": "late"}, parent=1, more=more)))
    (tool,) = of_kind(recording, "tool")
    assert tool.request["call_id"] == "c1"
    assert tool.request["arguments"] == arguments
    assert tool.after == [1]
    assert [n.code for n in recording.notes] == ["ambiguous_pairing"] * noted


def test_tools_whose_arguments_fit_take_their_calls_before_those_that_only_have_the_name():
    call = calls(("c1", "find", {"id": 1}), ("c2", "find", {"id": 2}))
    spans = [
        own_agent(),
        own_model(2, ASK, call, parent=1),
        own_tool(3, arguments={"id": (1,)}, result="one", parent=1),
        own_tool(4, arguments={"id": 1, "more": True}, result="two", parent=1),
        own_model(5, [*ASK, call, told("c1", "two"), told("c2", "one")], said("assistant", "x"), parent=1),
    ]
    by_result = {e.response["result"]: e.request["call_id"] for e in of_kind(reconstruct(spans), "tool")}
    assert by_result == {"two": "c1", "one": "c2"}


def test_a_tool_that_ran_after_the_answer_was_told_is_another_call():
    late = own_tool(9, arguments={"id": ("o", 1)}, result="x", parent=1)
    recording = reconstruct(run(late))
    assert len(of_kind(recording, "tool")) == 2
    assert "call_id" not in next(e.request for e in of_kind(recording, "tool") if e.id == late.key)


def test_the_tool_of_another_name_is_another_call():
    assert len(of_kind(reconstruct(run(own_tool(3, "erase", {"id": "x"}, 1, parent=1))), "tool")) == 2


def test_the_exact_result_stands_beside_what_the_model_was_told():
    recording = reconstruct(run(own_tool(3, arguments={"id": "o-1"}, result=("late", 4.0), parent=1), result="it is late"))
    (tool,) = of_kind(recording, "tool")
    assert tool.response == {"result": ("late", 4.0), "as_seen": "it is late"}
    assert rules(tool) == {"request.call_id": "call_id_from_model_reply"}


@pytest.mark.parametrize("result", ["42", '{"state": "late"}'])
def test_a_text_result_stays_text_whatever_the_model_was_told(result):
    (tool,) = of_kind(reconstruct(run(own_tool(3, arguments={"id": "o-1"}, result=result, parent=1), result=result)), "tool")
    assert tool.response["result"] == result


def test_a_failed_tool_is_a_result():
    more, fields = failed("app.NoOrder", "o-1", {"class": "app:NoOrder", "args": ["o-1"]})
    span = own(3, "tool", "find", parent=1, more={"gen_ai.tool.call.arguments": js({"id": "o-1"})} | more, **fields)
    recording = reconstruct(run(span, result="no such order"))
    (tool,) = of_kind(recording, "tool")
    assert (tool.error.type, tool.error.model_extra) == ("app.NoOrder", {"class": "app:NoOrder", "args": ["o-1"]})
    assert tool.response == {"as_seen": "no such order"}
    assert assess(recording.events).verdict == "full"


def test_an_agent_inside_an_agent_stays_one_of_two():
    spans = [
        own_agent(1, "outer"), own_agent(2, "outer", parent=1, start=1100, end=1900),
        own_tool(3, result=1, parent=2), own_tool(4, "other", result=2, parent=1),
    ]  # fmt: skip
    recording = reconstruct(spans)
    assert kinds(recording) == [("agent", "outer", None), ("agent", "outer", 0), ("tool", "find", 1), ("tool", "other", 0)]


def test_a_decorated_function_inside_another_of_its_kind_is_a_boundary_of_its_own():
    recording = reconstruct([own_tool(1, result=1, end=5000), own_tool(2, result=2, parent=1)])
    assert [(e.parent, e.response["result"]) for e in recording.events] == [(None, 1), (0, 2)]


# ---- streams, other kinds ----------------------------------------------------------------------------------------------


def test_a_stream_is_in_the_event_with_its_end():
    more = {"otelreplay.chunks": js(["a", ("b",)]), "otelreplay.stream.end": "stopped", "gen_ai.tool.call.arguments": "{}"}
    recording = reconstruct([own(1, "tool", "rows", more=more)])
    (event,) = recording.events
    assert event.response == {"chunks": ["a", ("b",)], "stream": {"end": "stopped", "chunks": 2}}
    assert gaps(event) == {"response.chunks": "never_ended"}
    assert assess(recording.events).verdict == "full"


@pytest.mark.parametrize("kind", ["clock", "random", "id", "state"])
def test_small_boundaries_are_events(kind):
    recording = reconstruct([own_agent(), own(2, kind, "profile", parent=1, more={"otelreplay.result": js(0.5)})])
    event = recording.events[1]
    assert (event.kind, event.parent, event.response) == (kind, 0, {"result": 0.5})
    assert assess(recording.events).verdict == "full"


def test_a_decorated_model_of_no_messages_owes_none():
    more = {"otelreplay.arguments": js({"ticket": 1}), "otelreplay.result": js(("spam", 0.9))}
    recording = reconstruct([own(1, "model", "classify", more=more)])
    (event,) = recording.events
    assert event.missing == []
    assert assess(recording.events).verdict == "full"


def test_content_that_was_not_captured_is_missing_from_a_decorated_model_too():
    recording = reconstruct([own(1, "model", "classify")])
    assert gaps(recording.events[0])["request.messages"] == "content_not_captured"
    assert assess(recording.events).verdict == "structure_only"


# ---- what is not there -------------------------------------------------------------------------------------------------


def test_calls_under_way_when_the_process_was_killed_are_events_that_never_ended():
    """A14: three of five tools ran; the third was under way, and so was the agent."""
    spans = [own(1, "agent", "desk", end=0, more={"otelreplay.input": js({"ask": 1})})]
    spans += [own_tool(n, arguments={"n": n}, result=n, parent=1) for n in (2, 3)]
    spans.append(own_tool(4, arguments={"n": 4}, parent=1, end=0))
    agent, *tools = reconstruct(spans).events
    assert gaps(agent) == {"end": "never_ended", "response.output": "never_ended"}
    assert [t.response for t in tools] == [{"result": 2}, {"result": 3}, None]
    assert gaps(tools[2]) == {"end": "never_ended", "response.result": "never_ended"}
    assert tools[2].request["arguments"] == {"n": 4}


def test_a_stub_and_the_span_that_ended_are_one_event():
    ended = own_tool(1, arguments={"n": 1}, result=1)
    stub = own_tool(1, arguments={"n": 1}, end=0)
    for order in ([stub, ended], [ended, stub]):
        recording = reconstruct(order)
        assert [e.response for e in recording.events] == [{"result": 1}]
        assert recording.events[0].missing == []


def test_a_call_outside_of_the_agent_that_ran_is_kept_and_noted():
    recording = reconstruct([own_agent(), own_tool(2, result=1, trace="e" * 32), own_tool(3, "in", result=1, parent=1)])
    assert [(e.name, e.parent) for e in recording.events] == [("desk", None), ("find", None), ("in", 0)]
    (note,) = recording.notes
    assert note.code == "outside_of_agent"
    assert note.spans == (recording.events[1].id,)


def test_a_call_whose_parent_never_came_is_marked():
    (event,) = reconstruct([own_tool(2, result=1, parent=1)]).events
    assert gaps(event) == {"parent": "span_not_received"}


def test_arrival_in_any_order_gives_the_same_events():
    spans = run(own_tool(3, arguments={"id": "o-1", "limit": 3}, result={"state": "late"}, parent=1))
    assert reconstruct(spans).events == reconstruct(spans[::-1]).events == reconstruct([*spans, *spans]).events


def test_a_decorated_run_without_any_model_is_full():
    """All spans are ours: a model that is not there was not called."""
    recording = reconstruct(
        [own_agent(given={"ask": "x"}, output="late"), own_tool(2, arguments={"id": 1}, result=2, parent=1)]
    )
    assert recording.missing == ()
    assert assess(recording.events, recording.missing).verdict == "full"
