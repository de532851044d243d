"""What a file is, is told by its content; what is not OTLP is called by its name."""

import gzip
import io
import json

import pytest
import zstandard

from otelreplay.errors import InputError, LimitError, TraceFormatError
from otelreplay.inputs import NOTES, Tally, read_batches
from tests.inputs import otlp
from tests.inputs.otlp import dump, minimal, plain_spans, read

TEXT = dump(plain_spans(minimal()))
MESSAGE = otlp.traces_data(read(TEXT).spans)


def error(data):
    with pytest.raises(TraceFormatError) as caught:
        read(data)
    assert caught.value.exit_code == 6
    assert caught.value.where == "trace"
    return caught.value


@pytest.mark.parametrize(
    "data",
    [b"", b" \n\t", b"\0" * 100, gzip.compress(b"", mtime=0), zstandard.compress(b"\n")],
    ids=["nothing", "blanks", "zeros", "gzip", "zstd"],
)
def test_an_empty_file_is_an_error(data):
    assert error(data).code == "input.empty"


def test_a_compressed_file_with_nothing_left_in_it_says_so():
    assert "cut short" in error(gzip.compress(dump(plain_spans(minimal())))[:10]).what


@pytest.mark.parametrize(
    ("data", "look"),
    [
        (b"hello, this is a log\nof something", "plain text"),
        (b"2026-01-01 INFO caf\xc3", "plain text"),
        (b"<html></html>", "HTML or XML"),
        (bytes(range(256)), "binary data"),
        (b"\x7fELF\x02\x01", "binary data"),
        (b"\n\nhello", "plain text"),
    ],
)
def test_a_file_that_is_no_trace_is_described_and_what_is_accepted_is_said(data, look):
    found = error(data)
    assert look in found.what
    assert "OTLP JSON Lines" in found.next_step
    assert found.code == "input.unrecognised"


@pytest.mark.parametrize(
    ("data", "label"),
    [
        (dump({"events": [{"eventId": "1", "eventType": "x"}]}), "a Temporal event history"),
        (dump([{"run_type": "llm", "dotted_order": "x", "inputs": {}}]), "a LangSmith export"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"PAR1rest", "a Parquet file"),
        (b"SQLite format 3\0", "an SQLite database"),
        (json.dumps(plain_spans(minimal())).encode("utf-16"), "UTF-16 text"),
    ],
)
def test_forms_that_are_known_but_not_read_are_called_by_their_name(data, label):
    found = error(data)
    assert label in found.what
    assert found.code == "input.form_not_read"


def test_a_trace_that_talks_of_other_forms_is_still_a_trace():
    attributes = [{"key": key, "value": {"stringValue": "x"}} for key in ("data", "traceID", "operationName", "observations")]
    assert len(read(dump(plain_spans(minimal(attributes=attributes)))).spans) == 1


@pytest.mark.parametrize("data", [b"{}", b"{}\n{}\n", b'{"resourceSpans":[]}', b'{"resourceMetrics":[]}'])
def test_an_empty_request_is_no_error(data):
    assert otlp.Batch() == read(data)


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.pb", "x.gz", "", "-"])
def test_the_name_of_the_file_does_not_decide(name):
    for data in (TEXT, dump(plain_spans(minimal()), indent=1), MESSAGE):
        batch = otlp.joined(read_batches(io.BytesIO(data), name=name))
        assert len(batch.spans) == 1


def test_protobuf_that_starts_like_json_is_protobuf():
    r"""A message whose first element has 123 bytes starts with ``\n{``; its resource of 34 bytes adds ``\n"``."""
    data = otlp.trace_pb2.TracesData()
    element = data.resource_spans.add()
    element.resource.attributes.extend(otlp.pb_attributes({"k": "v" * 25}))
    assert element.resource.ByteSize() == 34
    span = element.scope_spans.add().spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, start_time_unix_nano=1)
    span.name = "n" * (123 - element.ByteSize() - 2)
    message = data.SerializeToString()
    assert message.startswith(b'\n{\n"')
    assert len(read(message).spans) == 1


def test_a_short_frame_that_could_be_read_with_either_prefix_is_read_with_the_one_that_fits():
    """Its first four bytes are a plausible length of more than a megabyte as well."""
    message = otlp.logs_data([otlp.LogRecord(observed_time=1, resource=otlp.Resource({"": None}))])
    for frames in ([b"", message], [b"", message, message]):
        data = otlp.varints(*frames)
        assert data[4] == 0x0A
        batch = read(data)
        assert (len(frames) - 1, ()) == (len(batch.logs), batch.rejected)


def test_a_cut_frame_is_read_with_the_smaller_of_two_plausible_lengths():
    message = otlp.logs_data([otlp.LogRecord(observed_time=1, resource=otlp.Resource({"": None}))])
    tally = Tally()
    read(otlp.varints(b"", message)[:-1], tally=tally)
    assert "varint" in tally.form


def test_progress_is_told_in_bytes_of_the_file():
    data = gzip.compress(dump(plain_spans(minimal())))
    counts = []
    list(read_batches(io.BytesIO(data), name="", on_bytes=counts.append))
    assert len(data) == sum(counts)


def test_a_source_that_gives_little_at_a_time_is_read_as_well():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(3, size) if size >= 0 else 3)

    for data in (otlp.fixed(MESSAGE), gzip.compress(dump(plain_spans(minimal()), indent=1))):
        assert len(otlp.joined(read_batches(Slow(data), name="")).spans) == 1


def test_nothing_is_read_before_it_is_asked_for():
    source = io.BytesIO(dump(plain_spans(minimal())))
    read_batches(source, name="")
    assert source.tell() == 0


def test_zstd_with_a_window_beyond_reason_is_refused():
    parameters = zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = packer.compress(dump(plain_spans(minimal()))) + packer.flush()
    with pytest.raises(LimitError) as caught:
        read(data)
    assert caught.value.code == "input.limit"
    assert isinstance(caught.value, InputError)


def test_every_note_is_documented():
    tally = Tally()
    assert dict(tally.notes) == {}
    assert all(text and text[0].islower() for text in NOTES.values())
