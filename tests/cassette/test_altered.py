"""Any altered byte is noticed, and the line that holds it is named."""

import io

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.cassette import Signer, TrustStore, read_cassette
from otelreplay.errors import IntegrityError, OtelReplayError
from tests.cassette.runs import TRUST, chat, event, marked, read, resealed, seal, verify

LINES = seal(marked())
DATA = b"".join(LINES)
OTHER = Signer(bytes(32))


def line_of(position):
    return DATA.count(b"\n", 0, position) + 1


def test_an_unaltered_cassette_is_verified():
    found = verify(DATA)
    assert (found.ok, found.problems, found.sealed, found.trusted, found.expired) == (True, (), True, True, False)
    assert (found.run_id, found.revision, found.events, found.lines) == ("cd34", 1, 4, len(LINES) - 1)
    assert found.lines == 1 + found.events + found.blobs
    assert (found.bytes, found.signer) == (len(DATA), TRUST.ids()[0])
    assert found.root == read(LINES).seal.root
    found.require()


POSITIONS = st.integers(0, len(DATA) - 1)


def noticed(altered, position):
    """The alteration is noticed by ``verify`` with the line, and by the reader."""
    expected = line_of(position)
    near = {expected, expected + 1} | ({expected - 1} if position and DATA[position - 1] == 10 else set())
    found = verify(altered)
    assert not found.ok
    assert found.problems[0].line in near, (found.problems, expected)
    start = altered.rfind(b"\n", 0, found.problems[0].offset) + 1
    assert start == found.problems[0].offset
    with pytest.raises(OtelReplayError):
        read([altered])


@settings(max_examples=200)
@given(POSITIONS, st.integers(1, 255))
def test_a_changed_byte_is_noticed_and_located(position, change):
    altered = bytearray(DATA)
    altered[position] ^= change
    noticed(bytes(altered), position)


@settings(max_examples=100)
@given(POSITIONS, st.binary(min_size=1, max_size=3))
def test_inserted_bytes_are_noticed_and_located(position, extra):
    altered = DATA[:position] + extra + DATA[position:]
    if altered != DATA:
        noticed(altered, position)


@settings(max_examples=100)
@given(POSITIONS)
def test_a_removed_byte_is_noticed_and_located(position):
    noticed(DATA[:position] + DATA[position + 1 :], position)


def test_every_byte_of_the_seal_counts():
    """Spare bits of base64, upper-case hex, blanks: nothing is read that would not have been written."""
    start = DATA.rindex(b'{"type":"seal"')
    for position in range(start, len(DATA)):
        for changed in {DATA[position] ^ 1, DATA[position] ^ 32, 32}:
            altered = DATA[:position] + bytes([changed]) + DATA[position + 1 :]
            if altered != DATA:
                found = verify(altered)
                assert not found.ok
                assert {problem.line for problem in found.problems} <= {len(LINES), len(LINES) + 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.replace(b'"type":"seal",', b'"type":"seal", '),
        lambda s: s.replace(b'"}\n', b'"} \n'),
        lambda s: s.replace(b"\n", b"\r\n"),
        lambda s: s[:-1],
        lambda s: s + b"\n",
        lambda s: s + s,
        lambda s: s.replace(b'{"type":"seal","lines"', b'{"lines"').replace(b'}\n', b',"type":"seal"}\n'),
        lambda s: s.replace(b'==",', b'=",'),
    ],
)  # fmt: skip
def test_a_seal_in_another_form_is_refused(change):
    altered = DATA.replace(LINES[-1], change(LINES[-1]))
    if altered != DATA:
        assert not verify(altered).ok
        with pytest.raises(IntegrityError):
            read([altered])


def test_the_place_is_line_byte_and_event():
    number = next(n for n, line in enumerate(LINES) if b'"kind":"tool"' in line)
    altered = [*LINES[:number], LINES[number].replace(b'"name":"t"', b'"name":"u"'), *LINES[number + 1 :]]
    found = verify(altered)
    offset = sum(map(len, LINES[:number]))
    (problem,) = found.problems
    assert (problem.code, problem.line, problem.offset, problem.event) == ("cassette.altered", number + 1, offset, 5)
    with pytest.raises(IntegrityError, match=rf"c\.jsonl, line {number + 1}, byte {offset}, event 5: .*\[cassette\.altered\]"):
        read(altered, where="c.jsonl")
    with pytest.raises(IntegrityError, match=rf"c\.jsonl, line {number + 1}"):
        found.require("c.jsonl")


def test_several_altered_lines_are_all_named():
    altered = [line.replace(b'"kind":"model"', b'"kind":"human"') for line in LINES]
    assert {p.event for p in verify(altered).problems} == {3, 4}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: lines[:4] + lines[5:], "1 line(s) missing"),
        (lambda lines: [*lines[:4], b'{"type":"x"}\n', *lines[4:]], "1 line(s) too many"),
        (lambda lines: [*lines[:-2], lines[-1]], "1 line(s) missing"),
    ],
)
def test_lines_that_were_removed_or_added_are_counted(change, said):
    problems = verify(change(LINES)).problems
    assert any(said in problem.message for problem in problems)


def test_lines_that_changed_places_are_noticed():
    lines = resealed([seal(chat(0))[0], *(event(n) for n in range(3)), b'{"type":"x"}\n', b'{"type":"y"}\n'])
    assert verify(lines).ok
    found = verify([*lines[:4], lines[5], lines[4], lines[6]])
    assert [(p.code, p.line) for p in found.problems] == [("cassette.altered", 5), ("cassette.altered", 6)]


def test_a_stranger_who_seals_anew_is_not_trusted():
    lines = seal(chat(2), signer=OTHER)
    found = verify(lines)
    assert (found.ok, found.trusted, found.signer) == (False, False, OTHER.key_id)
    assert [p.code for p in found.problems] == ["cassette.untrusted"]
    assert verify(lines, trust=TRUST.adding(OTHER.public)).ok
    with pytest.raises(IntegrityError, match=r"cassette\.untrusted"):
        read(lines, trust=TRUST)
    assert read(lines, trust=TrustStore([OTHER.public])).seal.signer == OTHER.key_id


def test_a_seal_with_the_name_of_a_trusted_key_needs_its_signature():
    """The public key is taken over, the signature is not."""
    forged = seal(chat(1), signer=OTHER)
    forged[-1] = forged[-1].replace(OTHER.public.hex().encode(), next(iter(TRUST._keys.values())).hex().encode())
    forged[-1] = forged[-1].replace(OTHER.key_id.encode(), TRUST.ids()[0].encode())
    found = verify(forged)
    assert (found.ok, found.signer, [p.code for p in found.problems]) == (False, None, ["cassette.signature"])


def test_a_seal_of_another_cassette_does_not_fit():
    found = verify([*seal(chat(2))[:-1], seal(chat(3))[-1]])
    assert not found.ok
    assert found.problems[0].code == "cassette.altered"


@pytest.mark.parametrize("changed", [{"events": 9}, {"blobs": 1}, {"checks": "00" * 6}])
def test_a_seal_that_contradicts_itself_is_refused(changed):
    lines = resealed([seal(chat(0))[0], event(0)], **changed)
    assert [(p.code, p.line) for p in verify(lines).problems] == [("cassette.seal", 3)]


def test_the_seal_of_another_root_is_refused():
    lines = resealed([seal(chat(0))[0], event(0)], root="0" * 64)
    assert [(p.code, p.line) for p in verify(lines).problems] == [("cassette.root", 3)]


def test_a_compressed_cassette_is_verified_by_its_lines():
    assert verify(zstandard.compress(DATA)).ok
    assert not verify(zstandard.compress(DATA.replace(b'"tool"', b'"loot"'))).ok


def test_damaged_compression_is_said_to_be_so():
    data = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(DATA))
    data[-1] ^= 0xFF
    found = verify(bytes(data))
    assert "cassette.compression" in {p.code for p in found.problems}
    with pytest.raises(OtelReplayError, match=r"cassette\.compression"):
        read_cassette(io.BytesIO(bytes(data)))
