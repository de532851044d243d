"""Stores: the shipped promises, and what the folder promises beyond them."""

import errno
import fcntl
import os
import stat
import subprocess
import sys

import pytest
import zstandard

from otelreplay.cassette.directory import IN_FLIGHT, DirectoryStore
from otelreplay.cassette.store import MemoryStore
from otelreplay.errors import UsageError
from otelreplay.testing.stores import STORE_CHECKS, sample_cassette, sample_recording, sample_revision

BACKENDS = {
    "memory": lambda path: MemoryStore(),
    "directory": DirectoryStore,
    "flat": lambda path: DirectoryStore(path, flat=True),
    "compressed": lambda path: DirectoryStore(path, compress=True),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_a_store_keeps_its_promises(backend, check, tmp_path):
    check(BACKENDS[backend](tmp_path))


def visible(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()
                  and not any(part.startswith(".") for part in p.relative_to(folder).parts))  # fmt: skip


def test_a_flat_folder_shows_cassettes_and_nothing_else(tmp_path):
    store, lines = DirectoryStore(tmp_path, flat=True), sample_cassette()
    store.put(lines)
    store.put(sample_revision(lines, sample_recording(events=3)))
    assert visible(tmp_path) == ["ab12.r2.cassette.jsonl"]


def test_files_are_for_the_owner_only(tmp_path):
    DirectoryStore(tmp_path).put(sample_cassette())
    assert stat.S_IMODE((tmp_path / "cassettes" / "ab12.cassette.jsonl").stat().st_mode) == 0o600


def test_a_store_keeps_the_bytes_it_was_given(tmp_path):
    DirectoryStore(tmp_path).put(sample_cassette())
    assert (tmp_path / "cassettes" / "ab12.cassette.jsonl").read_bytes() == b"".join(sample_cassette())


def test_a_compressed_store_holds_the_same_lines(tmp_path):
    DirectoryStore(tmp_path, compress=True).put(sample_cassette())
    data = (tmp_path / "cassettes" / "ab12.cassette.jsonl.zst").read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(data) == b"".join(sample_cassette())


def test_a_compressed_and_a_plain_store_in_one_folder_see_each_other(tmp_path):
    DirectoryStore(tmp_path).put(sample_cassette())
    assert DirectoryStore(tmp_path, compress=True).put(sample_cassette()).name == "ab12.cassette.jsonl"


KILLED = """
import os, sys
from pathlib import Path
from otelreplay.cassette.directory import DirectoryStore
from otelreplay.testing.stores import sample_cassette
lines = sample_cassette()
def cut():
    yield lines[0]
    yield lines[1]
    os.kill(os.getpid(), 9)
DirectoryStore(Path(sys.argv[1])).put(cut())
"""


def killed_writer(folder):
    """What a writer leaves that is killed in the middle of a cassette."""
    assert subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False).returncode == -9
    (left,) = (folder / "cassettes").iterdir()
    assert left.name.startswith(".")
    assert left.name.endswith(IN_FLIGHT)
    return left


def test_a_writer_that_is_killed_leaves_nothing_visible(tmp_path):
    """Only a hidden file with a name that says what it is; ``recover`` removes it at once."""
    left = killed_writer(tmp_path)
    store = DirectoryStore(tmp_path)
    assert (visible(tmp_path), store.list(superseded=True)) == ([], ())
    assert store.recover(older_than=3600, now=left.stat().st_mtime) == (left.name,)
    assert list((tmp_path / "cassettes").iterdir()) == []


def test_the_file_of_a_writer_that_lives_stays_however_old_it_is(tmp_path):
    """Also when it is written by this very process."""
    lines, store = sample_cassette(), DirectoryStore(tmp_path)

    def slow():
        yield from lines[:2]
        (temporary,) = (tmp_path / "cassettes").iterdir()
        os.utime(temporary, (0, 0))
        assert DirectoryStore(tmp_path).recover(older_than=0, now=1e12) == ()
        yield from lines[2:]

    store.put(slow())
    assert visible(tmp_path) == ["cassettes/ab12.cassette.jsonl"]
    assert list((tmp_path / "cassettes").glob(".*")) == []


def test_without_locks_a_file_that_nobody_touches_is_left_behind_in_time(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("otelreplay.cassette.locks.fcntl.flock", refuse)
    left, store = killed_writer(tmp_path), DirectoryStore(tmp_path)
    modified = left.stat().st_mtime
    assert store.recover(older_than=60, now=modified + 59) == ()
    assert store.recover(older_than=60, now=modified + 60) == (left.name,)
    store.put(sample_cassette())


def test_a_file_that_is_tidied_away_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    """Somebody else tidies up in the moment between making and locking."""
    lock, removed = fcntl.flock, []

    def first_tidy(descriptor, how):
        if not removed:
            for path in (tmp_path / "cassettes").glob(".*"):
                path.unlink()
                removed.append(path)
        lock(descriptor, how)

    monkeypatch.setattr("otelreplay.cassette.locks.fcntl.flock", first_tidy)
    DirectoryStore(tmp_path).put(sample_cassette())
    assert (len(removed), visible(tmp_path)) == (1, ["cassettes/ab12.cassette.jsonl"])


def test_what_only_looks_like_a_file_in_flight_is_left_alone(tmp_path):
    store = DirectoryStore(tmp_path)
    store.put(sample_cassette())
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "cassettes" / f".a{IN_FLIGHT}").symlink_to(tmp_path / "mine")
    (tmp_path / "cassettes" / f".b{IN_FLIGHT}").mkdir()
    assert store.recover(older_than=0, now=1e12) == ()
    assert len(list((tmp_path / "cassettes").glob(f".*{IN_FLIGHT}"))) == 2


def test_a_crash_before_the_old_revision_moved_is_finished_later(tmp_path):
    """Until then only the newest is listed."""
    store, lines = DirectoryStore(tmp_path), sample_cassette()
    store.put(lines)
    newest = store.put(sample_revision(lines, sample_recording(events=3)))
    (tmp_path / "superseded" / "ab12.cassette.jsonl").rename(tmp_path / "cassettes" / "ab12.cassette.jsonl")
    assert store.list() == (newest,)
    store.recover(older_than=0, now=0)
    assert visible(tmp_path) == ["cassettes/ab12.r2.cassette.jsonl", "superseded/ab12.cassette.jsonl"]


def test_foreign_files_in_the_folder_are_left_alone(tmp_path):
    store = DirectoryStore(tmp_path)
    entry = store.put(sample_cassette())
    for name in ("notes.txt", "AB.cassette.jsonl", "ab12.r02x.cassette.jsonl"):
        (tmp_path / "cassettes" / name).write_text("mine")
    assert store.list(superseded=True) == (entry,)


def test_a_folder_that_cannot_be_written_is_said_to_be_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"store\.unwritable"):
        DirectoryStore(tmp_path / "file").put(sample_cassette())


@pytest.mark.parametrize("taken", [False, True])
def test_without_hard_links_a_rename_takes_their_place(tmp_path, monkeypatch, taken):
    def refuse(*_args, **_kwargs):
        raise PermissionError(1, "Operation not permitted")

    store = DirectoryStore(tmp_path)
    if taken:
        store.put(sample_cassette())
    monkeypatch.setattr(os, "link", refuse)
    store.put(sample_cassette())
    assert visible(tmp_path) == ["cassettes/ab12.cassette.jsonl"]
    assert list((tmp_path / "cassettes").glob(".*")) == []


def test_a_header_that_says_another_revision_cannot_take_the_name_of_one(tmp_path):
    """Revision 2 without revision 1 is a first cassette of its own name."""
    lines = sample_cassette()
    store = DirectoryStore(tmp_path)
    entry = store.put(sample_revision(lines, sample_recording(events=3)))
    assert (entry.name, entry.revision) == ("ab12.r2.cassette.jsonl", 2)
