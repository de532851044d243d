"""Whatever the bytes, only errors of the tree come out, and soon."""

import base64
import json
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.cassette.header import FORMAT, parse_header
from otelreplay.cassette.seal import parse_seal
from otelreplay.cassette.tombstone import parse_tombstone
from otelreplay.errors import InputError, IntegrityError
from tests.cassette.runs import HEADER, blob, chat, marked, read, resealed, seal, verify

LINES = seal(marked())
DATA = b"".join(LINES)
WORDS = ["type", "event", "blob", "seal", "header", "seq", "$ref", "$list", "$like", "$value", "$otelreplay", "base",
         "append", "request", "messages", "int", "value", "bytes", "base64", "field", "0" * 32, "ab12", FORMAT, "\ud800",
         "kind", "tool"]  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=3) | st.sampled_from(WORDS)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=12,
)
CONTENT = {"cassette.line", "cassette.event", "cassette.completeness", "cassette.too_deep"}
"""A trusted key may have sealed what is of no form: that it is unaltered is true all the same."""
TYPES = st.sampled_from(["header", "event", "blob", "seal", "later"])


def survives(data):
    """Reading, verifying and partial reading end in a value or an error of the tree, within a second."""
    began = time.process_time()
    found = verify(data)
    code = outcome(data)
    assert found.ok or code or [problem.code for problem in found.problems] == ["cassette.untrusted"]
    assert not (found.ok and code) or code in CONTENT
    outcome(data, allow_unsealed=True)
    assert time.process_time() - began < 2


def outcome(data, **options):
    """The code of the error, or nothing."""
    try:
        read([data], **options)
    except (InputError, IntegrityError) as error:
        return error.code
    return ""


@given(st.binary(max_size=200))
def test_random_bytes(data):
    survives(data)


@given(st.binary(max_size=60))
def test_random_bytes_after_a_zstd_magic(data):
    survives(b"\x28\xb5\x2f\xfd" + data)


def line(value):
    return json.dumps(value).encode("utf-8", "surrogatepass") + b"\n"


@given(st.lists(st.tuples(TYPES, st.dictionaries(st.sampled_from(WORDS), JSON, max_size=6)), max_size=5), st.booleans())
def test_random_lines(parts, sealed):
    """In the form of JSON objects with a type, under a genuine seal or none."""
    lines = [HEADER, *(line({"type": kind, **members}) for kind, members in parts)]
    survives(b"".join(resealed(lines) if sealed else lines))


@settings(max_examples=200)
@given(st.lists(JSON, max_size=5), st.dictionaries(st.sampled_from(WORDS), JSON, max_size=6), st.booleans())
def test_random_blobs_and_events_under_a_genuine_seal(values, members, message):
    """Addresses are right and the seal holds: only the contents are anything."""
    blobs, names = [], []
    for n, value in enumerate(values):
        body = json.dumps(value).encode()
        name, made = blob((b'"message":' if message and n % 2 else b'"value":') + body + b"}")
        if name not in names:
            names.append(name)
            blobs.append(made)
    head = {"type": "event", "seq": 0, "id": "x", "kind": "tool", "name": "n"}
    slots = {"agent": {"$ref": names[0]}, "request": {"m": {"$list": {"append": names}}}} if names else {}
    made = json.dumps({**head, **slots, **{k: v for k, v in members.items() if k not in head}}).encode().replace(b": ", b":")
    survives(b"".join(resealed([HEADER, *blobs, made.replace(b', "', b',"') + b"\n"])))


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, len(DATA)), st.integers(0, 40), st.binary(max_size=6)), min_size=1, max_size=4))
def test_mutated_cassettes(changes):
    data = DATA
    for position, removed, put in changes:
        data = data[:position] + put + data[position + removed :]
    survives(data)


@given(st.permutations(LINES))
def test_shuffled_lines(lines):
    survives(b"".join(lines))


@given(
    st.dictionaries(
        st.sampled_from(["signature", "checks", "lines", "root", "type", "public", "completeness"]), JSON, max_size=4
    )
)
def test_random_seals(members):
    seal_members = json.loads(LINES[-1]) | members
    survives(b"".join([*LINES[:-1], json.dumps(seal_members, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"]))


@given(st.binary(max_size=80) | JSON.map(line) | st.text().map(lambda t: base64.b64encode(t.encode("utf-8", "replace"))))
def test_single_parsers(data):
    for parser in (lambda: parse_header(data), lambda: parse_seal(data, ""), lambda: parse_tombstone(data)):
        try:
            parser()
        except (InputError, IntegrityError):
            pass
        else:
            raise AssertionError("random bytes are a whole line")


def test_a_long_run_is_read_and_written_in_time_that_grows_with_it():
    """Twice the turns take about twice the time, not four times; generous, for a busy machine."""

    def seconds(turns):
        run = chat(turns, size=2000)
        began = time.process_time()
        lines = seal(run)
        written = time.process_time()
        read(lines)
        return written - began, time.process_time() - written

    seconds(50)
    small = [min(times) for times in zip(*(seconds(150) for _ in range(3)), strict=True)]
    large = [min(times) for times in zip(*(seconds(600) for _ in range(2)), strict=True)]
    for once, fourfold in zip(small, large, strict=True):
        assert fourfold < 10 * once
