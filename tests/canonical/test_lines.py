"""What is written is read back exactly; what the writer would not write is refused with place and reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.canonical import dumps, dumps_reporting, loads
from otelreplay.canonical.lines import LINE_DEPTH
from otelreplay.errors import CassetteFormatError, LimitError
from tests.canonical.payloads import CLASSES, instances, same, values


@given(values)
def test_what_is_written_is_read_back_exactly(value):
    data = dumps(value)
    assert same(loads(data), value)
    assert same(loads(data.decode()), value)
    assert dumps(loads(data)) == data


@given(instances)
def test_instances_are_read_back_if_their_classes_are_allowed(value):
    assert same(loads(dumps(value), types=CLASSES), value)


def test_key_order_and_number_types_are_kept():
    assert dumps({"b": 4.0, "a": [4, 1e22, "\x00é\u2028"]}) == '{"b":4.0,"a":[4,1e22,"\\u0000é\u2028"]}'.encode()


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b'{"a":1,"a":2}', "json.duplicate_key", "twice"),
        (b'{"a":1,"a":1}', "json.duplicate_key", "twice"),
        (b'[{"k":{"a":1,"\\u0061":2}}]', "json.duplicate_key", "twice"),
        (b"[1] [2]", "json.syntax", "character 4: more text after the end"),
        (b"[1,]", "json.syntax", "character"),
        (b'{"secret-payload', "json.syntax", "character 1"),
        (b"", "json.syntax", "character 0"),
        (b"[\xff]", "json.encoding", "byte 1"),
        ('["\ud83e"]', "json.encoding", "character 2"),
        (b'["\\ud83e"]', "json.surrogate", "lone surrogate"),
        (b'{"\\udc00":1}', "json.surrogate", "lone surrogate"),
        (b"[NaN]", "json.number", "NaN"),
        (b"-Infinity", "json.number", "NaN"),
        (b"[1e400]", "json.number", "range"),
        (b"9" * 4301, "json.number", "4300"),
        (b'"\x01"', "json.syntax", "character 1"),
        (b"\xef\xbb\xbf1", "json.syntax", "character 0"),
    ],
)
def test_what_is_not_strict_json_is_refused(data, code, place):
    with pytest.raises(CassetteFormatError) as caught:
        loads(data, where="a.cassette.jsonl:7")
    assert caught.value.code == code
    assert place in str(caught.value)
    assert str(caught.value).startswith("a.cassette.jsonl:7: ")
    assert "secret-payload" not in str(caught.value)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize("levels", [LINE_DEPTH + 1, 900, 5_000, 1_000_000])
def test_deep_nesting_is_refused_and_costs_no_stack(opening, levels):
    closing = "".join({"[": "]", "{": "}"}[sign] for sign in reversed(opening) if sign in "[{")
    with pytest.raises(LimitError) as caught:
        loads(opening * levels + "1" + closing * levels)
    assert caught.value.code == "json.depth"


def test_nesting_at_the_bound_is_read_and_brackets_in_texts_do_not_count():
    value = 1
    for _ in range(LINE_DEPTH):
        value = [value]
    text = str(value).replace(" ", "")
    assert loads(text) == value
    assert loads(dumps(["[" * 1000, {"{": [[]] * 1000}])) == ["[" * 1000, {"{": [[]] * 1000}]


def test_text_of_another_writer_is_read_if_it_is_strict():
    assert same(
        loads(b' {"a" : 1.50, "b":[ 123456789012345678901234567890 ]}\n'), {"a": 1.5, "b": [123456789012345678901234567890]}
    )
    assert loads(b'"\\u00e9\\ud83e\\ude00"\n') == "é\U0001fa00"
    assert loads(b'{"\\u0024otelreplay":"bytes","base64":"eA=="}') == b"x"


@given(st.binary(max_size=40) | st.text(max_size=40))
def test_garbage_is_refused_in_one_way_only(data):
    try:
        code = loads(data) and ""
    except CassetteFormatError as error:
        code = error.code
    assert not code or code.startswith("json.")


def test_what_is_lost_is_reported_beside_the_same_bytes():
    held = {"a": [1, object()], "b": (1, 2)}
    data, losses = dumps_reporting(held)
    assert (dumps(held), [("a", 1)]) == (data, [loss.path for loss in losses])
    assert (b'{"a":1}', ()) == dumps_reporting({"a": 1})
