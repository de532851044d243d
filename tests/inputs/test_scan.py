"""The scanner that splits JSON without decoding it."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.errors import LimitError
from otelreplay.inputs import Tally, documents
from otelreplay.inputs import source as source_module
from otelreplay.inputs.jsonscan import ScanError, Scanner, TooLargeError, loads
from otelreplay.inputs.source import Source
from tests.inputs.otlp import dump, minimal, plain_spans, read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def scanner(data, *, piece=1 << 18, limit=1 << 20):
    class Pieces(io.BytesIO):
        def read(self, size=-1):
            return super().read(piece)

    return Scanner(Source(Pieces(data), name=""), limit)


def walk(scan):
    """A value rebuilt by walking it."""
    match chr(scan.peek()):
        case "{":
            return {key: walk(scan) for key in scan.members()}
        case "[":
            return [walk(scan) for _ in scan.elements()]
        case _:
            return loads(scan.raw().decode("utf-8", "surrogatepass"))


@settings(max_examples=150)
@given(value=VALUES, indent=st.sampled_from([None, 1]), ascii_only=st.booleans(), piece=st.sampled_from([1, 2, 7, 1 << 18]))
def test_walking_a_document_gives_what_decoding_it_gives(value, indent, ascii_only, piece):
    data = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert json.loads(data) == walk(scanner(data, piece=piece))


@settings(max_examples=150)
@given(values=st.lists(VALUES, max_size=4), piece=st.sampled_from([1, 3, 1 << 18]))
def test_raw_gives_each_value_and_nothing_of_its_neighbours(values, piece):
    data = json.dumps(values).encode()
    scan = scanner(data, piece=piece)
    assert [json.dumps(value).encode() for value in values] == [scan.raw() for _ in scan.elements()]
    assert scan.peek() == -1


@settings(max_examples=150)
@given(value=VALUES, size=st.integers(1, 400))
def test_a_cut_container_is_an_error_at_its_end(value, size):
    data = json.dumps([value, value]).encode()[:-1][:size]
    with pytest.raises(ScanError) as caught:
        scanner(data, piece=5).raw()
    assert len(data) == caught.value.at


@pytest.mark.parametrize(
    ("data", "at"),
    [(b'{"a" 1}', 5), (b"{a:1}", 1), (b'{"a":1 "b":2}', 7), (b'["a"x]', 4), (b'{"a":"x\ny"}', 7), (b"[,]", 1)],
)
def test_an_error_says_where(data, at):
    with pytest.raises(ScanError) as caught:
        walk(scanner(data))
    assert at == caught.value.at


def test_a_value_beyond_the_limit_is_passed_over_without_being_kept():
    data = json.dumps([[1], "x" * 5000, {"a": "y" * 5000, "b": ["]}"] * 2000}, [2]]).encode()
    scan = scanner(data, piece=64, limit=100)
    found = []
    for _ in scan.elements():
        try:
            found.append(scan.raw())
        except TooLargeError:
            found.append(None)
        assert len(scan.source.buffer) < source_module._COMPACT_AT + 1000
    assert [b"[1]", None, None, b"[2]"] == found


def test_a_record_beyond_the_limit_is_refused_and_its_neighbours_are_kept():
    spans = [minimal(1), minimal(2, name="x" * 2000), minimal(3)]
    batch = read(dump(plain_spans(*spans, odd="\ud800")), max_record=1000)
    assert ["0000000000000001", "0000000000000003"] == [span.span_id for span in batch.spans]
    assert "larger than 1000 bytes" in batch.rejected[0].reason


def test_records_that_wait_for_their_resource_are_bounded():
    group = {"scopeSpans": [{"spans": [minimal(number) for number in range(1, 50)], "scope": {}}], "resource": {}}
    with pytest.raises(LimitError) as caught:
        read(dump({"resourceSpans": [group], "odd": "\ud800"}), max_record=1000)
    assert caught.value.code == "input.limit"


def test_a_large_element_is_handed_on_in_parts(monkeypatch):
    """A schema URL that comes after that is not applied, and counted."""
    group = {
        "resource": {},
        "scopeSpans": [{"scope": {"name": "s"}, "spans": [minimal(n) for n in range(1, 50)], "schemaUrl": "u"}],
    }
    text = dump({"resourceSpans": [group], "odd": "\ud800"})
    whole = read(text)
    monkeypatch.setattr(documents, "_HOLD", 500)
    tally = Tally()
    parts = read(text, tally=tally)
    assert [span.span_id for span in whole.spans] == [span.span_id for span in parts.spans]
    assert {"s"} == {span.scope.name for span in parts.spans}
    assert ("u", "", 1) == (
        whole.spans[0].scope.schema_url,
        parts.spans[0].scope.schema_url,
        tally.notes["schema_url_after_records"],
    )
