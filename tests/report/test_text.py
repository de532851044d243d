"""Recorded text on a terminal: nothing in it can steer the terminal, and columns fit."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.report.text import clip, duration, escape, escape_lines, fields, listing, pad, plural, width, wrap

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=[]))


@given(ANY_TEXT)
def test_escaped_text_holds_no_control_format_or_surrogate_character(text):
    assert {unicodedata.category(ch) for ch in escape(text)}.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@given(ANY_TEXT)
def test_escaped_text_can_be_written_to_any_utf8_stream(text):
    assert escape(text).encode("utf-8").decode("utf-8") == escape(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_is_left_as_it_is(text):
    assert text == escape(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_escapes_show_what_was_there(text, shown):
    assert shown == escape(text)


@given(ANY_TEXT)
def test_only_a_line_feed_parts_lines(text):
    assert text.count("\n") + 1 == len(escape_lines(text))


@given(ANY_TEXT.map(escape), st.integers(0, 30))
def test_clipped_and_padded_text_takes_the_columns_it_was_given(text, columns):
    assert width(clip(text, columns)) <= columns
    assert columns == width(pad(text, columns)) == width(pad(text, columns, right=True))


def test_wide_characters_take_two_columns_and_combining_ones_none():
    assert (4, 1) == (width("日本"), width("e\u0301"))
    assert "日…" == clip("日本語", 4)


def test_prose_is_wrapped_and_long_words_stay_whole():
    switch = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"
    lines = wrap(f"set {switch} in the environment", 40, first="  ", rest="    ")
    assert ["  set", f"    {switch}", "    in the environment"] == lines


def test_fields_are_aligned_and_empty_ones_left_out():
    assert ["  id     a", "  agent  b"] == list(fields([("id", "a"), ("none", ""), ("agent", "b")], indent="  "))
    assert [] == list(fields([]))


@pytest.mark.parametrize(
    ("ns", "said"),
    [
        (0, "0 ms"),
        (999, "0 us"),
        (850_000, "850 us"),
        (20_000_000, "20 ms"),
        (1_250_000_000, "1.25 s"),
        (123_000_000_000, "2 m 03 s"),
        (3_720_000_000_000, "1 h 02 m"),
        (-20_000_000, "-20 ms"),
    ],
)
def test_durations_are_said_as_people_say_them(ns, said):
    assert said == duration(ns)


def test_counts_and_lists_read_as_sentences():
    assert ("1 gap", "2 gaps", "2 entries") == (plural(1, "gap"), plural(2, "gap"), plural(2, "entry", "entries"))
    assert ("", "a", "a and b", "a, b and c") == (listing([]), listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"]))
