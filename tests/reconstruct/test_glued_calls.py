"""Parallel calls that a package put together as one, and what is known of them all the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay import canonical
from otelreplay.reconstruct.glued import is_row
from tests.reconstruct.builders import ASK, DONE, agent, answer, calls, gaps, model, of_kind, rebuilt, rules

GLUED = calls(("c1c2", "findfind", '{"id": "o-1"}{"id": "o-2"}'))
WHOLE = calls(("c1", "find", {"id": "o-1"}), ("c2", "find", {"id": "o-2"}))
OBJECTS = st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))


def test_a_reply_with_glued_calls_is_the_turn_that_the_next_request_quotes():
    told = [answer("c1", "one"), answer("c2", "two")]
    recording = rebuilt(agent(), model(2, ASK, GLUED), model(4, [*ASK, WHOLE, *told], DONE))
    first = of_kind(recording, "model")[0]
    assert [(p["id"], p["arguments"]) for p in first.response["messages"][0]["parts"]] == [
        ("c1", {"id": "o-1"}),
        ("c2", {"id": "o-2"}),
    ]
    assert rules(first)["response.messages"] == "reply_from_later_history"
    assert [("find", "one"), ("find", "two")] == [(t.name, t.response["result"]) for t in of_kind(recording, "tool")]


def test_without_a_later_request_it_is_a_gap_and_no_call_is_invented():
    recording = rebuilt(agent(), model(2, ASK, GLUED))
    assert gaps(of_kind(recording, "model")[0])["response.messages"] == "undecodable"
    assert of_kind(recording, "tool") == []


@given(st.lists(OBJECTS, min_size=2, max_size=4), st.sampled_from(["", " ", "\n"]))
def test_objects_in_a_row_are_a_row(objects, between):
    assert is_row(between.join(canonical.dumps(o).decode() for o in objects))


@given(OBJECTS)
def test_one_object_is_none(value):
    assert not is_row(canonical.dumps(value).decode())


@pytest.mark.parametrize("value", ["", "{", '{"a": 1} and more', '{"a": 1}{"b"', '["a"]["b"]', "1 2", {"a": 1}, None, 3])
def test_neither_is_other_text_or_a_value(value):
    assert not is_row(value)


def test_a_row_of_thousands_is_seen_in_one_pass():
    assert is_row('{"a": 1}' * 20_000)
