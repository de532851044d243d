"""What was written comes back as it was."""

import contextlib
import gc
import io
import json
import math

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.canonical import Tagged
from otelreplay.cassette import Header, header_for, read_cassette, write_cassette
from otelreplay.cassette.pack import INLINE_ALWAYS, INLINE_ONCE
from otelreplay.errors import CassetteFormatError
from otelreplay.events import Event, Failure, Message, Recording, expand
from tests.cassette.runs import SIGNER, TRACE, chat, event, marked, read, resealed, seal, span, text

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
NAMES = st.sampled_from(["a", "messages", "tools", "$ref", "$$ref", "$list", "$like", "$otelreplay", "é", "type", "\ud83e"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT | st.binary(max_size=6)
LONG = st.sampled_from(["x" * (INLINE_ALWAYS + 1), "é" * INLINE_ALWAYS, "y" * (INLINE_ONCE + 1)])


def nested(inner):
    dicts = st.dictionaries(NAMES | TEXT, inner, max_size=3)
    return st.lists(inner, max_size=3) | dicts | st.tuples(inner) | dicts.map(Message)


VALUES = st.recursive(LEAVES | LONG, nested, max_leaves=8)
MEMBERS = st.dictionaries(NAMES | st.sampled_from(["q", "r"]), VALUES, max_size=4)
EVENTS = st.lists(
    st.builds(
        dict, kind=st.sampled_from(["model", "tool"]), name=st.sampled_from(["n", "m"]) | TEXT, request=MEMBERS,
        response=MEMBERS | st.none(), attributes=MEMBERS, versions=MEMBERS, later=VALUES, agent=st.none() | TEXT,
        effect=st.sampled_from([None, "read"]),
    ),
    max_size=5,
)  # fmt: skip


def recording(events):
    made = tuple(Event(seq=n, id=span(n), spans=[span(n)], **members) for n, members in enumerate(events))
    return Recording(run_id="ab12", trace_ids=(TRACE,), events=made)


def shape(value):
    """A value with the types of everything in it, and the order of keys: ``==`` tells neither 4 from 4.0 nor orders."""
    if isinstance(value, dict):
        marks = list(value.marks) if isinstance(value, Message) else None
        return [marks, [(shape(k), shape(v)) for k, v in value.items()]]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(shape, value)]
    return [type(value).__name__, repr(value)]


@settings(max_examples=100)
@given(EVENTS)
def test_any_payload_comes_back_with_its_types_and_its_order(events):
    """Look-alikes of references and of typed values included; a message anywhere but at a slot comes back as its dict."""
    written = recording(events)
    back = read(seal(written)).recording()
    assert back == written
    for one, other in zip(written.events, back.events, strict=True):
        for name in ("attributes", "versions"):
            assert _unmarked(shape(getattr(one, name))) == _unmarked(shape(getattr(other, name)))


def _unmarked(shaped):
    return json.loads(json.dumps(shaped).replace("[null, ", "[[], "))


@pytest.mark.parametrize("written", [marked(), chat(0), chat(6)], ids=["marked", "empty", "chat"])
def test_a_recording_comes_back_equal(written):
    assert read(seal(written)).recording() == written


def test_what_json_cannot_say_comes_back():
    odd = {"nan": float("nan"), "zero": -0.0, "n": 2**70, "b": b"\x00\xff", "t": (1, "\ud83e"), 3: {1: 2}}
    back = read(seal(recording([{"kind": "tool", "name": "n", "response": {"result": odd}}]))).events[0].response["result"]
    assert math.isnan(back.pop("nan"))
    assert math.copysign(1, back.pop("zero")) == -1
    assert back == {"n": 2**70, "b": b"\x00\xff", "t": (1, "\ud83e"), 3: {1: 2}}
    assert type(read(seal(chat(1))).events[1].request["arguments"]["n"]) is float


@pytest.mark.parametrize("said", ["\ud83e", "a\x00b", "é" * 60, '"\\', "\u2028", "🙂", ""])
def test_text_of_any_kind_comes_back_from_every_place(said):
    """As a member, as a name, in a message, and as the value of a plain field."""
    members = {"kind": "tool", "name": said, "agent": said, "request": {"v": said, "m": Message({"c": said})}}
    attributes = {said: 1, "v": [said]}
    written = recording([members | {"attributes": attributes}])
    assert read(seal(written)).recording() == written


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("lines", [seal(chat(1)), [b"{}\n"]], ids=["good", "bad"])
def test_reading_leaves_the_garbage_collector_as_it_was(enabled, lines):
    (gc.enable if enabled else gc.disable)()
    try:
        with contextlib.suppress(CassetteFormatError):
            read(lines)
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_equal_messages_are_one_object_in_every_event():
    events = read(seal(chat(5))).events
    assert events[2].request["messages"][0] is events[8].request["messages"][0]
    assert events[0].response["messages"][0] is events[2].request["messages"][1]
    assert events[0].request["tools"] is events[2].request["tools"]


def test_messages_keep_their_marks():
    before, after = marked().events[2], read(seal(marked())).events[2]
    assert expand(after) == expand(before)
    assert [type(m) for m in after.request["messages"]] == [Message] * 3
    assert after.request["messages"][1].marks == before.request["messages"][1].marks


def test_messages_that_differ_in_their_marks_only_stay_two():
    plain, hidden = text("user", "x"), text("user", "x", *marked().events[0].request["input"].marks)
    written = recording([{"kind": "model", "name": "n", "request": {"messages": [plain, hidden]}}])
    first, second = read(seal(written)).events[0].request["messages"]
    assert (len(first.marks), len(second.marks)) == (0, 1)


def test_a_defaulted_field_is_not_on_the_line():
    (line,) = (line for line in seal(chat(1)) if b'"kind":"tool"' in line)
    assert not {"spans", "missing", "parent", "request_keys", "error"} & set(json.loads(line))


@pytest.mark.parametrize("hashed", [None, "sha256:" + "0" * 64])
def test_a_request_hash_that_is_not_over_the_keys_is_kept(hashed):
    written = recording([{"kind": "tool", "name": "n", "request_keys": {"a": "b", "é": "\n"}, "request_hash": hashed}])
    assert read(seal(written)).events[0].request_hash == hashed


def test_a_request_hash_over_the_keys_is_left_out():
    assert not any(b"request_hash" in line for line in seal(chat(2)))


@pytest.mark.parametrize("keys", [{"b": "2", "a": "1"}, {"é": "x", "z": "y"}, {'a"\\/': "\x7f"}, {"a": "\n"}])
def test_the_hash_that_goes_without_saying_is_the_canonical_digest(keys):
    from otelreplay import canonical
    from otelreplay.cassette.forms import hash_of

    assert hash_of(keys) == canonical.digest_value(keys)


def test_an_event_that_names_no_span_stays_so():
    assert read(seal(marked())).events[0].spans == []


def test_the_same_recording_gives_the_same_bytes():
    assert seal(chat(4)) == seal(chat(4))


def test_unknown_members_and_lines_survive_a_round_trip():
    """As of a later version: in the header, in an event, and lines of another type."""
    lines = resealed([seal(chat(0), later=[1])[0], event(0, later={"x": 1}), b'{"type":"remark","text":"x"}\n'])
    cassette = read(lines)
    assert cassette.events[0].later == {"x": 1}
    again = list(write_cassette(cassette.recording(), header=cassette.header, signer=SIGNER, further=cassette.further))
    assert again[:3] == lines[:3]
    assert read(again).further == cassette.further


def test_a_header_comes_back_equal():
    header = Header(
        run_id="ab12", policy={"rules": [{"name": "email"}]}, policy_digest="sha256:0", detectors={"base": "1"}, key_epoch=2,
        placeholders=[{"text": "<email-1>"}], retention={"expires": "2027-01-01T00:00:00Z", "purpose": "p", "later": 1},
        parent={"root": "0" * 64, "kind": "fork", "reason": "r", "run_id": "cd"}, versions={"otelreplay": "0.1"},
        later={"b": b"x"},
    )  # fmt: skip
    assert read(list(write_cassette(chat(0), header=header, signer=SIGNER))).header == header


def test_the_summary_comes_back():
    lines = write_cassette(chat(0), header=header_for(chat(0)), signer=SIGNER, summary={"verdict": "partial"})
    assert read(lines).summary == {"verdict": "partial"}


def test_a_compressed_cassette_reads_the_same():
    data = b"".join(seal(marked()))
    pieces = zstandard.compress(data[:500]) + zstandard.compress(data[500:])
    assert read_cassette(io.BytesIO(pieces)).recording() == marked()


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_stream_may_give_its_bytes_in_any_pieces(size):
    class Slow(io.BytesIO):
        def read(self, wanted=-1):
            return super().read(min(size, wanted))

    assert read_cassette(Slow(b"".join(seal(marked())))).recording() == marked()


def test_a_header_of_another_run_is_not_written():
    with pytest.raises(ValueError, match="another run"):
        next(write_cassette(chat(0), header=Header(run_id="ff"), signer=SIGNER))


@pytest.mark.parametrize("name", ["type", "\ud83e"])
def test_an_event_member_that_has_no_place_on_the_line_is_not_written(name):
    """``type`` is the line's own; a name with a lone surrogate is no JSON."""
    bad = Event(seq=0, id="x", kind="tool", name="n").model_copy()
    bad.__pydantic_extra__[name] = 1
    with pytest.raises(ValueError, match="further members"):
        seal(Recording(run_id="ab12", trace_ids=(), events=(bad,)))


def test_events_out_of_order_are_not_written():
    one = Event(seq=1, id="x", kind="tool", name="n")
    with pytest.raises(ValueError, match="order of seq"):
        seal(Recording(run_id="ab12", trace_ids=(), events=(one, one)))


def test_a_failure_comes_back_with_typed_values_in_its_further_fields():
    more = {"class": "m:E", "args": [(1, b"x")], "fields": {"who": Tagged("enum", {"class": "m:C", "name": "A"}), "n": None}}
    written = recording([{"kind": "tool", "name": "n", "error": Failure.model_validate({"type": "E"} | more)}])
    (back,) = read(seal(written)).recording().events
    assert shape(dict(back.error)) == shape({"type": "E", "message": None} | more)
