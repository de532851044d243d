"""Files that are cut, newer, expired, malformed or hostile: each is recognised, and said to be so with the place."""

import io
import json
import resource
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from otelreplay.cassette import Header, Limits, read_cassette
from otelreplay.cassette.forms import list_id
from otelreplay.cassette.header import FORMAT, cassette_name, parse_header
from otelreplay.errors import CassetteFormatError, IntegrityError, LimitError, OtelReplayError, UsageError
from otelreplay.events import Message
from tests.cassette.runs import HEADER, blob, chat, event, marked, read, resealed, seal, verify

LINES = seal(marked())
DATA = b"".join(LINES)


def refused(lines, code, kind=OtelReplayError, **options):
    """The reader and ``verify`` agree on what is wrong first; the error is returned."""
    with pytest.raises(kind) as caught:
        read(lines, **options)
    assert caught.value.code == code
    return caught.value


# --- cut ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", range(1, len(LINES)))
def test_a_file_without_its_seal_is_unsealed(kept):
    error = refused(LINES[:kept], "cassette.unsealed", IntegrityError)
    assert error.where == f"line {kept}, byte {sum(map(len, LINES[: kept - 1]))}"
    partly = read(LINES[:kept], allow_unsealed=True)
    assert partly.events == marked().events[: len(partly.events)]
    assert (partly.seal, [p.code for p in partly.problems]) == (None, ["cassette.unsealed"])


@settings(max_examples=150)
@given(st.integers(len(LINES[0]), len(DATA) - 1))
@example(len(DATA) - 1)
@example(len(DATA) - len(LINES[-1]) - 1)
@example(len(LINES[0]) + 1)
def test_a_file_cut_anywhere_says_where_and_gives_the_rest(at):
    """The place is that of the last line."""
    data = DATA[:at]
    start = data.rfind(b"\n", 0, at - 1) + 1
    found = verify(data)
    assert not found.ok
    assert (found.problems[0].offset, found.problems[0].line) == (start, data.count(b"\n", 0, start) + 1)
    whole = data[: data.rfind(b"\n") + 1]
    assert len(read([data], allow_unsealed=True).events) >= whole.count(b'{"type":"event"')


def test_a_cut_header_is_no_cassette():
    refused([LINES[0][:-5]], "cassette.not_a_cassette", CassetteFormatError, allow_unsealed=True)


def test_what_is_altered_is_not_taken_for_cut():
    altered = [line.replace(b"<email-1>", b"<email-2>") for line in LINES[:-1]]
    refused(altered, "cassette.altered", IntegrityError, allow_unsealed=True)


# --- not a cassette, newer, expired -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"{}", b"{}\n", b"[]\n", b"null\n", b'{"type":"event"}\n', b"\xff\xfe\n", b"PK\x03\x04", b"[" * 5000,
     b'{"resourceSpans":[]}\n', b'{"type":"header"', b"\x28\xb5\x2f\xfd", b"\x28\xb5",
     b'\xef\xbb\xbf{"type":"header"}\n'],
)  # fmt: skip
def test_another_file_is_no_cassette(data):
    assert read_fails([data]) <= {"cassette.not_a_cassette", "cassette.compression"}
    assert not verify(data).ok


def read_fails(lines):
    with pytest.raises(CassetteFormatError) as caught:
        read(lines)
    return {caught.value.code}


def header(**members):
    return (
        json.dumps({"type": "header", "format": FORMAT, "semantics": {}, "run_id": "ab", "revision": 1} | members).encode()
        + b"\n"
    )


@pytest.mark.parametrize("newer", ["2", "2-draft", "10.3"])
def test_a_newer_format_says_which_and_what_to_do(newer):
    error = refused([header(format=newer), b"anything\n"], "cassette.newer_format", CassetteFormatError)
    assert f"format {newer} is not the one this version reads ({FORMAT}). Update otelreplay" in str(error)
    assert [(p.code, p.line) for p in verify([header(format=newer), b"anything\n"]).problems] == [("cassette.newer_format", 1)]


@pytest.mark.parametrize("odd", [None, 1, "", "secret text", f"{FORMAT}\n", {"$otelreplay": "bytes"}])
def test_a_format_that_is_none_is_not_quoted(odd):
    assert "secret" not in str(refused([header(format=odd)], "cassette.header", CassetteFormatError))


@pytest.mark.parametrize(
    "members",
    [
        {"run_id": "../../etc/passwd"}, {"run_id": "/ab"}, {"run_id": "AB"}, {"run_id": "ab\n"}, {"run_id": "a" * 65},
        {"run_id": "a.b"}, {"run_id": ""}, {"run_id": 7}, {"run_id": "ab\x00"}, {"run_id": "аb"}, {"run_id": None},
        {"revision": 0}, {"revision": "../1"}, {"revision": 10**7}, {"parent": {"root": "xy", "kind": "fork", "reason": "r"}},
        {"parent": {"root": "0" * 64, "kind": "copy", "reason": "r"}}, {"retention": {"expires": "soon"}},
        {"retention": {"expires": "2026-01-01T00:00:00"}}, {"placeholders": 3},
        {"retention": {"expires": "0001-01-01T00:00:00+23:00"}},
        {"parent": {"root": "0" * 64, "kind": "fork", "reason": "r", "run_id": "../x"}},
    ],
)  # fmt: skip
def test_a_header_with_odd_members_is_refused_and_not_quoted(members):
    (name,) = members
    error = refused([header(**members)], "cassette.header", CassetteFormatError)
    assert name in str(error)
    assert "passwd" not in str(error)


def test_an_unknown_member_of_the_wrong_form_is_not_quoted():
    with pytest.raises(CassetteFormatError, match="wrong form: run_id"):
        parse_header(b'{"type":"header","format":"%s","secret":1}\n' % FORMAT.encode())


@pytest.mark.parametrize("run_id", ["../x", "/x", "X", "", "a" * 65, "x.y"])
def test_a_run_id_that_is_no_hex_makes_no_file_name(run_id):
    with pytest.raises(UsageError, match=r"cassette\.run_id"):
        cassette_name(run_id)


def test_an_expired_cassette_is_refused_unless_it_is_asked_for():
    lines = seal(chat(1), retention={"expires": "2026-06-01T02:00:00+02:00"})
    at = datetime(2026, 6, 1, tzinfo=UTC)
    assert read(lines, now=at - timedelta(seconds=1)).events
    error = refused(lines, "cassette.expired", CassetteFormatError, now=at)
    assert "2026-06-01T02:00:00+02:00" in str(error)
    assert read(lines, now=at, allow_expired=True).events
    elsewhere = at.astimezone(timezone(timedelta(hours=5)))
    assert (verify(lines, now=elsewhere).expired, verify(lines, now=elsewhere).ok) == (True, True)
    assert not verify(lines, now=at - timedelta(seconds=1)).expired
    assert not verify(lines).expired


def test_a_cassette_without_an_end_never_expires():
    assert not Header(run_id="ab").expired(datetime.max.replace(tzinfo=UTC))


# --- references ---------------------------------------------------------------------------------------------------------

VALUE, VALUE_LINE = blob(b'"value":"x"}')
MESSAGE, MESSAGE_LINE = blob(b'"message":{"role":"user"},"marks":[["missing",{"field":"parts","cause":"redacted"}]]}')
OBJECT, OBJECT_LINE = blob(b'"object":{"a":1,"b":null}}')


def one(**members):
    """A sealed cassette with a value, a message and an object, and one event."""
    return resealed([HEADER, VALUE_LINE, MESSAGE_LINE, OBJECT_LINE, event(0, **members)])


def test_references_are_resolved():
    (found,) = read(one(
        agent={"$ref": VALUE}, request={"$like": [OBJECT, {"b": {"$ref": VALUE}, "c": {"$list": {"append": [MESSAGE]}}}]},
        response={"a": {"$list": {"append": [VALUE]}}, "b": {"$value": {"$ref": "z"}}, "c": {"$list": {}}},
        attributes={"$value": {"$ref": {"$ref": VALUE}}}, versions={"x": {"y": {"$ref": VALUE}}},
    )).events  # fmt: skip
    assert (found.agent, found.request) == ("x", {"a": 1, "b": "x", "c": [{"role": "user"}]})
    assert found.response == {"a": ["x"], "b": {"$ref": "z"}, "c": []}
    assert (found.attributes, found.versions) == ({"$ref": "x"}, {"x": {"y": {"$ref": VALUE}}})
    assert found.request["c"][0].marks[0].cause == "redacted"


NOWHERE = "0" * 32


@pytest.mark.parametrize(
    "members",
    [
        {"agent": {"$ref": NOWHERE}}, {"agent": {"$ref": OBJECT}}, {"agent": {"$ref": 1}}, {"agent": {"$ref": []}},
        {"request": {"$ref": NOWHERE}}, {"request": {"a": {"$ref": NOWHERE}}}, {"request": {"$like": [NOWHERE, {}]}},
        {"request": {"$like": [VALUE, {}]}}, {"request": {"$like": [OBJECT, {"a": {"$ref": NOWHERE}}]}},
        {"request": {"$value": {"a": {"$ref": NOWHERE}}}}, {"request": {"m": {"$list": {"append": [NOWHERE]}}}},
        {"request": {"m": {"$list": {"base": NOWHERE}}}}, {"request": {"m": {"$list": {"append": [OBJECT]}}}},
        {"request": {"m": {"$list": {"append": [1]}}}}, {"request": {"m": {"$list": {"append": [[]]}}}},
    ],
)  # fmt: skip
def test_a_reference_to_what_no_earlier_line_holds_is_refused(members):
    error = refused(one(**members), "cassette.missing_blob", IntegrityError)
    assert error.where.startswith("line 5")
    assert next((p.code, p.line) for p in verify(one(**members)).problems) == ("cassette.missing_blob", 5)


@pytest.mark.parametrize(
    "members",
    [
        {"agent": {"$ref": VALUE, "x": 1}}, {"agent": {"$list": []}}, {"agent": {"$list": {"base": 1}}},
        {"agent": {"$list": {"append": {}}}}, {"agent": {"$like": [OBJECT, {}]}}, {"agent": {"$value": 1, "x": 2}},
        {"request": {"$like": OBJECT}}, {"request": {"$like": [OBJECT]}}, {"request": {"$like": [OBJECT, []]}},
        {"request": {"$like": [OBJECT, {}], "x": 1}}, {"request": {"$value": 1}}, {"request": {"$value": {}, "x": 1}},
        {"request": {"a": {"$like": [OBJECT, {}]}}},
    ],
)  # fmt: skip
def test_a_reference_in_no_known_form_is_refused(members):
    assert refused(one(**members), "cassette.reference", IntegrityError).where.startswith("line 5")
    assert next((p.code, p.line) for p in verify(one(**members)).problems) == ("cassette.reference", 5)


def test_a_blob_that_comes_after_its_use_is_refused():
    """So there are no cycles: an object can refer to earlier blobs only, and never to itself."""
    lines = resealed([HEADER, event(0, agent={"$ref": VALUE}), VALUE_LINE])
    assert refused(lines, "cassette.missing_blob").where.startswith("line 2")
    _, line = blob(b'"object":{"a":{"$ref":"%s"}}}' % NOWHERE.encode())
    assert refused(resealed([HEADER, line]), "cassette.missing_blob").where.startswith("line 2")


def test_a_blob_that_is_there_twice_is_refused():
    for line in (VALUE_LINE, OBJECT_LINE):
        assert refused(resealed([HEADER, line, line]), "cassette.duplicate_blob").where.startswith("line 3")


@pytest.mark.parametrize("body", [b'"value":NaN}', b'"value":1', b'"object":[]}', b'"later":1}', b"", b'"message":{"a":1}'])
def test_a_blob_of_no_known_form_is_refused(body):
    name, line = blob(body)
    lines = resealed([HEADER, line, event(0, agent={"$ref": name})])
    assert read_refuses(lines) <= {"cassette.line", "cassette.blob_kind", "cassette.missing_blob", "cassette.seal"}


def read_refuses(lines):
    with pytest.raises(OtelReplayError) as caught:
        read(lines)
    return {caught.value.code}


@pytest.mark.parametrize(
    "body",
    [b'"message":3}', b'"message":{},"marks":3}', b'"message":{},"marks":[["x",{}]]}', b'"message":{},"marks":[[]]}',
     b'"message":{},"marks":[["missing",{}]]}', b'"message":[[1,2,3]]}', b'"message":[["a",1]]}',
     b'"message":{},"marks":[[{},{}]]}'],
)  # fmt: skip
def test_a_message_that_is_none_is_refused(body):
    name, line = blob(body)
    assert read_refuses(resealed([HEADER, line, event(0, agent={"$ref": name})])) == {"cassette.line"}


@pytest.mark.parametrize("name", [VALUE.upper().encode(), b"0" * 32, b"short"])
def test_a_blob_under_another_name_is_refused(name):
    line = b'{"type":"blob","id":"%s","value":"x"}\n' % name
    assert read_refuses(resealed([HEADER, line])) == {"cassette.altered"}


# --- lines --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [b"\n", b"nonsense\n", b"[]\n", b"{}\n", b'{"type":1}\n', b'{"type":"event"}\n', b'{ "type":"event","seq":0}\n', HEADER,
     b'{"type":"blob"}\n', b'{"type":"seal"}\n', b'{"type":"event","seq":"0"}\n', b'{"type":"event","seq":true}\n', b'"\xff"\n',
     b'{"type":"event","seq":0\n'],
)  # fmt: skip
def test_a_line_that_is_none_of_a_cassette_is_refused(line):
    assert refused(resealed([HEADER, line]), "cassette.line", IntegrityError).where.startswith("line 2")


def test_events_out_of_order_are_refused():
    for second in (0, 1):
        lines = resealed([HEADER, event(1), event(second)])
        assert refused(lines, "cassette.event_order").where.endswith(f"event {second}")


@pytest.mark.parametrize(
    "members", [{"kind": "later"}, {"parent": "x"}, {"after": {}}, {"missing": [{"field": 1}]}, {"request": 3}]
)
def test_an_event_of_another_form_is_refused_by_its_member(members):
    error = refused(resealed([HEADER, event(0, **members)]), "cassette.event", CassetteFormatError)
    assert (error.where, next(iter(members)) in error.what) == ("line 2", True)


def test_an_event_without_an_id_is_refused():
    refused(resealed([HEADER, b'{"type":"event","seq":0}\n']), "cassette.event", CassetteFormatError)


@pytest.mark.parametrize("completeness", [{"missing": 3}, {"missing": [{}]}, {"notes": [{}]}, {"spans": "x"}, {"notes": [1]},
                                          {"logs": {"$otelreplay": "float", "value": "inf"}}])  # fmt: skip
def test_a_completeness_of_another_form_is_refused(completeness):
    refused(resealed([HEADER], completeness=completeness), "cassette.completeness", CassetteFormatError)


@pytest.mark.parametrize(
    "changed", [{"lines": -1}, {"lines": True}, {"events": "0"}, {"root": "x"}, {"root": "0" * 63 + "G"}, {"checks": ""},
                {"completeness": []}, {"checks": 3}, {"root": None}],
)  # fmt: skip
def test_a_seal_with_members_of_another_form_is_refused(changed):
    assert refused(resealed([HEADER], **changed), "cassette.seal", IntegrityError).where.startswith("line 2")


def test_members_of_a_later_version_in_the_seal_are_signed_and_kept():
    lines = resealed([HEADER], later={"x": 1})
    assert read(lines).seal.further == {"later": {"x": 1}}
    assert verify(lines).ok
    assert not verify([lines[0], lines[1].replace(b'{"x":1}', b'{"x":2}')]).ok


# --- beyond a bound -----------------------------------------------------------------------------------------------------


def doubling(steps):
    """Lists that are each as long as all before: few bytes, many entries."""
    lines, base = [HEADER, VALUE_LINE], {}
    for seq in range(steps):
        lines.append(event(seq, request={"messages": {"$list": base | {"append": [VALUE] * 1000}}}))
        base = {"base": list_id(base.get("base", ""), [VALUE] * 1000)}
    return resealed(lines)


def test_lists_that_expand_beyond_the_bound_are_refused():
    lines = doubling(20)
    assert len(read(lines, limits=Limits(expanded=210_000)).events) == 20
    error = refused(lines, "cassette.too_large", LimitError, limits=Limits(expanded=209_999))
    assert "Limits(expanded=...)" in str(error)


def test_a_list_event_that_repeats_costs_nothing_more():
    events = [event(n, request={"messages": {"$list": {"append": [VALUE] * 100}}}) for n in range(50)]
    found = read(resealed([HEADER, VALUE_LINE, *events]), limits=Limits(expanded=100)).events
    assert all(e.request["messages"] is found[0].request["messages"] for e in found)


@pytest.mark.parametrize(
    ("limits", "said"),
    [(Limits(bytes=len(DATA) - 1), "bytes"), (Limits(line=300), "line"), (Limits(lines=3), "lines")],
)
def test_a_cassette_beyond_a_limit_says_which(limits, said):
    error = refused(LINES, "cassette.too_large", LimitError, limits=limits)
    assert f"Limits({said}=...)" in str(error)
    found = verify(LINES, limits=limits)
    assert (found.ok, found.problems[-1].code) == (False, "cassette.too_large")


def test_limits_are_what_is_still_taken():
    limits = Limits(bytes=len(DATA), line=max(map(len, LINES)), lines=len(LINES))
    assert read(LINES, limits=limits).events


def test_a_line_without_an_end_is_refused_before_it_is_held():
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size=-1):
            if self.given == 0:
                self.given = len(HEADER)
                return HEADER
            self.given += size
            return b"x" * size

    stream = Endless()
    with pytest.raises(LimitError, match=r"cassette\.too_large"):
        read_cassette(stream, limits=Limits(line=1 << 22))
    assert stream.given < 1 << 23


def test_a_zstd_bomb_is_refused_in_little_memory():
    """512 MiB of blanks in a small file, in one line and in many."""
    for piece in (b" " * (1 << 20), b"\n" * (1 << 20)):
        compressor = zstandard.ZstdCompressor().compressobj()
        bomb = b"".join([compressor.compress(HEADER), *(compressor.compress(piece) for _ in range(512)), compressor.flush()])
        assert len(bomb) < 1 << 20
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(LimitError, match=r"cassette\.too_large"):
            read_cassette(io.BytesIO(bomb), limits=Limits(bytes=1 << 25, line=1 << 24, lines=100_000))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_a_zstd_window_beyond_the_bound_is_refused():
    packer = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(window_log=30)).compressobj()
    data = packer.compress(DATA) + packer.flush()
    with pytest.raises(CassetteFormatError, match=r"cassette\.compression"):
        read_cassette(io.BytesIO(data))


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_deep_nesting_is_refused_quickly(opening):
    deep = opening * 100_000
    began = time.process_time()
    for line in (b'{"type":"event","seq":0,"x":' + deep + b"\n", b'{"type":"later","x":' + deep + b"\n"):
        assert read_refuses(resealed([HEADER, line])) == {"cassette.too_deep"}
    name, line = blob(b'"value":' + deep + b"}")
    assert read_refuses(resealed([HEADER, line, event(0, agent={"$ref": name})])) == {"cassette.too_deep"}
    assert time.process_time() - began < 5


def test_many_brackets_in_text_are_not_deep():
    name, line = blob(b'"value":"' + b'[{\\"' * 5000 + b'"}')
    assert read(resealed([HEADER, line, event(0, agent={"$ref": name})])).events[0].agent == '[{"' * 5000


def test_a_deep_value_that_the_writer_keeps_is_read():
    value = inner = []
    for _ in range(200):
        inner.append([])
        inner = inner[0]
    run = chat(1)
    written = run.events[1].model_copy(update={"response": {"result": value}})
    assert read(seal(replace(run, events=(run.events[0], written)))).events[1] == written


@pytest.mark.parametrize("wrap", [lambda v: (v,), lambda v: {1: v}, lambda v: [v], lambda v: {"a": v, "$otelreplay": 1}])
def test_whatever_depth_the_writer_is_given_the_reader_reads_what_it_wrote(wrap):
    """Too deep a value is cut by the encoding, with a mark; it never makes a cassette that is refused."""
    value = None
    for _ in range(400):
        value = wrap(value)
    run = chat(1)
    members = {"request": {"deep": value}, "response": {"messages": [Message({"x": value})]}, "attributes": {"v": value}}
    written = replace(run, events=(run.events[1].model_copy(update=members),), resources=({"deep": value},))
    assert len(read(seal(written)).events) == 1


def test_few_problems_are_told_of_many():
    lines = [HEADER, *(b"nonsense\n" for _ in range(1000))]
    assert len(verify(lines, limits=Limits(problems=7)).problems) == 7


def test_an_error_names_the_file_it_is_about():
    with pytest.raises(CassetteFormatError, match=r"^x\.jsonl, line 1: "):
        read([b"{}\n"], where="x.jsonl")
    with pytest.raises(LimitError, match=r"^x\.jsonl: "):
        read(LINES, where="x.jsonl", limits=Limits(lines=1))


def test_no_error_quotes_payload():
    secret = b"hunter2"
    lines = [
        HEADER,
        b'{"type":"event","seq":0,"kind":"hunter2","hunter2":{"$ref":"hunter2"}}\n',
        b"hunter2\n",
        b'{"type":"hunter2"\n',
    ]
    for number in range(1, 4):
        with pytest.raises(OtelReplayError) as caught:
            read(resealed([HEADER, lines[number]]))
        assert secret.decode() not in str(caught.value)
