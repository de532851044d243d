"""Who may send from an outbox: whoever holds its lock, and that is its process for as long as it lives."""

import pytest

from otelreplay.instrument.encoding import Frame
from otelreplay.instrument.folder import adopt, default_outbox
from otelreplay.instrument.locking import Lock, abandon_locks
from otelreplay.instrument.outbox import Outbox
from otelreplay.instrument.store import MemoryStore, Work


@pytest.fixture
def outbox(tmp_path):
    made = Outbox(tmp_path, largest=1 << 20)
    made.commit(Work(frames=[Frame(2, b"two spans")], stubs={b"k" * 24: b"a stub"}))
    return made


def test_a_living_process_s_outbox_is_left_alone(tmp_path, outbox):
    assert [] == list(adopt(tmp_path))
    outbox.close()


def test_one_that_was_left_is_taken_over_by_one_alone_stubs_and_all(tmp_path, outbox):
    outbox.pause()
    abandon_locks()  # as if its process had ended
    (mine,) = adopt(tmp_path)
    assert [] == list(adopt(tmp_path))
    assert [(2, b"two spans"), (1, b"a stub")] == [(row.spans, row.data) for row in mine.rows(0, 1 << 20)]
    mine.settle([1, 2], {})
    mine.finished()
    assert [] == list(tmp_path.iterdir())


def test_what_is_let_go_can_be_taken_again(tmp_path, outbox):
    outbox.close()
    for _ in range(2):
        (mine,) = adopt(tmp_path)
        assert 2 == len(mine.rows(0, 1 << 20))
        mine.let_go()


def test_a_lock_without_an_outbox_is_cleared_away(tmp_path, outbox):
    outbox.pause()
    abandon_locks()
    (file,) = tmp_path.glob("*.outbox")
    taken = Lock.take(file.with_suffix(".lock"))
    assert Lock.take(file.with_suffix(".lock")) is None
    taken.release(remove=True)
    assert Lock.take(file.with_suffix(".lock"), make=False) is None


def test_a_stub_is_gone_once_its_span_has_ended(outbox):
    outbox.commit(Work(frames=[Frame(1, b"ended")], ended=[b"k" * 24]))
    assert (3, 0) == outbox.counts()
    outbox.close()


@pytest.mark.parametrize("make", [lambda folder: Outbox(folder, largest=1 << 20), lambda _: MemoryStore(1 << 20)])
def test_rows_come_in_order_from_the_cursor_on_and_at_least_one(make, tmp_path):
    store = make(tmp_path)
    last = store.commit(Work(frames=[Frame(1, bytes([n]) * 100) for n in range(5)])).last
    assert [0, 1] == [row.data[0] for row in store.rows(0, 200)]
    assert [4] == [row.data[0] for row in store.rows(last - 1, 1)]
    store.commit(Work(settled=[last]))
    assert [] == list(store.rows(last - 1, 1))
    store.close()


def test_rows_are_numbered_on_after_a_close(tmp_path):
    """The sender's cursor stays true."""
    store = Outbox(tmp_path, largest=1 << 20)
    first = store.commit(Work(frames=[Frame(1, b"a")])).last
    store.commit(Work(settled=[first]))
    store.close()
    assert first < store.commit(Work(frames=[Frame(1, b"b")])).last
    store.close()


def test_where_outboxes_lie(tmp_path):
    assert default_outbox({"OTELREPLAY_OUTBOX": "x/y"}, tmp_path).as_posix() == "x/y"
    assert default_outbox({}, tmp_path).is_relative_to(tmp_path)
