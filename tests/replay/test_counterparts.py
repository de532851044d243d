"""Values that two recordings are bound to differ in stand for each other, wherever they stand."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from otelreplay.events import Event, Message, Missing
from otelreplay.replay.counterparts import counterparts

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
LATER = AT + timedelta(days=1)


def made(kind, value):
    return Event(seq=0, id="t/0", kind=kind, name=kind, response={"result": value})


def asked(request, response=None, kind="tool"):
    return Event(seq=1, id="t/1", kind=kind, name="x", request=request, response=response)


def rewritten(was, now, event, kind="clock"):
    return counterparts([made(kind, was)], [made(kind, now)]).event(event)


def test_a_time_stands_for_the_other_in_every_form_in_which_a_program_hands_it_on():
    request = {"a": LATER, "b": LATER.isoformat(), "c": [f"It is {LATER.isoformat()}."], "d": str(LATER), "e": True, "f": None}
    event = rewritten(AT, LATER, asked({"arguments": request}))
    held = {"a": AT, "b": AT.isoformat(), "c": [f"It is {AT.isoformat()}."], "d": str(AT), "e": True, "f": None}
    assert event.request == {"arguments": held}


def test_what_is_found_is_said_and_what_is_not_leaves_the_event_as_it_is():
    table = counterparts([made("id", "case-0001")], [made("id", "case-0002")])
    untouched = asked({"arguments": {"id": "case-0003", "n": [1, {"x": "y"}]}})
    assert table.event(untouched) is untouched
    assert table.used == set()
    assert table.event(asked({"arguments": {}}, {"result": "case-0002"})).response == {"result": "case-0001"}
    assert table.used == {"id"}


def test_a_part_of_a_longer_word_is_none_of_it():
    assert rewritten("abcd", "wxyz", asked({"q": "wxyzed wxyz"}), kind="id").request == {"q": "wxyzed abcd"}


def test_short_texts_booleans_and_other_types_stand_for_nothing():
    for was, now in (("abc", "xyz"), (True, False), (None, "xyzw"), ("abcd", 7000), ([1], [2]), ("same", "same")):
        event = asked({"a": now, "b": f"{now}"})
        assert rewritten(was, now, event, kind="id") is event


def test_a_number_stands_for_the_other_as_number_and_as_text_and_not_as_another_type():
    event = rewritten(0.251234, 0.759876, asked({"a": 0.759876, "b": "0.759876 of it", "c": 0.5}), kind="random")
    assert event.request == {"a": 0.251234, "b": "0.251234 of it", "c": 0.5}


def test_what_made_the_values_is_not_rewritten():
    event = made("clock", LATER)
    assert rewritten(AT, LATER, event) is event


def test_messages_keep_their_marks_and_equal_ones_stay_one_object():
    mark = Missing(field="parts[0].content", cause="truncated")
    message = Message({"role": "user", "parts": [{"type": "text", "content": "case-0002"}]}, (mark,))
    table = counterparts([made("id", "case-0001")], [made("id", "case-0002")])
    one, other = (table.event(asked({"messages": [message]}, kind="model")).request["messages"][0] for _ in range(2))
    assert one["parts"][0]["content"] == "case-0001"
    assert one.marks == (mark,)
    assert one is other


def test_nesting_without_end_is_left_alone():
    value = "case-0002"
    for _ in range(500):
        value = [value]
    event = asked({"a": value})
    assert rewritten("case-0001", "case-0002", event, kind="id").request == event.request


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON)
def test_without_values_of_its_own_a_recording_is_compared_as_it_is(value):
    event = asked({"a": value})
    assert counterparts([], []).event(event) is event
    assert rewritten("a-long-id-of-one-run", "a-long-id-of-the-other", event, kind="id") is event
