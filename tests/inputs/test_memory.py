"""Memory does not grow with the file."""

import gc
import gzip
import io
import tracemalloc

import pytest
import zstandard

from otelreplay.inputs import documents, gather, read_batches
from otelreplay.inputs.forms import json_document, json_lines, protobuf
from otelreplay.inputs.wire import header
from tests.inputs import otlp
from tests.inputs.otlp import dump, minimal, plain_spans, read

SPAN = minimal(1, name="x" * 20_000)
PB = otlp.traces_data(read(dump(plain_spans(SPAN))).spans)


class Repeated(io.RawIOBase):
    """``head``, ``body`` so many times, ``tail``: a file of any size that is nowhere in memory."""

    def __init__(self, head, body, count, tail):
        self._parts = iter([head, *[body] * count, tail])
        self._left = b""

    def read(self, size=-1):
        while len(self._left) < size and (part := next(self._parts, None)) is not None:
            self._left += part
        data, self._left = self._left[:size], self._left[size:]
        return data


def one_element(count):
    """One TracesData with one ResourceSpans of ``count`` spans."""
    span = otlp.pb_span(read(dump(plain_spans(SPAN))).spans[0]).SerializeToString()
    span = header(2, len(span)) + span
    group = header(2, len(span) * count)
    return Repeated(header(1, len(group) + len(span) * count) + group, span, count, b"")


HUGE = 800  # of 20 KB each: 16 MB


@pytest.fixture(autouse=True)
def low_limits(monkeypatch):
    """What is taken in whole is smaller than usual, so that small files show what large ones do."""
    monkeypatch.setattr(json_lines, "_WHOLE", 1 << 18)
    monkeypatch.setattr(json_document, "_WHOLE", 1 << 18)
    monkeypatch.setattr(documents, "_HOLD", 1 << 18)
    monkeypatch.setattr(gather, "_FULL", 1 << 18)
    monkeypatch.setattr(protobuf, "_WHOLE", 1 << 18)
    monkeypatch.setattr(protobuf, "_SLICE", 1 << 17)


def peak_of(source, **options):
    """The number of spans, and the highest memory that reading them needed."""
    gc.collect()
    tracemalloc.start()
    try:
        count = sum(len(batch.spans) for batch in read_batches(source, name="", **options))
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


FILES = {
    "lines": lambda: Repeated(b"", dump(plain_spans(SPAN)) + b"\n", HUGE, b""),
    "one line": lambda: Repeated(
        b'{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[' + dump(SPAN),
        b"," + dump(SPAN),
        HUGE - 1,
        b"]}]}]}",
    ),
    "pretty": lambda: Repeated(
        b'{\n"resourceSpans": [\n {\n"resource": {}, "scopeSpans": [{"scope": {}, "spans": [\n' + dump(SPAN),
        b",\n" + dump(SPAN, indent=1),
        HUGE - 1,
        b"]}]}]}",
    ),
    "message": lambda: Repeated(b"", PB, HUGE, b""),
    "one element": lambda: one_element(HUGE),
    "fixed": lambda: Repeated(b"", otlp.fixed(PB), HUGE, b""),
}


@pytest.mark.parametrize("form", FILES)
def test_a_large_file_needs_memory_for_a_part_of_it_only(form):
    count, peak = peak_of(FILES[form]())
    assert count == HUGE
    assert peak < 8 << 20


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("filler", [b" ", b"\0", b"{", b"a", b'"', b"[1,"])
def test_a_compression_bomb_needs_no_memory(pack, filler):
    bomb = pack(b'{"resourceSpans":' + filler * ((40 << 20) // len(filler)))
    assert len(bomb) < 1 << 18
    count, peak = peak_of(io.BytesIO(bomb), max_record=1 << 20)
    assert count == 0
    assert peak < 10 << 20


REFUSED = {
    "spans": b'{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}',
    "records": b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[%s]}]}]}',
    "groups": b'{"resourceSpans":[{"scopeSpans":[%s]}]}',
    "elements": b'{"resourceSpans":[%s]}',
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("item", [b"{}", b"1"])
@pytest.mark.parametrize("pretty", [False, True])
def test_any_number_of_refusals_needs_little_memory_and_all_are_counted(what, item, pretty, monkeypatch):
    monkeypatch.setattr(gather, "LISTED", 500)
    monkeypatch.setattr(gather, "_MANY", 500)
    monkeypatch.setattr(documents, "_HOLD", 1 << 15)
    before, after = REFUSED[what].split(b"%s")
    source = io.BytesIO(before.replace(b"{", b"{\n ", pretty) + (item + b",") * 8000 + item + after)
    gc.collect()
    tracemalloc.start()
    try:
        refused = sum(batch.refused for batch in read_batches(source, name="x"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    whole = item == b"{}" and what in ("records", "groups", "elements")  # an empty object is one of these
    assert refused == (0 if whole else 8001)
    assert peak < 1_500_000 or (whole and what == "records")  # those are taken in


def test_of_very_many_refusals_in_one_batch_the_first_are_listed(monkeypatch):
    monkeypatch.setattr(gather, "LISTED", 10)
    spans = [otlp.trace_pb2.Span(trace_id=number.to_bytes(16, "big"), span_id=b"x") for number in range(1, 31)]
    group = otlp.trace_pb2.ScopeSpans(spans=spans)
    element = otlp.trace_pb2.ResourceSpans(scope_spans=[group])
    batch = read(otlp.trace_pb2.TracesData(resource_spans=[element]).SerializeToString())
    assert (10, 20, 30) == (len(batch.rejected), batch.unlisted, batch.refused)
    assert f"{1:032x}" == batch.rejected[0].trace_id
    assert {f"{number:032x}" for number in range(11, 21)} | {""} == batch.unlisted_traces
