"""C14, C10: whatever a crash, a full disk or a rotation leaves, the rest is loaded and the place is named."""

import gzip
import io
import random
import re
import time

import pytest
import zstandard

from otelreplay.errors import TraceFormatError
from otelreplay.inputs import read_batches
from otelreplay.inputs.forms import json_document, json_lines
from tests.inputs import otlp
from tests.inputs.otlp import dump, minimal, plain_spans, read


def line(*numbers, **extra):
    return dump(plain_spans(*(minimal(number, name=f"n{number}") for number in numbers), **extra)) + b"\n"


def found(batch):
    return [int(span.span_id, 16) for span in batch.spans]


def places(batch):
    """The byte offsets that the refusals name."""
    return [int(place) for each in batch.rejected for place in re.findall(r"byte (\d+)", each.where)]


def test_a_cut_last_line_costs_only_the_spans_that_are_cut():
    whole = line(1) + line(2)
    last = line(3, 4, 5)
    for size in range(1, len(last) - 1):
        data = whole + last[:size]
        batch = read(data)
        complete = sum(last[:size].find(f"n{number}".encode()) >= 0 for number in (3, 4, 5))
        assert found(batch)[:2] == [1, 2]
        assert complete - 1 <= len(found(batch)[2:]) <= complete
        assert found(batch) == list(range(1, len(batch.spans) + 1))
        assert batch.rejected, size
        assert "line 3" in batch.rejected[-1].where
        assert all(len(whole) <= place <= len(data) for place in places(batch))


def test_a_broken_line_in_the_middle_costs_only_itself():
    broken = line(2)[:60] + b"\n"
    batch = read(line(1) + broken + line(3))
    assert [1, 3] == found(batch)
    assert "line 2" in batch.rejected[0].where
    assert len(line(1)) + 60 == places(batch)[0]


def test_a_broken_first_line_costs_only_itself():
    batch = read(line(1)[40:] + line(2) + line(3))
    assert [2, 3] == found(batch)
    assert "line 1" in batch.rejected[0].where
    batch = read(line(1)[:40] + b"\n" + line(2) + line(3))
    assert [2, 3] == found(batch)


def test_a_line_that_was_appended_to_a_cut_one_is_read():
    """The process died in the middle of a line; the next one went on behind it."""
    batch = read(line(1) + line(2, 3)[:-30] + line(4) + line(5))
    assert [1, 2, 4, 5] == found(batch)
    assert len(batch.rejected) == 1


@pytest.mark.parametrize("zeros", [1, 4096])
def test_zero_bytes_of_a_crash_are_passed_over(zeros):
    batch = read(line(1) + b"\0" * zeros + line(2) + line(3) + b"\0" * zeros)
    assert [1, 2, 3] == found(batch)
    assert "zero bytes" in batch.rejected[0].reason
    assert len(line(1)) == places(batch)[0]


@pytest.mark.parametrize("zeros", [1, 5, 4096, 1 << 20, (3 << 20) + 2, (3 << 20) + 3])
@pytest.mark.parametrize("form", ["lines", "document", "fixed"])
def test_zero_bytes_in_front_of_a_trace_do_not_cost_it(form, zeros):
    """However many: also more than the head by which a form is told. A length of four zero bytes is an empty message."""
    fixed = b"".join(map(otlp.fixed, map(otlp.traces_data, [read(line(1)).spans, read(line(2)).spans])))
    data = {"lines": line(1) + line(2), "document": dump(plain_spans(minimal(1), minimal(2)), indent=1), "fixed": fixed}[form]
    if form == "fixed":
        zeros -= zeros % 4
    batch = read(b"\0" * zeros + data)
    assert [1, 2] == found(batch)
    assert (zeros > 0 and (form != "fixed" or zeros >= 1 << 20)) == len(batch.rejected)
    assert all("zero bytes" in each.reason for each in batch.rejected)


def test_a_file_of_nothing_but_zero_bytes_is_empty():
    for zeros in (1, 1 << 20, (1 << 20) + 1, 3 << 20):
        with pytest.raises(TraceFormatError, match="nothing but blanks and zero bytes") as caught:
            read(b"\0" * zeros)
        assert caught.value.code == "input.empty"


def test_blanks_in_front_of_a_document_are_no_damage():
    assert () == read(b" " * (2 << 20) + line(1)).rejected


@pytest.mark.parametrize("magic", [0x50, 0x5F])
def test_frames_of_zstd_that_hold_no_data_are_passed_over(magic):
    empty = bytes([magic]) + b"\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"table"
    one, two = zstandard.compress(line(1)), zstandard.compress(line(2))
    batch = read(empty + one + empty + empty + two + empty)
    assert ([1, 2], ()) == (found(batch), batch.rejected)


def test_a_line_that_is_broken_over_and_over_is_given_up():
    """Each beginning of a document in it is looked at, but not the rest of the line again for each of them."""
    began = time.monotonic()
    batch = read(line(1) + b'{"resourceSpans":' * 500_000 + b"\n" + line(2))
    assert [1, 2] == found(batch)
    assert time.monotonic() - began < 30
    assert "passed over" in batch.rejected[-1].reason


def test_two_documents_on_a_line_are_both_read():
    assert [1, 2] == found(read(line(1)[:-1] + line(2)))


def test_something_behind_a_document_on_its_line_is_refused():
    batch = read(line(1)[:-1] + b" trailing\n" + line(2))
    assert [1, 2] == found(batch)
    assert ["something that is no OTLP follows on the same line"] == [each.reason for each in batch.rejected]


def test_a_line_of_something_else_is_refused_beside_the_others():
    batch = read(line(1) + b'{"level":"info"}\n' + b"panic: secret\n" + line(2))
    assert [1, 2] == found(batch)
    assert ["trace: line 2", "trace: line 3"] == [each.where.split(" (")[0] for each in batch.rejected]
    assert "secret" not in f"{batch.rejected}"


@pytest.mark.parametrize("indent", [None, 1])
def test_a_cut_document_keeps_the_spans_before_the_cut(indent):
    data = dump(plain_spans(*(minimal(number, name="n") for number in range(1, 6))), indent=indent)
    ends = [match.end() for match in re.finditer(rb"\}(?=,?\s*(?:\{|\]))", data)]
    for size in range(20, len(data) - 1, 7):
        batch = read(data[:size])
        assert sum(end <= size for end in ends[:5]) == len(batch.spans)
        assert found(batch) == list(range(1, len(batch.spans) + 1))
        assert batch.rejected


def test_a_damaged_document_does_not_cost_the_next_one():
    damaged = dump(plain_spans(minimal(1), minimal(2)), indent=1).replace(b"[", b"(", 3)
    batch = read(dump(plain_spans(minimal(9)), indent=1) + b"\n" + damaged + b"\n" + dump(plain_spans(minimal(3)), indent=1))
    assert [9, 3] == found(batch)
    assert batch.rejected


@pytest.mark.parametrize("limit", [1 << 20, 700, 100])
def test_a_line_too_large_to_be_taken_whole_is_walked(monkeypatch, limit):
    monkeypatch.setattr(json_lines, "_WHOLE", limit)
    monkeypatch.setattr(json_document, "_WHOLE", limit)
    numbers = range(1, 20)
    assert [*numbers, 20] == found(read(line(*numbers) + line(20)))
    assert [*numbers, 20] == found(read(dump([plain_spans(*map(minimal, numbers)), plain_spans(minimal(20))], indent=1)))


FRAMES = {"fixed": otlp.fixed, "varint": otlp.varints}
MESSAGES = [otlp.traces_data(otlp.read(line(*numbers)).spans) for numbers in ((1, 2), (3,), (4, 5, 6))]


@pytest.mark.parametrize("kind", FRAMES)
def test_a_cut_frame_keeps_the_spans_before_the_cut(kind):
    data = FRAMES[kind](*MESSAGES)
    least = len(FRAMES[kind](*MESSAGES[:2]))
    for size in range(least + 1, len(data)):
        batch = read(data[:size])
        assert found(batch)[:3] == [1, 2, 3]
        assert found(batch) == list(range(1, len(batch.spans) + 1))
        assert len(batch.spans) < 6
        assert least <= places(batch)[-1] <= size


def test_a_cut_message_keeps_the_spans_before_the_cut():
    """Cut between two elements it is a whole message."""
    data = b"".join(MESSAGES)
    element = len(MESSAGES[1])
    assert len(data) == 6 * element
    for size in range(element + 1, len(data)):
        batch = read(data[:size])
        assert found(batch) == list(range(1, size // element + 1))
        assert bool(batch.rejected) == (size % element != 0)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_damaged_frame_does_not_cost_the_next_one(kind):
    damaged = MESSAGES[1][:2] + b"\xff" * 6 + MESSAGES[1][8:]
    batch = read(FRAMES[kind](MESSAGES[0], damaged, MESSAGES[2]))
    assert [1, 2, 4, 5, 6] == found(batch)
    assert len(FRAMES[kind](MESSAGES[0])) <= places(batch)[0] <= len(FRAMES[kind](MESSAGES[0], damaged))


def test_a_damaged_length_ends_the_reading_and_says_how_much_is_lost():
    head = otlp.fixed(MESSAGES[0])
    batch = read(head + b"\x00\x00\x00\x07garbage" + otlp.fixed(MESSAGES[1]))
    assert [1, 2] == found(batch)
    assert f"the last {11 + len(otlp.fixed(MESSAGES[1]))} bytes cannot be read" in batch.rejected[0].reason


@pytest.mark.parametrize("large", [False, True], ids=["whole", "sliced"])
def test_damage_inside_an_element_costs_neither_what_is_before_nor_the_next_element(monkeypatch, large):
    if large:
        monkeypatch.setattr("otelreplay.inputs.forms.protobuf._WHOLE", 30)
    group = otlp.trace_pb2.TracesData()
    group.resource_spans.add().scope_spans.add().spans.extend(otlp.pb_span(each) for each in otlp.read(line(1, 2, 3)).spans)
    damaged = bytearray(group.SerializeToString())
    damaged[damaged.rindex(b"\x0a\x10") - 1] ^= 0x40  # the length of the third span
    batch = read(bytes(damaged) + otlp.traces_data(otlp.read(line(4)).spans))
    assert [1, 2, 4] == found(batch)
    assert batch.rejected


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_cut_compressed_file_gives_what_is_before_the_cut(pack):
    noise = random.Random(1)
    data = pack(b"".join(line(number, odd=noise.randbytes(500).hex()) for number in range(1, 2000)))
    batch = read(data[: len(data) // 2])
    assert 500 < len(batch.spans) < 1900
    assert found(batch) == list(range(1, len(batch.spans) + 1))
    assert f"cut short at byte {len(data) // 2}" in batch.rejected[-1].reason


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor(write_checksum=True).compress], ids=["gzip", "zstd"])
def test_damaged_compressed_data_is_said_to_be_damaged(pack):
    noise = random.Random(1)
    data = bytearray(pack(b"".join(line(number, odd=noise.randbytes(500).hex()) for number in range(1, 500))))
    data[-6] ^= 1  # in the checksum
    batch = read(bytes(data))
    assert found(batch) == list(range(1, len(batch.spans) + 1))
    assert len(batch.spans) > 250
    assert "damaged" in batch.rejected[-1].reason


def test_of_damaged_gzip_data_nothing_before_the_damage_is_lost():
    data = bytearray(gzip.compress(b"".join(line(number) for number in range(1, 50))))
    data[-6] ^= 1
    assert list(range(1, 50)) == found(read(bytes(data)))


def test_a_child_whose_parent_is_not_there_is_kept():
    """C10: linking it is not the reader's work, losing it would be its fault."""
    span = minimal(2, parentSpanId="00f067aa0ba902b7")
    assert read(dump(plain_spans(span))).spans[0].parent_span_id == "00f067aa0ba902b7"


@pytest.mark.parametrize("text", [b'{"resourceSpans": [{', b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "0af'])
def test_a_file_with_nothing_whole_in_it_gives_only_refusals(text):
    batch = read(text)
    assert (0, True) == (len(batch.spans), bool(batch.rejected))


def test_a_file_of_lines_of_something_else_is_given_up_soon():
    """One error, and neither a million refusals nor a file read to its end."""

    class Endless(io.RawIOBase):
        given = 0

        def read(self, size=-1):
            self.given += size
            assert self.given < 8 << 20
            return b'{"level":"info"}\n' * (size // 17)

    with pytest.raises(TraceFormatError, match="no OTLP") as caught:
        list(read_batches(Endless(), name="trace"))
    assert caught.value.code == "input.unrecognised"
