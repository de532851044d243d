"""The inbox in an SQLite file.

Theory of operation. One ``put`` is one transaction and one flush to disk (WAL, ``synchronous = FULL``), however many requests
it serves. For each trace that gains something it writes one frame: the new records compressed together, with their keys in one
packed column; and it updates the trace's row. The keys of traces that were in use lately are kept in memory, so that a
redelivery is recognised without reading; those of others are read when a record of theirs comes. Two connections: one writes,
one reads, and neither waits for the other.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from otelreplay.errors import InputError
from otelreplay.pipeline.frames import Codec
from otelreplay.receiver import schema
from otelreplay.receiver.inbox import Delivery, InboxError, Order, Receipt, Sealed, TraceKey, TraceState
from otelreplay.receiver.ledger import Fresh, Ledger, admit
from otelreplay.spans import LogRecord, Span

KEYS_IN_MEMORY = 500_000
_LARGEST = 2**63 - 1
_STATE = "tenant, trace, arrived, start, end, spans, ended, newest, sealed, run"
_UPSERT = """
INSERT INTO traces (tenant, trace, arrived, start, end, spans, ended, newest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, trace) DO UPDATE SET arrived = excluded.arrived, start = excluded.start, end = excluded.end,
    spans = excluded.spans, ended = excluded.ended, newest = excluded.newest
"""
_RUN_OF = "SELECT run FROM traces WHERE tenant = ? AND trace = ?"
_OTHERS_OF_THEIR_RUNS = """
WHERE released = 0 AND arrived <= ? AND run <> '' AND run IN (
    SELECT run FROM (SELECT run FROM traces WHERE released = 0 AND arrived >= ? ORDER BY arrived DESC LIMIT ?)
    UNION SELECT run FROM traces WHERE newest > sealed)
"""
_OLD = """
SELECT tenant, trace FROM traces AS old WHERE released = 0 AND newest <= sealed AND arrived < ? AND NOT EXISTS (
    SELECT 1 FROM traces AS other WHERE other.run = old.run AND other.run <> ''
    AND (other.arrived >= ? OR other.newest > other.sealed))
"""


class SqliteInbox:
    """See :class:`otelreplay.receiver.inbox.Inbox`. ``clock`` gives ns since the epoch."""

    def __init__(self, path: Path, *, clock: Callable[[], int], wait: float = 10.0) -> None:
        self.path, self._clock = path, clock
        self._writer = schema.connect(path, wait=wait)
        self._reader = schema.connect(path, wait=wait, check=False)
        self._writing, self._reading = threading.Lock(), threading.Lock()
        self._codec = Codec()
        self._ledgers: OrderedDict[TraceKey, Ledger] = OrderedDict()
        self._weight = 0
        self._frame = self._last = self._writer.execute("SELECT coalesce(max(number), 0) FROM frames").fetchone()[0]

    # --- records ------------------------------------------------------------------------------------------------------

    def put(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        """Keep deliveries."""
        try:
            with self._transaction() as db:
                receipts, fresh = admit(deliveries, self._ledger)
                if fresh:
                    self._write(db, fresh)
        except BaseException:
            with self._writing:  # some ledgers may know of what is not kept
                self._ledgers.clear()
                self._weight, self._frame = 0, self._last
            raise
        self._last = self._frame
        return receipts

    def _write(self, db: sqlite3.Connection, fresh: Mapping[TraceKey, Fresh]) -> None:
        at, number = self._clock(), self._frame
        frames, traces = [], []
        for key, new in fresh.items():
            number += 1
            data = self._codec.pack(new.spans, new.logs)
            ledger, trace = new.ledger, bytes.fromhex(key.trace_id)
            self._weight += len(new.spans) + len(new.logs)
            frames.append((number, key.tenant, trace, ledger.rows(), zlib.crc32(data), data))
            start, end = min(ledger.start, _LARGEST), min(ledger.end, _LARGEST)
            traces.append((key.tenant, trace, at, start, end, len(ledger.spans), ledger.ended, number))
        db.executemany("INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?)", frames)
        db.executemany(_UPSERT, traces)
        self._frame = number

    def _ledger(self, key: TraceKey) -> Ledger:
        found = self._ledgers.get(key)
        if found is None:
            where = (key.tenant, bytes.fromhex(key.trace_id))
            query = "SELECT start, end, ended, released FROM traces WHERE tenant = ? AND trace = ?"
            row = self._writer.execute(query, where).fetchone()
            found = Ledger()
            if row is not None:
                found.start, found.end, found.ended, found.released = row[0], row[1], bool(row[2]), bool(row[3])
                keys = self._writer.execute("SELECT keys FROM frames WHERE tenant = ? AND trace = ? ORDER BY number", where)
                found.load(data for (data,) in keys)
            self._ledgers[key] = found
            self._weight += found.weight
            while self._weight > KEYS_IN_MEMORY and len(self._ledgers) > 1:
                self._weight -= self._ledgers.popitem(last=False)[1].weight
        self._ledgers.move_to_end(key)
        return found

    def read(self, keys: Iterable[TraceKey]) -> tuple[list[Span], list[LogRecord]]:
        """All that is held of some traces."""
        spans: list[Span] = []
        logs: list[LogRecord] = []
        query = "SELECT number, checksum, data FROM frames WHERE tenant = ? AND trace = ? ORDER BY number"
        for key in keys:
            for number, checksum, data in self._select(query, (key.tenant, bytes.fromhex(key.trace_id))):
                if not data:
                    continue
                if zlib.crc32(data) != checksum:
                    raise InputError(
                        f"frame {number} of the inbox is damaged, and the run that it belongs to cannot be assembled",
                        code="inbox.frame",
                        where=str(self.path),
                        next_step="restore the inbox from a backup; other runs are not touched by this",
                    )
                more_spans, more_logs = self._codec.unpack(data)
                spans += more_spans
                logs += more_logs
        return spans, logs

    # --- traces -------------------------------------------------------------------------------------------------------

    def pending(self) -> list[TraceState]:
        """Traces that hold something unsealed."""
        return self._states("WHERE newest > sealed ORDER BY arrived, tenant, trace", ())

    def recent(self, since: int, limit: int) -> list[TraceState]:
        """Traces that got something new since then, and all pending ones."""
        found = self._states("WHERE released = 0 AND arrived >= ? ORDER BY arrived DESC LIMIT ?", (since, limit))
        oldest = found[-1].arrived if len(found) == limit else since
        others = self._states(_OTHERS_OF_THEIR_RUNS, (oldest, since, limit))
        return list({state.key: state for state in (*found, *others, *self.pending())}.values())

    def _states(self, where: str, values: tuple[Any, ...]) -> list[TraceState]:
        return [_state(row) for row in self._select(f"SELECT {_STATE} FROM traces {where}", values)]

    def leaves(self, sealed: Sealed) -> list[str]:
        """The runs that would have no trace any more."""
        before = set()
        for key in sealed.traces:
            where = (key.tenant, bytes.fromhex(key.trace_id))
            before |= {run for (run,) in self._select(_RUN_OF, where)}
        members = "SELECT tenant, trace FROM traces WHERE run = ? AND run <> ''"
        return sorted(
            run
            for run in before - {"", sealed.run}
            if all(TraceKey(tenant, trace.hex()) in sealed.traces for tenant, trace in self._select(members, (run,)))
        )

    def mark(self, sealed: Sealed) -> None:
        """Note what is sealed."""
        with self._transaction() as db:
            left = {run for key in sealed.traces for (run,) in db.execute(_RUN_OF, (key.tenant, bytes.fromhex(key.trace_id)))}
            left -= {"", sealed.run}
            db.executemany(
                "UPDATE traces SET sealed = 0 WHERE run = ? AND run <> '' AND released = 0", [(run,) for run in left]
            )
            db.executemany(
                "UPDATE traces SET sealed = ?, run = ? WHERE tenant = ? AND trace = ?",
                [(newest, sealed.run, key.tenant, bytes.fromhex(key.trace_id)) for key, newest in sealed.traces.items()],
            )

    def release(self, before: int) -> int:
        """Give up the content of sealed traces."""
        with self._transaction() as db:
            rows = db.execute(_OLD, (before, before)).fetchall()
            db.executemany("UPDATE frames SET data = x'' WHERE tenant = ? AND trace = ?", rows)
            db.executemany("UPDATE traces SET released = 1 WHERE tenant = ? AND trace = ?", rows)
            for tenant, trace in rows:
                held = self._ledgers.pop(TraceKey(tenant, trace.hex()), None)
                self._weight -= held.weight if held is not None else 0
        if rows:
            with self._writing:
                self._writer.execute("PRAGMA incremental_vacuum").fetchall()
        return len(rows)

    # --- small things -------------------------------------------------------------------------------------------------

    def facts(self) -> dict[str, str]:
        """Small texts that belong to the store."""
        return dict(self._select("SELECT name, value FROM facts", ()))

    def note(self, facts: Mapping[str, str]) -> None:
        """Keep such texts."""
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", list(facts.items()))

    def order(self, run: str) -> int:
        """Ask for a seal."""
        with self._transaction() as db:
            return int(db.execute("INSERT INTO orders (run) VALUES (?)", (run,)).lastrowid or 0)

    def orders(self) -> list[Order]:
        """What is asked for and not yet done."""
        return [Order(*row) for row in self._select("SELECT number, run FROM orders WHERE answer IS NULL ORDER BY number", ())]

    def fulfil(self, number: int, answer: Mapping[str, Any]) -> None:
        """Answer an order."""
        with self._transaction() as db:
            db.execute("UPDATE orders SET answer = ? WHERE number = ?", (json.dumps(answer), number))

    def answer(self, number: int) -> dict[str, Any] | None:
        """The answer to an order."""
        rows = list(self._select("SELECT answer FROM orders WHERE number = ? AND answer IS NOT NULL", (number,)))
        if not rows:
            return None
        with self._transaction() as db:
            db.execute("DELETE FROM orders WHERE number = ?", (number,))
        found: dict[str, Any] = json.loads(rows[0][0])
        return found

    def close(self) -> None:
        """Close the file."""
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()

    def _select(self, query: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        try:
            with self._reading:
                rows = self._reader.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from None
        return iter(rows)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing:
            db = self._writer
            try:
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    with contextlib.suppress(sqlite3.Error):
                        db.execute("ROLLBACK")
                    raise
            except sqlite3.DatabaseError as error:
                raise self._failed(error) from None

    def _failed(self, error: sqlite3.DatabaseError) -> Exception:
        if getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return schema.corrupt(self.path)
        full = "full" in str(error)
        return InboxError(
            "the disk is full"
            if full
            else f"the inbox cannot be written to ({getattr(error, 'sqlite_errorname', 'SQLITE_ERROR')})",
            code="inbox.full" if full else "inbox.unavailable",
            where=str(self.path),
            next_step="make room; senders try again by themselves" if full else "check the disk and its permissions",
        )


def _state(row: tuple[Any, ...]) -> TraceState:
    tenant, trace, arrived, start, end, spans, ended, newest, sealed, run = row
    return TraceState(
        key=TraceKey(tenant, trace.hex()),
        arrived=arrived,
        start=start,
        end=end,
        spans=spans,
        ended=bool(ended),
        newest=newest,
        sealed=sealed,
        run=run,
    )
