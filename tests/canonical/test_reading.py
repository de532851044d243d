"""JSON found in attributes: exact, lenient, bounded, and never an error."""

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.canonical import READ_DEPTH, read_json
from tests.canonical.payloads import json_values, nested, same, texts

lenient = nested(st.none() | st.booleans() | st.integers() | st.floats() | texts)
jsonish = st.text(alphabet='{}[]",:0123456789eE.+-truefalsnINy \n\\ud83\x00é', max_size=30)


def standard(text):
    """What Python's reader says, or the exception."""
    try:
        return True, json.loads(text)
    except (ValueError, RecursionError):
        return False, text


@given(json_values, st.booleans())
def test_it_reads_what_the_standard_reader_reads(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert same(read_json(text), (True, value))


@given(st.dictionaries(texts, st.lists(st.integers() | st.floats() | texts)))
def test_nan_surrogates_and_big_integers_are_exact(value):
    text = json.dumps(value)
    assert same(read_json(text), standard(text))


@given(jsonish | st.text() | texts)
def test_any_text_is_read_or_left_alone(text):
    found, value = read_json(text)
    accepted, expected = standard(text)
    if accepted:
        assert found
        assert same(value, expected)
    elif not found:
        assert value is text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1,"a":2}', {"a": 2}),
        ('  {"n":123456789012345678901234567890} ', {"n": 123456789012345678901234567890}),
        ('"\\ud83e"', "\ud83e"),
        ('["a\x00\n"]', ["a\x00\n"]),
        ("[1e400,-1e400]", [math.inf, -math.inf]),
        ("-0.0", -0.0),
        ("-0", 0),
        ("4.0", 4.0),
        (" null\n", None),
        ("true", True),
        ("false", False),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("NaN", math.nan),
        ('"\ud83e"', "\ud83e"),
    ],
)
def test_what_others_write_is_read_as_it_was_meant(text, value):
    assert same(read_json(text), (True, value))


@pytest.mark.parametrize(
    "text", ["", "  ", "SELECT 1", '{"a":', "{'a': 1}", "nullable", "truth", "[link](x)", "1 apple", "\ufeff1", "9" * 4301]
)
def test_other_text_stays_text(text):
    assert read_json(text) == (False, text)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_is_bounded_and_brackets_in_texts_do_not_count(opening):
    closing = "]" if opening == "[" else "}"
    fits = opening * READ_DEPTH + "1" + closing * READ_DEPTH
    assert read_json(fits)[0]
    assert not read_json(opening + fits + closing)[0]
    assert not read_json(opening * 100_000)[0]
    assert not read_json(opening * 900 + "1" + closing * 900)[0]
    assert read_json(json.dumps([opening * 1000]))[0]
    assert read_json(json.dumps([[]] * 1000 + [{}] * 1000))[0]


@pytest.mark.parametrize("unit", ["[", '"', '\\"', '{"a":', "[1,", "9", '"\\ud83e', "\\", " ", "[]", "NaN,"])
def test_hostile_text_costs_no_more_than_its_length(unit):
    """A million characters in far less time than anything quadratic would need."""
    text = ("[" if unit == "NaN," else "") + unit * (1_000_000 // len(unit))
    started = time.process_time()
    read_json(text)
    read_json('"' + text)
    assert time.process_time() - started < 2
