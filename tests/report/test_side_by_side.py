"""Two values beside each other: no more than matters, at any width, and recorded text as data."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.report.side_by_side import MOST, beside, is_long, stacked, text_of
from otelreplay.report.text import width

LONG = [f"line {n} of a text that goes on and on" for n in range(60)]


def rows(was, now, columns=80):
    return beside(was, now, columns=columns)[1:]


def marks(was, now):
    return [(line[:1].strip(), line.partition(" │ ")[2][:1].strip()) for line in rows(was, now) if "│" in line]


def test_only_the_lines_around_a_change_are_shown():
    now = [*LONG[:30], "another line", *LONG[31:]]
    shown = rows("\n".join(LONG), "\n".join(now))
    assert shown[0] == "  … 28 lines that are the same"
    assert shown[-1] == "  … 27 lines that are the same"
    assert len(shown) == 7


def test_a_line_that_was_put_in_or_left_out_or_changed_has_its_mark():
    assert marks("a b\nc\nd", "a b\nx\nc\nd") == [("", ""), ("", "+"), ("", ""), ("", "")]
    assert marks("a b\nc\nd", "a b\nd") == [("", ""), ("-", ""), ("", "")]
    assert marks("a b c\nd", "a b x\nd") == [("~", "~"), ("", "")]


def test_a_moved_line_goes_here_and_comes_there():
    assert marks("a\nb\nc\nd", "b\nc\na\nd") == [("-", ""), ("", ""), ("", ""), ("", "+"), ("", "")]


@pytest.mark.parametrize("columns", [80, 100, 140, 200])
def test_rows_fill_the_columns_and_never_more(columns):
    wide = ["漢字の長い行です。" * 8, "x" * 300, "é" * 200]
    lines = beside("\n".join(wide), "\n".join(["漢字の長い行だ。" * 8, "y" * 300, "é" * 200]), columns=columns)
    assert max(map(width, lines)) <= columns
    bars = {width(line.partition("│")[0]) for line in lines if "│" in line}
    assert len(bars) == 1
    assert next(iter(bars)) >= columns // 2 - 2


def test_a_long_line_is_cut_around_what_differs():
    was, now = (f"{'word ' * 60}{end} and the rest" for end in ("LEFT", "RIGHT"))
    (row,) = [line for line in rows(was + "\nx", now + "\nx") if line.startswith("~")]
    assert "LEFT" in row
    assert "RIGHT" in row


def test_blanks_are_made_visible_where_nothing_else_differs():
    shown = rows("a b\nc", "a  b\nc")
    assert shown[0].startswith("~ a·b ")
    assert shown[0].endswith("│ ~ a··b")
    assert rows("a\tb\nc", "a b\nc")[0].startswith("~ a→b")
    assert "│ + end··" in rows("a\nc", "a\nc\nend  ")[-1]
    assert stacked('"a b"', '"a  b"', columns=80)[:2] == ['expected  "a·b"', 'received  "a··b"']


def test_short_values_stand_under_each_other_with_the_difference_marked():
    assert stacked('"lookup_order"', '"lookup_orders"', columns=80) == [
        'expected  "lookup_order"', 'received  "lookup_orders"', "                       ^"
    ]  # fmt: skip
    assert stacked("1", "true", columns=80) == ["expected  1", "received  true"]


def test_short_values_are_shown_from_where_they_differ():
    was, now = (f'"{"x" * 300}{end}"' for end in ("left", "right"))
    said = stacked(was, now, columns=60)
    assert "left" in said[0]
    assert "right" in said[1]
    assert max(map(width, said)) <= 60


def test_containers_are_shown_line_by_line():
    assert is_long({"a": 1}, {"a": 2})
    assert not is_long("one line\n", "another")
    shown = rows({"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert [line[:1] for line in shown] == [" ", " ", "~", " "]


def test_what_was_cut_when_it_was_kept_is_not_quoted_twice():
    assert text_of('{"a": 1... (4000 characters)') == '{"a": 1... (4000 characters)'
    assert text_of("{a}") == '"{a}"'


def test_very_many_changes_are_cut_and_that_is_said():
    shown = rows("\n".join(LONG), "\n".join(line.upper() + "!" for line in LONG))
    assert len(shown) == MOST + 1
    assert "more" in shown[-1]


def test_a_side_that_is_not_there_is_empty():
    assert [line.partition("│")[2] for line in beside(None, "a\nb", columns=80, both=(False, True))[1:]] == [" + a", " + b"]


lines = st.lists(st.sampled_from(["a", "b", "c d", "c e", "\x1b[2J", "\u202egnp", "漢", " ", "x" * 90]), max_size=12)


@settings(max_examples=200, deadline=None)
@given(lines, lines, st.sampled_from([60, 80, 200]))
def test_recorded_text_stays_within_its_cell_and_moves_no_cursor(was, now, columns):
    """Both sides can be read back from the marks: what is the same, what went, what came."""
    said = beside("\n".join(was), "\n".join(now), columns=columns)
    assert all(ch.isprintable() for line in said for ch in line)
    assert max(map(width, said)) <= max(columns, 44)
