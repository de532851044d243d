"""Both inboxes keep the promises, and the one on disk keeps them across processes."""

import sqlite3
import stat

import pytest

from otelreplay.errors import InputError
from otelreplay.receiver import schema
from otelreplay.receiver.inbox import InboxError, Sealed, TraceKey, delivery
from otelreplay.receiver.memory import MemoryInbox
from otelreplay.receiver.sqlite import SqliteInbox
from otelreplay.testing.inboxes import INBOX_CHECKS, TRACE, Clock, sample_log, sample_span


@pytest.mark.parametrize("check", INBOX_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", ["memory", "sqlite", "sqlite, forgetful"])
def test_an_inbox_keeps_the_promises(check, kind, tmp_path, monkeypatch):
    """The forgetful one holds no key in memory longer than it must, and so reads them all back."""
    if kind == "sqlite, forgetful":
        monkeypatch.setattr("otelreplay.receiver.sqlite.KEYS_IN_MEMORY", 0)
    clock = Clock()
    inbox = MemoryInbox(clock=clock) if kind == "memory" else SqliteInbox(tmp_path / "spans.db", clock=clock)
    try:
        check(inbox, clock)
    finally:
        inbox.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "inbox" / "spans.db"


def opened(path, clock=None, **options):
    return SqliteInbox(path, clock=clock or Clock(), **options)


def test_all_is_there_after_the_file_is_opened_again(path):
    first = opened(path)
    first.put([delivery([sample_span(1), sample_span(2)], [sample_log()])])
    state = first.pending()[0]
    first.mark(Sealed(run="ab", traces={state.key: state.newest}))
    first.put([delivery([sample_span(3)])])
    before = first.recent(0, 10), first.read([state.key]), first.facts()
    first.close()
    again = opened(path)
    assert (again.recent(0, 10), again.read([state.key]), again.facts()) == before
    assert again.put([delivery([sample_span(1), sample_span(3), sample_span(4)], [sample_log()])])[0].spans == 1
    assert again.pending()[0].newest == 3
    again.close()


def test_files_are_for_their_owner_only(path):
    inbox = opened(path)
    inbox.put([delivery([sample_span(1)])])
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == {"spans.db": 0o600, "spans.db-wal": 0o600, "spans.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    inbox.close()


def test_another_process_that_opens_and_closes_the_file_takes_nothing_away(path):
    """Locks of this platform belong to a process: closing any descriptor of the file would drop them all."""
    import subprocess
    import sys

    inbox = opened(path)
    inbox.put([delivery([sample_span(1)])])
    look = "print(*d.execute('SELECT count(*) FROM traces').fetchone())"
    code = f"import sqlite3, sys\nd = sqlite3.connect(sys.argv[1])\n{look}\nd.close()"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert path.with_name("spans.db-wal").exists(), "the other process took itself for the last user"
    inbox.put([delivery([sample_span(2)])])
    inbox.close()
    again = opened(path)
    assert len(again.read([TraceKey("", TRACE)])[0]) == 2
    again.close()


def test_a_full_disk_keeps_nothing_and_says_so_and_the_next_try_succeeds(path):
    inbox = opened(path)
    inbox.put([delivery([sample_span(1)])])
    pages = inbox._writer.execute("PRAGMA page_count").fetchone()[0]
    inbox._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    large = sample_span(2, attributes={str(n): f"{n:064x}{hash(str(n)):x}" for n in range(20_000)})
    with pytest.raises(InboxError, match="full") as error:
        inbox.put([delivery([large, sample_span(3)])])
    assert (error.value.code, error.value.retryable) == ("inbox.full", True)
    inbox._writer.execute("PRAGMA max_page_count = 1000000")
    assert len(inbox.read([TraceKey("", TRACE)])[0]) == 1
    receipt = inbox.put([delivery([large, sample_span(3)])])[0]
    assert (receipt.spans, receipt.duplicate_spans) == (2, 0)
    inbox.close()


def test_a_damaged_file_is_said_to_be_one(path):
    path.parent.mkdir()
    path.write_bytes(b"this is no database, whatever its name says\n" * 100)
    with pytest.raises(InputError, match="damaged") as error:
        opened(path)
    assert error.value.code == "inbox.corrupt"


def test_a_file_with_damaged_pages_is_said_to_be_one(path):
    inbox = opened(path)
    for number in range(50):
        inbox.put([delivery([sample_span(number + 1, attributes={"text": f"{number:0500x}"})])])
    inbox.close()
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 6] = b"\xa5" * 4096 * 3
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged") as error:
        opened(path)
    assert error.value.code == "inbox.corrupt"


def test_a_damaged_frame_is_not_read_as_something_else(path):
    inbox = opened(path)
    inbox.put([delivery([sample_span(1)])])
    inbox._writer.execute("UPDATE frames SET data = CAST(substr(data, 1, 20) || x'00' || substr(data, 22) AS BLOB)")
    with pytest.raises(InputError, match="frame 1") as error:
        inbox.read([TraceKey("", TRACE)])
    assert error.value.code == "inbox.frame"
    inbox.close()


def test_an_inbox_of_another_version_is_left_alone(path):
    opened(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(InputError, match="another version") as error:
        opened(path)
    assert error.value.code == "inbox.version"


@pytest.mark.parametrize("sealed", [False, True])
def test_frames_of_another_form_are_refused_while_they_are_needed(path, sealed, monkeypatch):
    """Once all is sealed nothing of them is needed: they are given up, and what follows is late."""
    inbox = opened(path)
    inbox.put([delivery([sample_span(1)])])
    if sealed:
        inbox.mark(Sealed(run="ab", traces={TraceKey("", TRACE): 1}))
    inbox.close()
    monkeypatch.setattr(schema, "frame_form", lambda: "newer")
    if not sealed:
        with pytest.raises(InputError) as error:
            opened(path)
        assert error.value.code == "inbox.version"
        return
    inbox = opened(path)
    assert inbox.put([delivery([sample_span(2)])])[0].late_spans == 1
    inbox.close()
