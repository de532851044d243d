"""One outbox: a SQLite file that one process writes, and that whoever holds its lock may send.

    <folder>/<pid>-<random>.outbox     frames, stubs, losses     mode 0600
    <folder>/<pid>-<random>.lock       held by the process that writes, or that has taken the file over

WAL with ``synchronous=FULL``: a commit that returned survives the process and the machine. Only redacted spans come here.

When the disk fails (full, gone, read-only), spans wait in memory from then on, and that is said: recording goes on, without the
promise. Rows in memory have higher numbers than rows on disk, so that the sender's cursor runs through both.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from otelreplay.instrument.locking import Lock
from otelreplay.instrument.notice import warn
from otelreplay.instrument.store import FULL, Committed, MemoryStore, Row, Work, add_losses

SUFFIX, LOCK = ".outbox", ".lock"
_IN_MEMORY = 64 << 20
_LOOK_AGAIN = 5.0
"""Seconds between looks at how much the other outboxes of the folder take up."""
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS frames (id INTEGER PRIMARY KEY AUTOINCREMENT, spans INTEGER NOT NULL, data BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS stubs (key BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS losses (reason TEXT PRIMARY KEY, spans INTEGER NOT NULL) WITHOUT ROWID;
"""


class Outbox:
    """A store on disk. Nothing is made before the first commit."""

    def __init__(self, folder: Path, *, largest: int, taken: Lock | None = None) -> None:
        self._folder, self._largest = folder, largest
        self._strict = taken is not None
        self._lock = taken
        self._path = taken.path.with_suffix(SUFFIX) if taken else None
        self._writing: sqlite3.Connection | None = None
        self._reading: sqlite3.Connection | None = None
        self._memory: MemoryStore | None = None
        self._last = self._others = 0
        self._looked = 0.0
        self._guard = threading.Lock()

    # --- as a store -------------------------------------------------------------------------------------------------

    def commit(self, work: Work) -> Committed:
        """See :class:`otelreplay.instrument.store.Store`. Never raises for what the disk does, but in a file taken over."""
        if self._memory is None:
            try:
                return self._commit(work)
            except (sqlite3.Error, OSError) as error:
                if self._strict:
                    raise
                self._disk_failed(error)
        assert self._memory is not None, "the disk has failed"
        done = self._memory.commit(work)
        self._last = max(self._last, done.last)
        return done

    def rows(self, after: int, limit: int) -> Sequence[Row]:
        """See :class:`otelreplay.instrument.store.Store`."""
        found: list[Row] = []
        if self._path is not None:
            try:
                cursor = self._reader().execute("SELECT id, spans, data FROM frames WHERE id > ? ORDER BY id", (after,))
                for row in cursor:
                    limit -= len(row[2])
                    if found and limit < 0:
                        break
                    found.append(Row(*row))
                cursor.close()
            except (sqlite3.Error, OSError) as error:
                if self._strict:
                    raise
                self._disk_failed(error)
        if not found and self._memory is not None:
            return self._memory.rows(after, limit)
        return found

    def losses(self) -> Mapping[str, int]:
        """See :class:`otelreplay.instrument.store.Store`."""
        found: dict[str, int] = {}
        with contextlib.suppress(sqlite3.Error, OSError):
            if self._path is not None:
                found.update(self._reader().execute("SELECT reason, spans FROM losses").fetchall())
        if self._memory is not None:
            add_losses(found, self._memory.losses())
        return found

    def pause(self) -> None:
        """Close the connections: SQLite must not be carried over a fork."""
        with self._guard:
            for connection in (self._writing, self._reading):
                if connection is not None:
                    with contextlib.suppress(sqlite3.Error):
                        connection.close()
            self._writing = self._reading = None

    def abandon(self) -> None:
        """The locks are closed for all outboxes at once, see ``locking``; there is nothing else."""

    def close(self) -> None:
        """Let go of the file; an empty one is removed."""
        empty = self._empty()
        self.pause()
        lock, path = self._lock, self._path
        self._lock = self._path = None
        if lock is None or path is None:
            return
        if empty:
            for each in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                with contextlib.suppress(OSError):
                    each.unlink(missing_ok=True)
        lock.release(remove=empty)

    def counts(self) -> tuple[int, int]:
        """(spans that wait, spans that began and did not end)."""
        connection = self._reader()
        waiting = connection.execute("SELECT coalesce(sum(spans), 0) FROM frames").fetchone()[0]
        return waiting, connection.execute("SELECT count(*) FROM stubs").fetchone()[0]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _commit(self, work: Work) -> Committed:
        connection = self._writer()
        kept = lost = 0
        room = self._room(connection) if work.frames or work.stubs else 0
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany("DELETE FROM stubs WHERE key = ?", [(key,) for key in work.ended])
            connection.executemany("DELETE FROM frames WHERE id = ?", [(row,) for row in work.settled])
            for frame in work.frames:
                if len(frame.data) > room:
                    lost += frame.spans
                    continue
                room -= len(frame.data)
                connection.execute("INSERT INTO frames (spans, data) VALUES (?, ?)", (frame.spans, frame.data))
                kept += frame.spans
            if sum(map(len, work.stubs.values())) <= room:
                connection.executemany("INSERT OR REPLACE INTO stubs VALUES (?, ?)", work.stubs.items())
            if work.end_stubs:
                kept += connection.execute("INSERT INTO frames (spans, data) SELECT 1, data FROM stubs ORDER BY key").rowcount
                connection.execute("DELETE FROM stubs")
            _count(connection, work.lost | ({FULL: lost} if lost else {}))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if kept:
            self._last = connection.execute("SELECT coalesce(max(id), 0) FROM frames").fetchone()[0]
        return Committed(self._last, kept, lost)

    def _room(self, connection: sqlite3.Connection) -> int:
        """Bytes that still fit, over all outboxes of the folder."""
        now = time.monotonic()
        if not self._looked or now - self._looked > _LOOK_AGAIN:
            self._looked, self._others = (
                now,
                sum(size_of(each) for each in self._folder.glob(f"*{SUFFIX}") if each != self._path),
            )
        pages, free, size = (
            connection.execute(f"PRAGMA {n}").fetchone()[0] for n in ("page_count", "freelist_count", "page_size")
        )
        return int(self._largest - self._others - (pages - free) * size)

    def _writer(self) -> sqlite3.Connection:
        with self._guard:
            if self._writing is None:
                fresh = self._path is None
                path = self._path or self._begin()
                self._writing = _connect(path)
                self._writing.executescript(_SCHEMA)
                if fresh and self._last:  # after a close: rows are numbered on, so that the sender's cursor stays true
                    self._writing.execute("INSERT INTO sqlite_sequence VALUES ('frames', ?)", (self._last,))
            return self._writing

    def _reader(self) -> sqlite3.Connection:
        with self._guard:
            if self._reading is None:
                assert self._path is not None, "only what exists is read"
                self._reading = _connect(self._path)
            return self._reading

    def _begin(self) -> Path:
        """A name, its lock, and an empty file that only its owner can read."""
        while True:
            name = f"{os.getpid()}-{secrets.token_hex(4)}"
            lock = Lock.take(self._folder / f"{name}{LOCK}")
            if lock is not None:
                break
        self._lock, self._path = lock, self._folder / f"{name}{SUFFIX}"
        os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        return self._path

    def _empty(self) -> bool:
        if self._memory is not None or self._path is None:
            return False
        try:
            return self.counts() == (0, 0)
        except (sqlite3.Error, OSError):
            return False

    def _disk_failed(self, error: Exception) -> None:
        if self._memory is None:
            self._memory = MemoryStore(_IN_MEMORY, after=self._last)
            warn(f"the outbox in {self._folder} cannot be used ({_reason(error)}); spans wait in memory from now on")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    # auto_vacuum counts only before the first table is made; temp_store keeps sorting out of other folders
    for pragma in ("auto_vacuum=INCREMENTAL", "journal_mode=WAL", "synchronous=FULL", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def _count(connection: sqlite3.Connection, losses: Mapping[str, int]) -> None:
    connection.executemany(
        "INSERT INTO losses VALUES (?, ?) ON CONFLICT (reason) DO UPDATE SET spans = spans + excluded.spans", losses.items()
    )


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where it is gone."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _reason(error: Exception) -> str:
    """A short word for it; SQLite's own messages name no payload."""
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else str(error)
