"""Neither bytes nor work grow by the square of the turns."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.cassette.prefixes import RECENT, Prefixes
from otelreplay.events import Event, Recording
from tests.cassette.runs import chat, read, seal, text


def size(recording):
    return sum(map(len, seal(recording)))


def test_each_turn_adds_the_same_bytes():
    """A run of 400 turns adds for each as much as one of 50, within what longer numbers take."""
    fifty, hundred, four = (size(chat(turns)) for turns in (50, 100, 400))
    per_turn = (hundred - fifty) / 50
    assert four - hundred == pytest.approx(300 * per_turn, rel=0.02)


def test_fifty_turns_take_less_than_the_goal():
    """Less than 15 % of the content that the model calls alone sent, said as JSON in JSON."""
    run = chat(50)
    sent = sum(len(json.dumps(json.dumps(event.request))) for event in run.events)
    assert size(run) < 0.15 * sent


def test_a_typical_model_event_is_a_short_line():
    lines = [line for line in seal(chat(20)) if b'"kind":"model"' in line]
    assert len(lines[-1]) < 750


def test_every_message_and_tool_is_stored_once():
    blobs = [line for line in seal(chat(30)) if line.startswith(b'{"type":"blob"')]
    messages = sum(b'"message":' in line for line in blobs)
    assert (messages, sum(b'"function"' in line for line in blobs)) == (2 * 30, 3)


def test_a_growing_history_asks_for_no_element_twice():
    """The work for a turn is what the turn adds: elements that a recent list holds are not looked at again."""
    asked, prefixes, history = [], Prefixes(), []
    for turn in range(200):
        history = [*history, object(), object()]
        base, added = prefixes.add(history, lambda item: asked.append(item) or str(id(item)))
        assert (bool(base), len(added)) == (turn > 0, 2)
    assert len(asked) == 400


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), max_size=14 + RECENT), st.booleans())
def test_the_base_is_the_longest_earlier_list_that_is_a_prefix(lists, shared):
    """Whether elements are the same objects or only have the same id."""
    prefixes, stored, spelled = Prefixes(), [], {"": []}
    objects = {letter: object() for letter in "abc"}
    for letters in lists:
        items = [objects[letter] if shared else [letter] for letter in letters]
        base, added = prefixes.add(items, lambda item: item[0] if isinstance(item, list) else _name(objects, item))
        before = [old for old in stored if letters[: len(old)] == old]
        assert len(spelled[base]) == max(map(len, before), default=0)
        assert spelled[base] + added == letters
        if added:
            from otelreplay.cassette.forms import list_id

            spelled[list_id(base, added)] = letters
        stored.append(letters)


def _name(objects, item):
    return next(letter for letter, held in objects.items() if held is item)


def test_the_same_list_again_is_a_reference_only():
    said = [text("user", "x"), text("user", "y")]
    events = tuple(Event(seq=n, id=str(n), kind="model", name="m", request={"messages": list(said)}) for n in range(2))
    lines = seal(Recording(run_id="ab12", trace_ids=(), events=events))
    assert list(json.loads(lines[-2])["request"]["messages"]["$list"]) == ["base"]
    assert read(lines).events == events


def test_a_large_value_that_recurs_is_stored_once():
    events = tuple(
        Event(
            seq=n,
            id=str(n),
            kind="tool",
            name="t",
            request={"n": n},
            response={"result": ["x" * 200]},
            attributes={"a": {"k": "y" * 2000}},
        )
        for n in range(5)
    )  # fmt: skip
    data = b"".join(seal(Recording(run_id="ab12", trace_ids=(), events=events)))
    assert (data.count(b"x" * 200), data.count(b"y" * 2000)) == (2, 1)


def test_members_that_all_events_of_a_name_share_are_stored_once():
    """From the third on: the first two show what is shared."""
    lines = seal(chat(30))
    assert [b'"params":' in line for line in lines if b'"kind":"model"' in line] == [True] * 3 + [False] * 27
    assert sum(b'"object":' in line and b'"params":' in line for line in lines) == 1
