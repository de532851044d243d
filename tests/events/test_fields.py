"""One syntax for fields: every path has one spelling, and every spelling leads back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.canonical.paths import join
from otelreplay.errors import UsageError
from otelreplay.events import Event
from otelreplay.events.fields import ABSENT, format_path, get, leaves, parse, under, within

keys = st.text(max_size=5) | st.text(alphabet='.[]"\\0a\ud83e\x00 é', max_size=4)
paths = st.lists(keys | st.integers(0, 10**17), max_size=5).map(tuple)


@given(paths)
def test_every_path_is_read_back_from_its_spelling(path):
    assert parse(format_path(path)) == path


@given(paths)
def test_a_spelling_is_made_again_from_what_it_reads_as(path):
    assert format_path(parse(format_path(path))) == format_path(path)
    assert format_path(path).isprintable() or any(ord(sign) > 127 for key in path if isinstance(key, str) for sign in key)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ((), ""),
        (("request", "messages", 2, "parts", 0, "content"), "request.messages[2].parts[0].content"),
        (("attributes", "gen_ai.request.model", "x"), 'attributes["gen_ai.request.model"].x'),
        (("request", "arguments", ""), 'request.arguments[""]'),
        ((0, "a"), "[0].a"),
        (("a b-c", "é"), "a b-c.é"),
        (("a", 'say "hi"', "[0]", "\n"), 'a["say \\"hi\\""]["[0]"]["\\n"]'),
        (("a", "0"), "a.0"),
        (("\ud83e",), '["\\ud83e"]'),
    ],
)
def test_the_documented_spellings(path, field):
    assert format_path(path) == field
    assert parse(field) == path


def test_a_key_may_be_quoted_without_need():
    assert parse('["a"]["b"][0]') == ("a", "b", 0)


@pytest.mark.parametrize(
    "field",
    [".a", "a.", "a..b", "a[", "a[x]", "a[01]", "a[-1]", 'a["b]', "a]b", "[0]a", 'a["\\x"]', 'a."b"', "a b\n", "a[1", '[""]x'],
)
def test_what_is_no_field_is_refused_with_the_place(field):
    with pytest.raises(UsageError) as caught:
        parse(field)
    assert caught.value.code == "field.syntax"
    assert "character" in str(caught.value)


def test_joining_quotes_what_needs_quotes():
    assert join("request.arguments", "a.b", 0, "c") == 'request.arguments["a.b"][0].c'
    assert join("", "a", "b") == "a.b"


@given(paths, paths)
def test_a_relative_field_is_put_under_a_prefix(prefix, rest):
    assert under(format_path(prefix), format_path(rest)) == format_path(prefix + rest)


@given(paths, paths)
def test_a_part_lies_within_the_whole(whole, part):
    assert within(format_path(whole + part), format_path(whole))
    assert within(format_path(whole), format_path(whole + part)) == (part == ())


def test_a_name_that_starts_alike_is_not_within():
    assert not within("response.messages_seen", "response.messages")
    assert not within("response", "response.messages")


def test_fields_of_events_are_found_and_absence_is_told_from_null():
    event = Event(seq=0, id="a/b", kind="tool", name="t", request={"arguments": {"a.b": [1, None]}}, later={"x": 1})
    assert get(event, 'request.arguments["a.b"][0]') == 1
    assert get(event, 'request.arguments["a.b"][1]') is None
    assert get(event, "later.x") == 1
    assert get(event, "name") == "t"
    assert get(event, "") is event
    for field in (
        'request.arguments["a.b"][2]',
        "request.call_id",
        "response.result",
        "no_such",
        "name.x",
        "seq[0]",
        "model_fields",
        "request[0]",
    ):
        assert get(event, field) is ABSENT
    assert repr(ABSENT) == "ABSENT"


def test_leaves_are_listed_in_order_with_empty_containers():
    value = {"a": [1, {"b.c": None}], "d": {}, "e": [], 7: (2,)}
    assert list(leaves(value, "request")) == [
        ("request.a[0]", 1),
        ('request.a[1]["b.c"]', None),
        ("request.d", {}),
        ("request.e", []),
        ("request.7[0]", 2),
    ]
    assert list(leaves("x")) == [("", "x")]


@given(st.recursive(st.none() | st.integers(), lambda i: st.lists(i, max_size=3) | st.dictionaries(keys, i, max_size=3)))
def test_every_leaf_is_found_under_its_name(value):
    for field, leaf in leaves(value):
        assert get(value, field) is leaf
