"""Hostile and damaged bytes: nothing but InputError ever comes out, and healthy spans before the damage come through."""

import gzip
import io

import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.errors import InputError
from otelreplay.inputs import read_batches
from tests.inputs import otlp
from tests.inputs.otlp import dump, minimal, plain_spans

GOOD = [minimal(number, name="span", attributes=[{"key": "k", "value": {"stringValue": "v"}}]) for number in range(1, 7)]
MESSAGES = [otlp.traces_data(otlp.read(dump(plain_spans(*GOOD[at : at + 2]))).spans) for at in (0, 2, 4)]
SEEDS = {
    "lines": b"".join(dump(plain_spans(*GOOD[at : at + 2])) + b"\n" for at in (0, 2, 4)),
    "document": dump(plain_spans(*GOOD)),
    "pretty": dump(plain_spans(*GOOD), indent=1),
    "message": b"".join(MESSAGES),
    "fixed": otlp.fixed(*MESSAGES),
    "varint": otlp.varints(*MESSAGES),
}
STARTS = [b"\x0a", b"{", b"[", b'{"resourceSpans":[', b"\x00\x00\x00", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"]
PACKED = [pack(SEEDS["lines"]) for pack in (gzip.compress, zstandard.compress)]


def spans_of(data):
    """Span ids that come out before the end or an InputError; anything else fails the test."""
    found = []
    try:
        for batch in read_batches(io.BytesIO(data), name="", max_record=1 << 16):
            found += [int(span.span_id, 16) for span in batch.spans]
    except InputError:
        pass
    return found


@settings(max_examples=200)
@given(data=st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_but_input_errors(data):
    spans_of(data)


@settings(max_examples=200)
@given(
    data=st.binary(max_size=60),
    start=st.sampled_from(STARTS),
)
def test_bytes_that_start_like_a_trace_raise_nothing_but_input_errors(data, start):
    spans_of(start + data)


@settings(max_examples=200)
@given(
    seed=st.sampled_from(sorted(SEEDS)),
    at=st.floats(0.5, 1, exclude_max=True),
    piece=st.binary(max_size=8),
    drop=st.integers(0, 40),
)
def test_damage_never_costs_the_healthy_spans_before_it(seed, at, piece, drop):
    data = SEEDS[seed]
    place = int(len(data) * at)
    found = spans_of(data[:place] + piece + data[place + drop :])
    # By half of the file two whole spans are there, in whatever form.
    assert found[:2] == [1, 2]
    if seed in ("lines", "fixed", "varint", "message"):
        assert len([number for number in found if number <= 6]) >= 2


@settings(max_examples=150)
@given(seed=st.sampled_from(sorted(SEEDS)), at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_flipped_bit_raises_nothing_but_input_errors(seed, at, bit):
    data = bytearray(SEEDS[seed])
    data[int(len(data) * at)] ^= 1 << bit
    spans_of(bytes(data))


@settings(max_examples=100)
@given(data=st.sampled_from(PACKED), at=st.floats(0, 1, exclude_max=True), piece=st.binary(max_size=4), drop=st.integers(0, 20))
def test_damaged_compression_raises_nothing_but_input_errors(data, at, piece, drop):
    place = int(len(data) * at)
    spans_of(data[:place] + piece + data[place + drop :])
