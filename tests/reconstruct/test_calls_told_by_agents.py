"""Ids of calls that stand in what an agent put out, and nowhere else."""

import json

from otelreplay.spans import Scope
from tests.reconstruct.builders import of_kind, rebuilt, rules, span

CREW = Scope(name="openinference.instrumentation.crewai", version="1.1")


def step(n, kind, name, *, parent=None, given=None, gave=None, **more):
    held = {"openinference__span__kind": kind, "input__value": json.dumps(given), "output__value": json.dumps(gave)}
    if kind == "TOOL":
        held["tool__name"] = name
    return span(n, name, parent=parent, scope=CREW, **held, **more)


def asked(*calls):
    """A conversation of an agent in which each (id, name, arguments) was asked for."""
    told = [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls]
    return {"role": "assistant", "content": "", "tool_calls": told}


def crew(tools, output):
    """Call ids of tools, each (name, arguments), that ran inside an agent with this output."""
    spans = [step(1, "AGENT", "desk", given="hello", gave=output, start=1, end=10**6)]
    spans += [step(n, "TOOL", name, parent=1, given=a, gave="42") for n, (name, a) in enumerate(tools, 2)]
    return [tool.request.get("call_id") for tool in of_kind(rebuilt(*spans), "tool")]


FIND, OTHER = ("find", {"a": 1}), ("find", {"a": 2})


def test_a_tool_has_the_id_of_the_call_that_its_agent_tells_of():
    told = {"raw": "done", "tasks_output": [{"messages": [asked(("c1", *FIND)), asked(("c2", *OTHER))]}]}
    assert ["c2", "c1"] == crew([OTHER, FIND], told)
    agent = step(1, "AGENT", "desk", given="hello", gave=told, start=1, end=10**6)
    (tool,) = of_kind(rebuilt(agent, step(2, "TOOL", "find", parent=1, given={"a": 1}, gave="42")), "tool")
    assert rules(tool)["request.call_id"] == "call_id_from_agent_output"


def test_equal_calls_have_their_ids_in_order_and_a_call_that_is_told_twice_is_one():
    messages = [asked(("c1", *FIND)), asked(("c2", *FIND))]
    assert ["c1", "c2"] == crew([FIND, FIND], {"messages": messages, "tasks": [{"messages": messages}]})


def test_where_more_calls_are_told_than_ran_or_fewer_none_has_an_id():
    assert [None] == crew([FIND], {"messages": [asked(("c1", *FIND), ("c2", *FIND))]})
    assert [None, None] == crew([FIND, FIND], {"messages": [asked(("c1", *FIND))]})


def test_other_arguments_another_name_and_what_is_no_conversation_tell_nothing():
    assert [None] == crew([FIND], {"messages": [asked(("c1", *OTHER))]})
    assert [None] == crew([FIND], {"messages": [asked(("c1", "look", FIND[1]))]})
    for output in ("text", {"messages": "text"}, {"messages": [1, {"tool_calls": [1, {"function": {}}]}]}, [], None):
        assert [None] == crew([FIND], output)


def test_a_value_of_any_depth_is_walked_a_few_steps_only():
    deep = {"messages": [asked(("c1", *FIND))]}
    for _ in range(900):
        deep = {"inner": deep}
    assert [None] == crew([FIND], deep)
