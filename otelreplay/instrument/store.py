"""Where frames wait until they are acknowledged: the promises, and the form that keeps them in memory."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from otelreplay.instrument.encoding import Frame

FULL = "outbox.full"
"""Why spans are lost: the bound on what may wait was reached. What came first is kept."""


class Row(NamedTuple):
    """A frame that waits."""

    id: int
    spans: int
    data: bytes


@dataclass(slots=True)
class Work:
    """What one commit does, all of it or nothing."""

    frames: list[Frame] = field(default_factory=list)
    stubs: dict[bytes, bytes] = field(default_factory=dict)
    """Spans that have started: key (trace id and span id) → frame of the span without an end."""
    ended: list[bytes] = field(default_factory=list)
    """Keys of stubs whose span has ended, and is among the frames."""
    settled: list[int] = field(default_factory=list)
    """Rows that need not wait any longer."""
    lost: dict[str, int] = field(default_factory=dict)
    """Spans that were given up since the last commit, by reason."""
    end_stubs: bool = False
    """No span will end any more: stubs become frames as they are, without an end."""

    def __bool__(self) -> bool:
        return bool(self.frames or self.stubs or self.ended or self.settled or self.lost or self.end_stubs)


class Committed(NamedTuple):
    """What a commit came to."""

    last: int
    """The highest row so far."""
    kept: int
    """Spans that wait now."""
    lost: int
    """Spans that did not fit."""


class Store(Protocol):
    """Holds frames. ``commit`` is called by one thread at a time, ``rows`` by one other."""

    def commit(self, work: Work) -> Committed:
        """Do the work; what was committed survives whatever the store promises to survive."""

    def rows(self, after: int, limit: int) -> Sequence[Row]:
        """Frames in order of arrival, beginning behind ``after``, of about ``limit`` bytes together; at least one."""

    def losses(self) -> Mapping[str, int]:
        """Spans that were given up so far, by reason."""

    def pause(self) -> None:
        """Before a fork: close what a child must not inherit. The next call opens it again."""

    def abandon(self) -> None:
        """In the child of a fork: what this store holds is the parent's."""

    def close(self) -> None:
        """Let go of everything; what waits stays for whoever comes next. A later commit begins anew."""


class MemoryStore:
    """Survives nothing; for ``durable=False``, and for a disk that cannot be written to."""

    def __init__(self, largest: int, *, after: int = 0) -> None:
        self._largest, self._held = largest, 0
        self._rows: dict[int, Row] = {}
        self._last = after
        self._lost: dict[str, int] = {}
        self._lock = threading.Lock()

    def commit(self, work: Work) -> Committed:
        """Keep the frames that fit. Stubs are of no use here: when the process dies they die with it."""
        kept = lost = 0
        with self._lock:
            for row in work.settled:
                gone = self._rows.pop(row, None)
                self._held -= len(gone.data) if gone else 0
            for frame in work.frames:
                if self._held + len(frame.data) > self._largest:
                    lost += frame.spans
                    continue
                self._last += 1
                self._rows[self._last] = Row(self._last, frame.spans, frame.data)
                self._held += len(frame.data)
                kept += frame.spans
            add_losses(self._lost, work.lost | ({FULL: lost} if lost else {}))
            return Committed(self._last, kept, lost)

    def rows(self, after: int, limit: int) -> Sequence[Row]:
        """See :class:`Store`."""
        found: list[Row] = []
        with self._lock:
            for row in self._rows.values():
                if row.id <= after:
                    continue
                limit -= len(row.data)
                if found and limit < 0:
                    break
                found.append(row)
        return found

    def losses(self) -> Mapping[str, int]:
        """See :class:`Store`."""
        return dict(self._lost)

    def pause(self) -> None:
        """See :class:`Store`."""

    def abandon(self) -> None:
        """See :class:`Store`."""

    def close(self) -> None:
        """See :class:`Store`."""


def add_losses(to: dict[str, int], more: Mapping[str, int]) -> None:
    """Add up losses by reason."""
    for reason, spans in more.items():
        to[reason] = to.get(reason, 0) + spans
