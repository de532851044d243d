"""What a store reads again of the lines that it is given, and where it looks for what it holds."""

from dataclasses import replace
from pathlib import Path

import pytest

from otelreplay.cassette import header_for, verify_cassette, write_cassette
from otelreplay.cassette.directory import DirectoryStore
from otelreplay.cassette.keys import TrustStore
from otelreplay.cassette.store import MemoryStore
from otelreplay.errors import CassetteFormatError, IntegrityError
from otelreplay.testing.stores import SIGNER, sample_cassette, sample_recording, sample_revision

STORES = {"memory": lambda path: MemoryStore(), "directory": DirectoryStore}


def own(recording=None, **members):
    recording = recording or sample_recording()
    header = header_for(recording).model_copy(update=members)
    return write_cassette(recording, header=header, signer=SIGNER)


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    return STORES[request.param](tmp_path)


@pytest.mark.parametrize("made", [False, True])
def test_what_the_writer_hands_over_is_stored_as_it_would_be_read(store, made):
    entry = store.put(own().made() if made else own())
    with store.open(entry.name) as stream:
        assert verify_cassette(stream, trust=TrustStore([SIGNER.public])).ok


@pytest.mark.parametrize("made", [False, True])
def test_lines_of_which_some_were_taken_are_refused(store, made):
    lines = own()
    next(lines)
    with pytest.raises(CassetteFormatError):
        store.put(lines.made() if made else lines)
    assert not store.list()


def test_lines_read_elsewhere_are_checked_whatever_stands_around_them(store):
    recording = sample_recording()
    lines = write_cassette(recording, header=header_for(recording), signer=SIGNER, further=[b'{"type":"event"}\n'])
    with pytest.raises(IntegrityError):
        store.put(lines)
    assert not store.list()


def test_a_header_that_no_reader_takes_is_refused(store):
    with pytest.raises(CassetteFormatError):
        store.put(own(revision=0))
    assert not store.list()


def test_a_folder_is_listed_once_however_many_cassettes_come(tmp_path, monkeypatch):
    listed = []
    iterdir = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda self: listed.append(self) or iterdir(self))
    store = DirectoryStore(tmp_path)
    for number in range(20):
        store.put(own(sample_recording(f"{number:04x}")))
    assert len(listed) <= 2


def test_revisions_that_another_put_there_meanwhile_are_seen(tmp_path):
    mine, theirs, lines = DirectoryStore(tmp_path), DirectoryStore(tmp_path), sample_cassette()
    mine.put(own(sample_recording("ff")))
    theirs.put(lines)
    second = sample_revision(lines, sample_recording(events=3))
    theirs.put(second)
    third = sample_revision(second, sample_recording(events=4))
    assert mine.put(third).revision == 3
    assert [entry.revision for entry in mine.list(superseded=True) if entry.run_id == "ab12"] == [1, 2, 3]
    assert mine.put(lines).superseded


def test_a_revision_that_follows_nothing_known_is_held_against_all_that_is_there(tmp_path):
    mine, lines = DirectoryStore(tmp_path), sample_cassette()
    mine.put(own(sample_recording("ff")))
    DirectoryStore(tmp_path).put(lines)
    with pytest.raises(IntegrityError) as refused:
        mine.put(own(replace(sample_recording(), span_count=9), revision=7))
    assert refused.value.code == "cassette.lineage"
