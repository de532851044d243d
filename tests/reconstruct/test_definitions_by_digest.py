"""Tool definitions that a call names by a digest and that log records hold once."""

import json

from otelreplay.spans import Scope
from tests.reconstruct.builders import ASK, DONE, gaps, log, model, of_kind, rebuilt, rules

CLAUDE = Scope(name="com.anthropic.claude_code.events")
NAMED = [{"name": "find", "hash": "h1"}, {"name": "look", "hash": "h2"}]


def told(n, name, digest, scope=CLAUDE):
    definition = {"name": name, "description": f"how to {name}", "input_schema": {"type": "object"}}
    return log(1, "tool", at=n, scope=scope, tool_hash=digest, tool=json.dumps(definition), tool_name=name)


def tools_of(*records, named=NAMED, **more):
    events = of_kind(rebuilt(model(2, ASK, DONE, parent=None, tools=json.dumps(named), **more), *records), "model")
    return events[0]


def test_a_call_has_the_definitions_that_it_names_in_its_order():
    event = tools_of(told(5, "look", "h2"), told(6, "find", "h1"), told(7, "find", "h9"))
    assert [(t["name"], t["description"], t["parameters"]) for t in event.request["tools"]] == [
        ("find", "how to find", {"type": "object"}),
        ("look", "how to look", {"type": "object"}),
    ]
    assert rules(event)["request.tools"] == "tools_by_hash"
    assert "request.tools" not in gaps(event)


def test_definitions_of_which_one_is_nowhere_are_none():
    assert "tools" not in tools_of(told(5, "find", "h1")).request
    assert "tools" not in tools_of(told(5, "find", "h1"), told(6, "look", "h9")).request


def test_what_stands_on_the_span_and_what_others_log_is_left_alone():
    own = json.dumps([{"type": "function", "name": "own"}])
    event = tools_of(told(5, "find", "h1"), told(6, "look", "h2"), gen_ai__tool__definitions=own)
    assert [t["name"] for t in event.request["tools"]] == ["own"]
    assert (
        "tools" not in tools_of(told(5, "find", "h1", Scope(name="other")), told(6, "look", "h2", Scope(name="other"))).request
    )
    for named in ([], [1], {"a": 1}, "text"):
        assert "tools" not in tools_of(told(5, "find", "h1"), named=named).request
