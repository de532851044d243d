"""Equal messages are one object, and the cheap ways in give what parsing everything gives."""

import json

from hypothesis import given
from hypothesis import strategies as st

from otelreplay.dialects import Interner
from otelreplay.events import Message

ELEMENTS = st.recursive(st.integers(0, 12) | st.text(max_size=3) | st.none(), lambda v: st.lists(v, max_size=2), max_leaves=3)
TAILS = st.sampled_from(["", " ", "\n", ",", "]", ", 2]", "1]", "x"])


def alone(text):
    return Interner().each(text, "v", lambda v: (v,))


@given(lists=st.lists(st.lists(ELEMENTS, max_size=4), max_size=5), space=st.booleans())
def test_lists_that_grow_are_read_as_each_alone(lists, space):
    interner, grown = Interner(), []
    for extra in lists:
        grown = [*grown, *extra]
        text = json.dumps(grown, separators=None if space else (",", ":"))
        assert interner.each(text, "v", lambda v: (v,)) == grown


@given(start=st.lists(ELEMENTS, max_size=3), tail=TAILS, more=st.lists(ELEMENTS, max_size=2))
def test_what_was_read_before_never_changes_what_is_read_now(start, tail, more):
    first = json.dumps(start)
    second = first[:-1] + tail + json.dumps(more)[1:]
    interner = Interner()
    interner.each(first, "v", lambda v: (v,))
    assert interner.each(second, "v", lambda v: (v,)) == alone(second)
    interner.each(first + tail, "v", lambda v: (v,))
    assert interner.each(second, "v", lambda v: (v,)) == alone(second)


def test_equal_messages_are_one_object_whatever_their_key_order():
    interner = Interner()
    one, two = interner.message({"role": "user", "parts": []}), interner.message({"parts": [], "role": "user"})
    assert one is two
    assert isinstance(one, Message)


def test_a_returned_list_is_the_callers_own():
    interner = Interner()
    interner.each("[1]", "v", lambda v: (v,)).append("mine")
    assert interner.each("[1, 2]", "v", lambda v: (v,)) == [1, 2]


def test_two_ways_of_reading_one_text_are_kept_apart():
    interner = Interner()
    assert interner.each("[1]", "a", lambda v: (v,)) == [1]
    assert interner.each("[1]", "b", lambda v: (v, v)) == [1, 1]


def test_odd_values_have_keys_too():
    interner = Interner()
    assert interner.value({"a": "\ud83e"}) is interner.value({"a": "\ud83e"})
    assert interner.each('["\\ud83e", NaN]', "v", lambda v: (v,))[0] == "\ud83e"
    assert interner.each("{}", "v", lambda v: (v,)) is None
