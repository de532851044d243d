"""What every cassette store must do, as checks that any backend can run.

    @pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
    def test_my_store_keeps_the_promises(check, tmp_path):
        check(MyStore(tmp_path))

Each check takes an empty store and raises AssertionError with what it found.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from otelreplay.cassette.header import Header, header_for, next_revision
from otelreplay.cassette.keys import Signer
from otelreplay.cassette.read import read_cassette
from otelreplay.cassette.store import CassetteStore, Entry
from otelreplay.cassette.tombstone import Tombstone
from otelreplay.cassette.write import write_cassette
from otelreplay.errors import IntegrityError, OtelReplayError
from otelreplay.events import Event, Message, Recording

SIGNER = Signer(bytes(range(32)))
"""A key for tests: anybody knows it."""


def sample_recording(run_id: str = "ab12", *, events: int = 2, spans: int = 0) -> Recording:
    """A small run: model calls that repeat their history."""
    said = [Message({"role": "user", "parts": [{"type": "text", "content": f"question {n}"}]}) for n in range(events)]
    made = tuple(
        Event(seq=n, id=f"{run_id}/{n:016x}", kind="model", name="chat", spans=[f"{run_id}/{n:016x}"],
              request={"messages": said[: n + 1]})
        for n in range(events)
    )  # fmt: skip
    return Recording(run_id=run_id, trace_ids=(run_id,), events=made, span_count=spans)


def sample_cassette(recording: Recording | None = None, header: Header | None = None, **members: object) -> list[bytes]:
    """Lines of a sealed cassette of a recording; ``members`` are changes to its header."""
    recording = recording or sample_recording()
    header = (header or header_for(recording)).model_copy(update=members)
    return list(write_cassette(recording, header=header, signer=SIGNER))


def sample_revision(lines: Iterable[bytes], recording: Recording) -> list[bytes]:
    """The next revision of a cassette, with another recording of the run."""
    before = read_cassette(_Stream(lines))
    assert before.seal is not None
    header = next_revision(before.header, root=before.seal.root, reason="late spans", created=None)
    return sample_cassette(recording, header)


class _Stream:
    """Lines as something to read from."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._rest = b"".join(lines)

    def read(self, size: int, /) -> bytes:
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def what_is_put_comes_back_byte_for_byte(store: CassetteStore) -> None:
    """``open`` gives a cassette that reads and holds what was put."""
    entry = store.put(sample_cassette())
    with store.open(entry.name) as file:
        assert read_cassette(file).recording() == sample_recording()
    assert (entry.run_id, entry.revision, entry.superseded) == ("ab12", 1, False)


def an_equal_cassette_is_left_as_it_is(store: CassetteStore) -> None:
    """Also if it was made at another time from another file."""
    first = store.put(sample_cassette(created="2026-01-01T00:00:00Z", source="a.json"))
    held = _bytes(store, first)
    assert store.put(sample_cassette(created="2026-02-02T00:00:00Z", source="b.json")) == first
    assert _bytes(store, first) == held
    assert store.list() == (first,)


def another_cassette_under_the_same_name_is_refused(store: CassetteStore) -> None:
    """A sealed cassette never changes."""
    held = store.put(sample_cassette())
    before = _bytes(store, held)
    for other in (sample_recording(events=3), replace(sample_recording(), span_count=7)):
        _refused(store, sample_cassette(other), "store.conflict")
    _refused(store, sample_cassette(policy={"rules": []}), "store.conflict")
    assert _bytes(store, held) == before


def a_revision_supersedes_the_one_before(store: CassetteStore) -> None:
    """The old one stays, unchanged, among the superseded."""
    lines = sample_cassette()
    old = store.put(lines)
    before = _bytes(store, old)
    new = store.put(sample_revision(lines, sample_recording(events=3)))
    assert store.list() == (new,)
    assert store.list(superseded=True) == (replace(old, superseded=True), new)
    assert _bytes(store, old) == before


def a_superseded_cassette_put_again_is_left_as_it_is(store: CassetteStore) -> None:
    """A redelivery of the past changes nothing."""
    lines = sample_cassette()
    old = store.put(lines)
    new = store.put(sample_revision(lines, sample_recording(events=3)))
    assert store.put(lines) == replace(old, superseded=True)
    assert store.list() == (new,)


def a_revision_of_something_else_is_refused(store: CassetteStore) -> None:
    """It names the root of the current one, and counts up by one."""
    lines = sample_cassette()
    store.put(lines)
    stranger = sample_revision(sample_cassette(source="elsewhere"), sample_recording(events=3))
    _refused(store, stranger, "cassette.lineage")
    second = sample_revision(lines, sample_recording(events=3))
    _refused(store, sample_revision(second, sample_recording(events=4)), "cassette.lineage")
    store.put(second)
    _refused(store, sample_revision(lines, sample_recording(events=5)), "store.conflict")


def what_is_not_sealed_is_not_stored(store: CassetteStore) -> None:
    """Nor what was altered after it was sealed, nor what broke off while it was written."""
    lines = sample_cassette()
    altered = [lines[0], lines[1].replace(b"question", b"QUESTION"), *lines[2:]]
    for bad, code in ((lines[:-1], "cassette.unsealed"), (altered, "cassette.altered"), ([b"{}\n"], "cassette.not_a_cassette")):
        _refused(store, bad, code)
    try:
        store.put(_broken_off(lines))
    except ConnectionError:
        pass
    else:
        raise AssertionError("the error of the source is not passed on")
    assert store.list(superseded=True) == ()


def names_that_are_not_there_are_not_found(store: CassetteStore) -> None:
    """Names are no paths."""
    store.put(sample_cassette())
    for name in ("cd34.cassette.jsonl", "../ab12.cassette.jsonl", "/etc/passwd", "", ".", "AB12.cassette.jsonl"):
        _refuses(partial(store.open, name), "store.not_found")


def cassettes_are_listed_in_the_order_of_run_ids(store: CassetteStore) -> None:
    """With size and revision."""
    for run_id in ("cc", "aa", "bb"):
        store.put(sample_cassette(sample_recording(run_id)))
    assert [entry.run_id for entry in store.list()] == ["aa", "bb", "cc"]
    assert all(entry.size == len(_bytes(store, entry)) for entry in store.list())


def deleting_a_run_removes_every_revision_and_no_other_run(store: CassetteStore) -> None:
    """And says what it removed; of a run that is not there, nothing."""
    lines = sample_cassette()
    store.put(lines)
    store.put(sample_revision(lines, sample_recording(events=3)))
    kept = store.put(sample_cassette(sample_recording("ab123")))
    assert len(store.delete("ab12")) == 2
    assert store.delete("ab12") == ()
    assert store.list(superseded=True) == (kept,)


def tombstones_stay_and_the_first_one_counts(store: CassetteStore) -> None:
    """They outlive the cassette that they are about."""
    first = Tombstone(root="0" * 64, run_id="ab12", reason="recorded in error", created="2026-01-01T00:00:00Z").signed(SIGNER)
    other = Tombstone(root="1" * 64, run_id="ab12", reason="likewise", created="2026-01-01T00:00:00Z").signed(SIGNER)
    for tombstone in (other, first, replace(first, reason="another").signed(SIGNER)):
        store.put_tombstone(tombstone)
    store.delete("ab12")
    assert store.tombstones() == (first, other)


def of_several_writers_of_one_name_one_wins(store: CassetteStore) -> None:
    """The others are refused, and the winner's cassette is whole."""
    kept: list[Entry] = []
    refused: list[str] = []

    def write(number: int) -> None:
        try:
            kept.append(store.put(sample_cassette(replace(sample_recording(), span_count=number))))
        except IntegrityError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(kept), refused) == (1, ["store.conflict"] * 7)
    with store.open(kept[0].name) as file:
        assert read_cassette(file).events == sample_recording().events


def a_reader_finds_every_revision_while_newer_ones_arrive(store: CassetteStore) -> None:
    """A cassette that is moved to the superseded is at every moment in one place or the other."""
    revisions = [sample_cassette()]
    for number in range(3, 9):
        revisions.append(sample_revision(revisions[-1], sample_recording(events=number)))
    names = [store.put(revisions[0]).name]
    faults: list[str] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            try:
                for name in list(names):
                    store.open(name).close()
                if len(store.list()) != 1:
                    faults.append(f"{len(store.list())} current cassettes of one run")
            except OtelReplayError as error:
                faults.append(error.code)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for lines in revisions[1:]:
        names.append(store.put(lines).name)
    done.set()
    for thread in threads:
        thread.join()
    assert faults == []


def _bytes(store: CassetteStore, entry: Entry) -> bytes:
    with store.open(entry.name) as file:
        return file.read()


def _broken_off(lines: list[bytes]) -> Iterator[bytes]:
    yield lines[0]
    raise ConnectionError


def _refused(store: CassetteStore, lines: list[bytes], code: str) -> None:
    _refuses(lambda: store.put(lines), code)


def _refuses(call: Callable[[], object], code: str) -> None:
    found = "nothing"
    try:
        call()
    except OtelReplayError as error:
        found = error.code
    assert found == code, f"expected {code}, found {found}"


def a_run_that_is_set_aside_is_no_longer_current(store: CassetteStore) -> None:
    """It lies with the superseded ones, unchanged; should the run come back, its next revision follows it."""
    first = sample_cassette()
    entry = store.put(first)
    held = _bytes(store, entry)
    store.put(sample_cassette(sample_recording("cd34")))
    assert store.set_aside("ab12") == (entry.name,)
    assert store.set_aside("ab12") == store.set_aside("ef56") == ()
    assert _bytes(store, entry) == held
    assert store.put(sample_revision(first, sample_recording(events=3))).revision == 2


STORE_CHECKS: tuple[Callable[[CassetteStore], None], ...] = (
    what_is_put_comes_back_byte_for_byte,
    an_equal_cassette_is_left_as_it_is,
    another_cassette_under_the_same_name_is_refused,
    a_revision_supersedes_the_one_before,
    a_superseded_cassette_put_again_is_left_as_it_is,
    a_revision_of_something_else_is_refused,
    what_is_not_sealed_is_not_stored,
    names_that_are_not_there_are_not_found,
    cassettes_are_listed_in_the_order_of_run_ids,
    deleting_a_run_removes_every_revision_and_no_other_run,
    a_run_that_is_set_aside_is_no_longer_current,
    tombstones_stay_and_the_first_one_counts,
    of_several_writers_of_one_name_one_wins,
    a_reader_finds_every_revision_while_newer_ones_arrive,
)
"""Every check, in the order in which they are best read."""
