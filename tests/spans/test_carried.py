"""What a policy left on a span survives the way over OTLP."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.spans import Removal, Span, carrying, lifted

IDS = {"trace_id": "ab" * 16, "span_id": "cd" * 8}
TEXT = st.text(max_size=8)


@given(
    st.dictionaries(TEXT.filter(lambda k: k != "otelreplay.redaction"), TEXT, max_size=3),
    st.lists(st.builds(Removal, TEXT, TEXT, TEXT), max_size=3),
    st.dictionaries(TEXT, st.integers(0, 1 << 40), max_size=3),
)
def test_marks_and_lengths_come_back_as_they_were(attributes, removed, lengths):
    span = Span(**IDS, attributes=attributes, removed=tuple(removed), lengths=lengths)
    sent = carrying(span)
    assert ((), {}) == (sent.removed, sent.lengths)
    assert span == lifted(sent)


def test_a_span_without_marks_is_the_same_object_both_ways():
    span = Span(**IDS, attributes={"a": 1})
    assert carrying(span) is span
    assert lifted(span) is span


def test_marks_of_the_receiver_stay():
    sent = carrying(Span(**IDS, removed=(Removal("a", "r", "drop"),)))
    held = msgspec.structs.replace(sent, removed=(Removal("b", "s", "drop"),), lengths={"c": 1})
    assert (Removal("b", "s", "drop"), Removal("a", "r", "drop")) == lifted(held).removed
    assert {"c": 1} == lifted(held).lengths


@pytest.mark.parametrize(
    "value",
    [
        7, "text", "[1]", '{"removed": 1}', '{"removed": [["a"]]}', '{"removed": [["a", "b", 1]]}', '{"lengths": []}',
        '{"lengths": {"a": -1}}', '{"lengths": {"a": true}}', '{"lengths": {"a": "1"}}', '{"more": 1}', '{"removed": ["abc"]}',
    ],
)  # fmt: skip
def test_an_attribute_of_that_name_that_holds_anything_else_stays_an_attribute(value):
    span = Span(**IDS, attributes={"otelreplay.redaction": value})
    assert lifted(span) is span
