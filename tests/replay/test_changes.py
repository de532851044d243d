"""A change is found where it was made; inserted, missing and changed calls are told apart."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.boundary import ReplayStopped
from otelreplay.events import Missing
from otelreplay.events.fields import format_path
from tests.replay.builders import Player, asks, desk, first, play, record, result, text

TOOLS = [
    {
        "type": "function",
        "name": "find",
        "description": "Finds.",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}},
    }
]
PARAMS = {"temperature": 0.5, "max_tokens": 100, "stop_sequences": ["END"], "stream": True}


def full():
    """A story of which every request has every component."""
    return [(k, n, f | ({"tools": TOOLS, "params": PARAMS} if k == "model" else {}), g) for k, n, f, g in desk(2)]


def changed(steps, at, change):
    """The same story with one request changed in place."""
    out = [
        (kind, name, copy.deepcopy(fields), gave) for kind, name, fields, gave in steps
    ]  # each by itself: they share messages
    change(out[at][2])
    return out


def put(*path, value=None):
    """Puts a value at a path of a request's fields."""

    def change(fields):
        holder = fields
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value

    return change


def drop(*path):
    """Takes away what is at a path."""

    def change(fields):
        holder = fields
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]

    return change


def insert(*path, value):
    """Puts a value before the one at a path."""

    def change(fields):
        holder = fields
        for step in path[:-1]:
            holder = holder[step]
        holder.insert(path[-1], value)

    return change


PART = ("messages", 1, "parts", 0)
PROPERTY = ("tools", 0, "parameters", "properties", "order")
MODEL_CHANGES = {
    "model": (put("model", value="other"), "model"),
    "temperature": (put("params", "temperature", value=0.7), "params.temperature"),
    "no temperature": (drop("params", "temperature"), "params.temperature"),
    "retyped temperature": (put("params", "temperature", value="0.5"), "params.temperature"),
    "token limit": (put("params", "max_tokens", value=101), "params.max_tokens"),
    "another stop": (put("params", "stop_sequences", 0, value="STOP"), "params.stop_sequences[0]"),
    "a new param": (put("params", "top_p", value=1), "params.top_p"),
    "system": (put("system", value="Be brief!"), "system[0].content"),
    "no system": (drop("system"), "system"),
    "whitespace": (put("system", value="Be  brief."), "system[0].content"),
    "a word": (put("messages", 0, "parts", 0, "content", value="Where are my order?"), "messages[0].parts[0].content"),
    "a role": (put("messages", 0, "role", value="assistant"), "messages[0].role"),
    "an added message": (insert("messages", 1, value=text("user", "And?")), "messages[1]"),
    "a dropped message": (drop("messages", 2), "messages[2]"),
    "a tool call's argument": (put(*PART, "arguments", "limit", value=6), "messages[1].parts[0].arguments.limit"),
    "a tool call's name": (put(*PART, "name", value="seek"), "messages[1].parts[0].name"),
    "a tool's answer": (put("messages", 2, "parts", 0, "response", "state", value="s9"), "messages[2].parts[0].response.state"),
    "a tool's description": (put("tools", 0, "description", value="Seeks."), "tools[0].description"),
    "a tool's schema": (put(*PROPERTY, "type", value="number"), "tools[0].parameters.properties.order.type"),
    "another tool": (insert("tools", 1, value={"type": "function", "name": "send"}), "tools[1]"),
    "no tools": (drop("tools"), "tools"),
}  # fmt: skip


@pytest.mark.parametrize("name", MODEL_CHANGES)
def test_a_change_in_a_model_request_is_found_at_its_field(name):
    change, path = MODEL_CHANGES[name]
    steps = full()
    found = first(record(steps), changed(steps, 2, change))
    assert (found.kind, found.seq, found.path) == ("request_changed", 3, f"request.{path}")
    assert found.agreed == 3  # the agent, a model call and a tool


@pytest.mark.parametrize(
    ("change", "path", "how"),
    [
        (put("arguments", "limit", value=6), "request.arguments.limit", "changed"),
        (put("arguments", "limit", value="5"), "request.arguments.limit", "retyped"),
        (put("arguments", "limit", value=None), "request.arguments.limit", "retyped"),
        (put("arguments", "limit", value=True), "request.arguments.limit", "retyped"),
        (drop("arguments", "limit"), "request.arguments.limit", "removed"),
        (put("arguments", "more", value=1), "request.arguments.more", "added"),
        (put("arguments", value={}), "request.arguments.order", "removed"),
    ],
)
def test_a_change_in_a_tools_arguments_is_found_at_its_argument(change, path, how):
    steps = full()
    found = first(record(steps), changed(steps, 1, change))
    assert (found.kind, found.seq, found.path, found.change) == ("request_changed", 2, path, how)


def test_a_message_that_was_moved_is_named_with_both_places():
    steps = full()

    def swap(fields):
        fields["messages"] = [fields["messages"][n] for n in (1, 2, 0)]

    found = first(record(steps), changed(steps, 2, swap))
    assert (found.path, found.change, found.received_path, found.others) == (
        "request.messages[0]", "moved", "request.messages[2]", ()
    )  # fmt: skip
    assert "request.messages[0] is now request.messages[2]: " in found.line()


def test_what_only_says_how_an_answer_travels_is_no_change():
    steps = full()
    assert play(Player(record(steps)), changed(steps, 2, put("params", "stream", value=False))).exit_code == 0


def test_several_changes_are_listed_and_the_first_is_the_one():
    steps = full()
    both = changed(changed(steps, 0, put("params", "temperature", value=1.0)), 0, put("system", value="x"))
    found = first(record(steps), both)
    assert {found.path, *found.others} == {"request.params.temperature", "request.system[0].content"}


def test_the_cause_class_says_what_kind_of_thing_was_changed():
    steps = full()
    causes = {
        name: first(record(steps), changed(steps, 2, MODEL_CHANGES[name][0])).cause
        for name in ("model", "system", "a word", "a tool's answer", "a tool's schema", "temperature")
    }
    assert causes == {
        "model": "model options", "system": "prompt", "a word": "prompt", "a tool's answer": "tool result",
        "a tool's schema": "tool schema", "temperature": "model options",
    }  # fmt: skip


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "b c", "{}", "1"]),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from(["k", "a.b", "", "x y"]), v, max_size=3), max_leaves=8,
)  # fmt: skip
SPLIT = st.dictionaries(st.sampled_from(["p", "q", "a.b"]), plain, min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(SPLIT, st.data())
def test_any_single_change_of_a_leaf_is_found_at_its_path(arguments, data):
    """Whatever the arguments, and wherever in them the change."""
    paths = []

    def walk(value, path):
        if isinstance(value, dict | list) and value:
            for step in value if isinstance(value, dict) else range(len(value)):
                walk(value[step], (*path, step))
        else:
            paths.append(path)

    walk(arguments, ())
    path = data.draw(st.sampled_from(paths))
    story = [("tool", "t", {"arguments": arguments}, None)]
    mutant = changed(story, 0, put("arguments", *path, value="a mutant"))
    found = first(record(story), mutant)
    assert (found.kind, found.seq, found.received) == ("request_changed", 1, "a mutant")
    assert found.path == format_path(("request", "arguments", *path))


def test_a_skipped_tool_is_missing_and_not_the_request_that_lacks_its_result():
    steps = desk(2)
    lacking = [s for n, s in enumerate(steps) if n != 1]
    lacking[1] = ("model", "m", steps[2][2] | {"messages": steps[2][2]["messages"][:2]}, None)
    found = first(record(steps), lacking)
    assert (found.kind, found.seq, found.boundary, found.operation) == ("missing_call", 2, "tool", "find")
    same = [s for n, s in enumerate(steps) if n != 1]
    found = first(record(steps), same)
    assert (found.kind, found.seq) == ("missing_call", 2)
    assert "event 3" in found.detail


def test_a_question_that_is_put_in_between_is_unexpected_though_it_begins_with_the_same_message():
    """A check of what was said so far, before the model is told of the tool's result."""
    steps = desk(2)
    history = steps[4][2]["messages"]
    for upto in (1, 2):
        asked = [*history[:upto], text("user", "Is this safe? Say yes or no.")]
        extra = ("model", "m", {"messages": asked, "params": {"temperature": 0.5}}, None)
        found = first(record(steps), [*steps[:4], extra, *steps[4:]])
        assert (found.kind, found.seq, found.where) == ("unexpected_call", 5, "agent.py:5")


def test_a_history_that_lost_its_beginning_or_its_end_is_a_changed_one():
    steps = desk(2)
    history = steps[4][2]["messages"]
    for kept in (history[1:], history[-1:], history[:-1], history[:3]):
        changed_one = ("model", "m", steps[4][2] | {"messages": kept}, None)
        found = first(record(steps), [*steps[:4], changed_one])
        assert (found.kind, found.seq) in {("request_changed", 5), ("unexpected_call", 5)}
        assert found.kind == "request_changed" or kept == history[:3]


def test_an_inserted_model_call_is_unexpected_and_not_a_change_of_the_next():
    steps = desk(2)
    extra = ("model", "m", {"messages": [text("user", "Is this safe?")], "params": {"temperature": 0.5}}, None)
    for at in (1, 2, 3, 4):
        found = first(record(steps), [*steps[:at], extra, *steps[at:]])
        assert (found.kind, found.where) == ("unexpected_call", f"agent.py:{at + 1}")
        assert found.seq == at + 1


def test_another_tool_is_unexpected_and_the_expected_event_is_named():
    steps = desk(1)
    found = first(record(steps), [steps[0], ("tool", "send", {"arguments": {}}, None)])
    assert (found.kind, found.operation, found.seq) == ("unexpected_call", "send", 2)
    assert "no tool of this name" in found.detail


def test_a_tool_called_twice_is_unexpected():
    steps = desk(1)
    found = first(record(steps), [*steps[:2], steps[1]])
    assert (found.kind, found.operation) == ("unexpected_call", "find")
    assert found.nearest[0].seq == 2
    assert found.nearest[0].state == "served"


def test_a_skipped_call_on_which_nothing_depends_is_missing_at_the_end():
    steps = [("tool", "a", {"arguments": {}}, 1), ("tool", "b", {"arguments": {}}, 2), ("tool", "c", {"arguments": {}}, 3)]
    done = play(Player(record(steps)), [steps[0], steps[2]])
    assert (done.first_divergence.kind, done.first_divergence.seq, done.exit_code) == ("missing_call", 2, 1)


def test_a_program_that_ends_early_leaves_events_unused():
    done = play(Player(record(desk(2))), desk(2)[:2])
    assert (done.first_divergence.kind, done.first_divergence.seq, done.unused) == ("events_unused", 3, 3)


def test_a_request_whose_reply_a_later_one_quotes_was_lost():
    """The span of the second model call never arrived."""
    steps = desk(2)
    cassette = record([s for n, s in enumerate(steps) if n != 2])
    found = first(cassette, steps)
    assert (found.kind, found.boundary, found.cause) == ("response_missing", "model", "missing data")
    assert "quotes the reply" in found.detail
    assert found.remedy


def test_a_run_level_gap_of_the_kind_is_the_cause_of_a_call_without_recording():
    gap = Missing(field="tool", cause="span_not_received", detail="it ended by calling tools", remedy="instrument the tools")
    steps = desk(1)
    done = play(Player(record(steps, missing=(gap,))), [steps[0], ("tool", "send", {"arguments": {}}, None)])
    assert (done.first_divergence.kind, done.exit_code) == ("response_missing", 3)
    assert "it ended by calling tools" in done.first_divergence.detail
    assert done.first_divergence.remedy == "instrument the tools"


def test_a_recording_without_an_ended_root_may_lack_what_comes_after_it():
    steps = desk(2)
    cassette = record(steps[:2], agent_ended=False)
    done = play(Player(cassette), steps)
    assert (done.first_divergence.kind, done.exit_code) == ("response_missing", 3)
    assert done.first_divergence.detail.startswith("never_ended")
    ended = play(Player(record(steps[:2])), steps)
    assert (ended.first_divergence.kind, ended.exit_code) == ("unexpected_call", 1)


def test_the_nearest_recordings_are_named_with_the_first_field_that_differs():
    steps = [("tool", "find", {"arguments": {"a": n, "b": 1}}, n) for n in range(5)]
    found = first(record(steps), [*steps, ("tool", "find", {"arguments": {"a": 9, "b": 1}}, None)])
    assert found.kind == "unexpected_call"
    assert [near.path for near in found.nearest] == ["request.arguments.a"] * 3


def test_the_first_divergence_is_not_replaced_by_what_follows_from_it():
    steps = desk(2)
    player = Player(record(steps))
    play(player, changed(steps, 2, put("system", value="x")))
    with pytest.raises(ReplayStopped):
        player.call("tool", "nobody")
    assert player.result().first_divergence.path == "request.system[0].content"
    assert [other.kind for other in player.result().others] == ["unexpected_call"]


def test_results_that_answer_other_calls_are_a_change_though_only_ids_differ():
    asked = asks(("a", "f", {}), ("b", "f", {}))

    def story(x, y):
        told = [text("user", "q"), asked, result(x, "one"), result(y, "two")]
        tools = [("tool", "f", {"arguments": {}, "call_id": c}, r) for c, r in (("a", "one"), ("b", "two"))]
        return [("model", "m", {"messages": told[:1]}, asked), *tools, ("model", "m", {"messages": told}, "ok")]

    found = first(record(story("a", "b")), story("b", "a"))
    assert (found.kind, found.path) == ("request_changed", "request.messages[2].parts[0].id")
