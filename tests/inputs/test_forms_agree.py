"""The same spans and logs, in whatever form they are written, are the same values."""

import gzip
import json

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.inputs import Tally
from tests.inputs import otlp

BOTH = st.tuples(st.lists(otlp.spans(), max_size=3), st.lists(otlp.logs(), max_size=2)).filter(any)


def lines(spans, logs):
    return b"".join(otlp.dump(otlp.json_group(record)) + b"\n" for record in (*spans, *logs))


FORMS = {
    "json": lambda spans, logs: otlp.dump(otlp.document(spans, logs)),
    "ascii": lambda spans, logs: json.dumps(otlp.document(spans, logs), ensure_ascii=True).encode(),
    "pretty": lambda spans, logs: otlp.dump(otlp.document(spans, logs), indent=2),
    "bom": lambda spans, logs: b"\xef\xbb\xbf" + otlp.dump(otlp.document(spans, logs)),
    "array": lambda spans, logs: otlp.dump([otlp.document(spans), otlp.document(logs=logs)]),
    "pretty array": lambda spans, logs: otlp.dump([otlp.document(spans), otlp.document(logs=logs)], indent=1),
    "pretty documents": lambda spans, logs: b"\n".join(
        otlp.dump(otlp.json_group(record), indent=1) for record in (*spans, *logs)
    ),
    "lines": lines,
    "lines of another system": lambda spans, logs: lines(spans, logs).replace(b"\n", b"\r\n\r\n"),
    "lines with a lone surrogate": lambda spans, logs: b"".join(
        otlp.dump({**otlp.json_group(record), "odd": "\ud800"}) + b"\n" for record in (*spans, *logs)
    ),
    "resource last": lambda spans, logs: otlp.dump(backwards(otlp.document(spans, logs, odd="\ud800"))),
    "fixed": lambda spans, logs: otlp.fixed(
        *(otlp.traces_data([span]) for span in spans), b"", *(otlp.logs_data([log]) for log in logs)
    ),
    "varint": lambda spans, logs: otlp.varints(
        *(otlp.traces_data([span]) for span in spans), b"", *(otlp.logs_data([log]) for log in logs)
    ),
    "message": lambda spans, logs: otlp.traces_data(spans) + otlp.logs_data(logs),
    "gzip": lambda spans, logs: gzip.compress(lines(spans, logs)),
    "gzip members": lambda spans, logs: gzip.compress(lines(spans, [])) + b"\0" * 3 + gzip.compress(lines([], logs)),
    "zstd": lambda spans, logs: zstandard.compress(lines(spans, logs)),
    "zstd frames": lambda spans, logs: zstandard.compress(lines(spans, [])) + zstandard.compress(lines([], logs)),
}


def backwards(value):
    """Objects with their members in the opposite order; lists as they are."""
    if isinstance(value, dict):
        return {key: backwards(item) for key, item in reversed(value.items())}
    return [backwards(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=60)
@given(both=BOTH)
def test_every_form_gives_the_same_records(both):
    spans, logs = both
    wanted = otlp.same(tuple(spans)), otlp.same(tuple(logs))
    for form, write in FORMS.items():
        batch = otlp.read(write(spans, logs))
        assert batch.rejected == (), form
        assert (otlp.same(batch.spans), otlp.same(batch.logs)) == wanted, form


@pytest.mark.parametrize(
    ("form", "label"),
    [
        ("lines", "OTLP JSON Lines"),
        ("pretty", "OTLP JSON"),
        ("array", "OTLP JSON"),
        ("message", "OTLP protobuf"),
        ("fixed", "OTLP protobuf, each message behind its length in four bytes"),
        ("varint", "OTLP protobuf, each message behind its length as a varint"),
    ],
)
@settings(max_examples=30)
@given(spans=st.lists(otlp.spans(), min_size=1, max_size=3))
def test_a_form_is_told_by_its_content_alone(form, label, spans):
    tally = Tally()
    otlp.read(FORMS[form](spans, []), tally=tally)
    assert label == tally.form


def test_the_compression_is_told_by_its_content():
    span = otlp.dump(otlp.plain_spans(otlp.minimal()))
    for name, data in (("gzip", gzip.compress(span)), ("zstd", zstandard.compress(span)), ("", span)):
        tally = Tally()
        assert len(otlp.read(data, tally=tally).spans) == 1
        assert name == tally.compression


@settings(max_examples=60)
@given(spans=st.lists(otlp.spans(), min_size=2, max_size=4))
def test_equal_resources_and_scopes_are_one_object(spans):
    first = spans[0]
    alike = [msgspec.structs.replace(each, resource=first.resource, scope=first.scope) for each in spans]
    for form in ("lines", "message", "lines with a lone surrogate"):
        found = otlp.read(FORMS[form](alike, [])).spans
        assert len({id(span.resource) for span in found}) == 1
        assert len({id(span.scope) for span in found}) == 1


def test_resources_that_only_look_equal_stay_apart():
    """1 and True are equal in Python, and are not in a trace."""
    base = otlp.read(otlp.dump(otlp.plain_spans(otlp.minimal()))).spans[0]
    spans = [
        type(base)(base.trace_id, f"{number:016x}", resource=type(base.resource)({"a": value}))
        for number, value in enumerate((1, True, 1.0, -0.0, 0.0), 1)
    ]
    assert otlp.same(otlp.read(lines(spans, [])).spans) == otlp.same(tuple(spans))


def test_each_line_and_each_message_is_a_batch_of_its_own():
    """Equal log records in one request are several records; in two requests they may be one that was sent again."""
    log = otlp.LogRecord(observed_time=5, body="x")
    for data in (lines([], [log, log]), otlp.fixed(otlp.logs_data([log]), otlp.logs_data([log]))):
        batches = list(otlp.read_batches(otlp.io.BytesIO(data), name=""))
        assert [1, 1] == [len(batch.logs) for batch in batches]
