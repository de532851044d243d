"""The tables of the inbox file, and how it is opened: privately, durably, and never over what it does not understand."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path

import msgspec

from otelreplay.errors import InputError
from otelreplay.spans.model import Link, LogRecord, Removal, Resource, Scope, Span, SpanEvent

VERSION = 1

TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS traces (
    tenant TEXT NOT NULL, trace BLOB NOT NULL, arrived INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    spans INTEGER NOT NULL, ended INTEGER NOT NULL, newest INTEGER NOT NULL, sealed INTEGER NOT NULL DEFAULT 0,
    run TEXT NOT NULL DEFAULT '', released INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (tenant, trace)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS traces_pending ON traces (arrived) WHERE newest > sealed;
CREATE INDEX IF NOT EXISTS traces_held ON traces (arrived) WHERE released = 0;
CREATE INDEX IF NOT EXISTS traces_run ON traces (run) WHERE run <> '';
CREATE TABLE IF NOT EXISTS frames (
    number INTEGER PRIMARY KEY, tenant TEXT NOT NULL, trace BLOB NOT NULL, keys BLOB NOT NULL, checksum INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS frames_trace ON frames (tenant, trace);
CREATE TABLE IF NOT EXISTS orders (number INTEGER PRIMARY KEY, run TEXT NOT NULL, answer TEXT);
"""


def frame_form() -> str:
    """A digest of what a frame's rows consist of: frames of another form cannot be read."""
    kinds = (Span, LogRecord, Resource, Scope, SpanEvent, Link, Removal)
    names = ";".join(f"{kind.__name__}:{','.join(f.name for f in msgspec.structs.fields(kind))}" for kind in kinds)
    return hashlib.sha256(names.encode()).hexdigest()[:16]


def connect(path: Path, *, wait: float, check: bool = True) -> sqlite3.Connection:
    """Open the file, which is made (mode 0600) if it is not there. Raises InputError (``inbox.corrupt``, ``inbox.version``).

    ``check``: read all of it for damage first; once is enough for a process.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Never opened and closed beside a connection: that would drop the locks which this process holds on it.
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # sqlite gives -wal and -shm the same mode
    db = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA wal_autocheckpoint = 4000")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            db.execute("BEGIN IMMEDIATE")
            for statement in TABLES.split(";"):
                db.execute(statement)
            db.execute("INSERT OR IGNORE INTO facts VALUES ('frames', ?)", (frame_form(),))
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
        elif version != VERSION:
            raise _of_another_version(path)
        if check:
            _check_frames(db, path)
    except sqlite3.DatabaseError as error:
        db.close()
        if isinstance(error, sqlite3.OperationalError):  # locked, full, not writable: the file is good
            raise
        raise corrupt(path) from None
    except BaseException:
        db.close()
        raise
    return db


def _check_frames(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise corrupt(path)
    (form,) = db.execute("SELECT value FROM facts WHERE name = 'frames'").fetchone() or ("",)
    if form == frame_form():
        return
    if db.execute("SELECT 1 FROM traces WHERE newest > sealed LIMIT 1").fetchone():
        raise _of_another_version(path)
    db.execute("UPDATE traces SET released = 1")  # all of it is sealed, and cannot be read any more
    db.execute("UPDATE frames SET data = x''")
    db.execute("INSERT OR REPLACE INTO facts VALUES ('frames', ?)", (frame_form(),))


def corrupt(path: Path) -> InputError:
    """The error of an inbox file that is damaged, or none."""
    return InputError(
        "the inbox is damaged, or is no inbox",
        code="inbox.corrupt",
        where=str(path),
        next_step="move it and its -wal and -shm files away and start again: sealed cassettes are not touched by this, "
        "spans that were in no cassette yet can be recovered from the moved file with sqlite's own tools only",
    )


def _of_another_version(path: Path) -> InputError:
    return InputError(
        "the inbox was written by another version of otelreplay and holds spans that are in no cassette yet",
        code="inbox.version",
        where=str(path),
        next_step="run `otelreplay seal` with that version first",
    )
