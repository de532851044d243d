"""Revisions and forks name where they come from; tombstones say what no longer counts."""

import json
from dataclasses import replace

import pytest

from otelreplay.cassette import Header, Signer, TrustStore
from otelreplay.cassette.header import cassette_name, check_lineage, fork_of, next_revision
from otelreplay.cassette.tombstone import Tombstone, parse_tombstone
from otelreplay.errors import IntegrityError, UsageError
from tests.cassette.runs import SIGNER, TRUST

ROOT = "0" * 64
FIRST = Header(run_id="ab12", policy={"rules": []}, later=1)


def test_a_revision_keeps_the_header_and_counts_up():
    second = next_revision(FIRST, root=ROOT, reason="late spans", created="2026-01-02T00:00:00Z")
    assert (second.run_id, second.revision, second.policy, second.model_extra) == ("ab12", 2, {"rules": []}, {"later": 1})
    assert (second.parent.root, second.parent.kind, second.parent.reason) == (ROOT, "revision", "late spans")
    assert cassette_name(second.run_id, second.revision) == "ab12.r2.cassette.jsonl"
    assert cassette_name("ab12") == "ab12.cassette.jsonl"
    check_lineage(second, FIRST, root=ROOT)


def test_a_fork_has_a_run_id_of_its_own():
    fork = fork_of(replace_revision(FIRST, 3), root=ROOT, run_id="cd", reason="what if", created=None)
    assert (fork.run_id, fork.revision, fork.parent.kind, fork.parent.run_id) == ("cd", 1, "fork", "ab12")
    check_lineage(fork, FIRST, root=ROOT)


def replace_revision(header, revision):
    return header.model_copy(update={"revision": revision})


@pytest.mark.parametrize(("run_id", "code"), [("ab12", "cassette.fork_run_id"), ("../x", "cassette.run_id")])
def test_a_fork_needs_a_run_id_that_is_new_and_hex(run_id, code):
    with pytest.raises(UsageError) as caught:
        fork_of(FIRST, root=ROOT, run_id=run_id, reason="r", created=None)
    assert caught.value.code == code


REVISION = next_revision(FIRST, root=ROOT, reason="r", created=None)
FORK = fork_of(FIRST, root=ROOT, run_id="cd", reason="r", created=None)


@pytest.mark.parametrize(
    "child",
    [
        FIRST,
        next_revision(FIRST, root="1" * 64, reason="r", created=None),
        replace_revision(REVISION, 3),
        REVISION.model_copy(update={"run_id": "ff"}),
        FORK.model_copy(update={"run_id": "ab12"}),
        replace_revision(FORK, 2),
        FORK.model_copy(update={"parent": FORK.parent.model_copy(update={"run_id": "ee"})}),
    ],
)
def test_a_false_lineage_is_refused(child):
    with pytest.raises(IntegrityError, match=r"cassette\.lineage"):
        check_lineage(child, FIRST, root=ROOT)


STONE = Tombstone(root=ROOT, run_id="ab12", reason="wrong \ud83e", created="2026-01-01T00:00:00Z").signed(SIGNER)


def test_a_tombstone_comes_back_and_holds():
    back = parse_tombstone(STONE.line())
    assert (back, back.name, back.signer) == (STONE, f"{ROOT}.json", SIGNER.key_id)
    back.check(TRUST)


def test_a_tombstone_of_a_stranger_is_not_trusted():
    with pytest.raises(IntegrityError, match=r"tombstone\.untrusted"):
        STONE.check(TrustStore())


@pytest.mark.parametrize("change", [{"reason": "other"}, {"root": "1" * 64}, {"public": Signer(bytes(32)).public.hex()}])
def test_an_altered_tombstone_is_refused(change):
    with pytest.raises(IntegrityError, match=r"tombstone\.signature"):
        replace(STONE, **change).check(TRUST)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line[:-1],
        lambda line: line + b" ",
        lambda line: line.replace(b'"run_id"', b' "run_id"'),
        lambda line: line.replace(STONE.public.encode(), STONE.public.upper().encode()),
        lambda line: line.replace(b'=="', b'="'),
        lambda line: line.replace(b'"ab12"', b"12"),
        lambda line: line.replace(ROOT.encode(), b"../x"),
        lambda line: json.dumps(json.loads(line)).encode(),
        lambda line: b"[]\n",
    ],
)
def test_a_tombstone_in_another_form_is_refused(change):
    with pytest.raises(IntegrityError, match=r"t\.json: .*tombstone\.form"):
        parse_tombstone(change(STONE.line()), "t.json")
