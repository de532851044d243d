"""Spans of the SDK → redacted frames in the store. Runs in the background, and is the only one who writes to the store.

Everything heavy happens here and not in the program's calls: reading the span, redaction, encoding, the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace import Span as LiveSpan

from otelreplay.instrument.capture import captures_content
from otelreplay.instrument.content import without_content
from otelreplay.instrument.counts import Counts
from otelreplay.instrument.encoding import Frame, frames
from otelreplay.instrument.reading import Reader
from otelreplay.instrument.store import FULL, Store, Work, add_losses
from otelreplay.spans import Span, carrying, with_lengths

UNREADABLE = "outbox.unreadable"
"""Why a span is lost: it could not be read, or not be redacted. What cannot be redacted is not kept."""

Redact = Callable[[Span], Span]


@dataclass(slots=True, eq=False)
class Marker:
    """Put behind the spans of a queue: tells when all before it is committed."""

    done: bool = False
    row: int = 0
    """The last row at that time."""
    send: bool = True
    """Have what is committed sent at once."""
    final: bool = False
    """No span will end any more: those that are open are sent as they are."""
    asked: int = 0
    """Number of the attempt to send that follows it."""

    def tell(self, asked: int) -> None:
        """Everything before it is committed."""
        self.asked, self.done = asked, True


@dataclass(slots=True, eq=False)
class Settled:
    """Rows of the store that were delivered or given up."""

    rows: list[int]
    lost: dict[str, int]


class Processed(NamedTuple):
    """What came of some items of the queue."""

    fresh: bool
    """New frames wait."""
    markers: list[Marker]
    """To be told."""


class Writer:
    """Takes what the queue holds and commits it."""

    def __init__(self, *, redact: Redact, store: Store, counts: Counts, stubs: bool) -> None:
        self._redact, self._store, self._counts, self._stubs = redact, store, counts, stubs
        self._reader = Reader()
        self._stubbed: set[tuple[int, int]] = set()
        self.last = 0
        """The highest row that was committed."""

    def process(self, items: Iterable[Any]) -> Processed:
        """Commit everything in ``items``. A span that started and ended among them leaves no stub."""
        started: dict[tuple[int, int], LiveSpan] = {}
        ended: list[ReadableSpan] = []
        markers: list[Marker] = []
        work = Work()
        for item in items:
            if isinstance(item, LiveSpan):
                if self._stubs and item.end_time is None:
                    started[_key(item)] = item
            elif isinstance(item, ReadableSpan):
                ended.append(item)
            elif isinstance(item, Marker):
                markers.append(item)
                work.end_stubs = work.end_stubs or item.final
            elif isinstance(item, Settled):
                work.settled += item.rows
                add_losses(work.lost, item.lost)
        self._ended(ended, started, work)
        for key, span in started.items():
            if span.end_time is None:
                self._stub(key, span, work)
        if work.end_stubs:
            self._stubbed.clear()
        fresh = self._commit(work)
        for marker in markers:
            marker.row = self.last
        return Processed(fresh, markers)

    def _ended(self, spans: list[ReadableSpan], started: dict[tuple[int, int], LiveSpan], work: Work) -> None:
        read: list[Span] = []
        for span in spans:
            key = _key(span)
            started.pop(key, None)
            if key in self._stubbed:
                self._stubbed.discard(key)
                work.ended.append(_bytes(key))
            found = self._redacted(span)
            if found is None:
                self._unreadable(work)
            else:
                read.append(found)
        work.frames = self._encoded(read, work)

    def _encoded(self, spans: list[Span], work: Work) -> list[Frame]:
        try:
            return list(frames(spans))
        except Exception:
            if len(spans) == 1:
                self._unreadable(work)
                return []
        return [frame for span in spans for frame in self._encoded([span], work)]

    def _unreadable(self, work: Work) -> None:
        add_losses(work.lost, {UNREADABLE: 1})
        add_losses(self._counts.lost_here, {UNREADABLE: 1})

    def _stub(self, key: tuple[int, int], span: LiveSpan, work: Work) -> None:
        found = self._redacted(span)
        if found is None:
            return
        try:
            work.stubs[_bytes(key)] = next(frames([found])).data
        except Exception:  # its loss is counted when it ends
            return
        self._stubbed.add(key)

    def _redacted(self, span: ReadableSpan) -> Span | None:
        try:
            given = self._reader.span(span)
            if not captures_content():
                given = without_content(given)
            return carrying(with_lengths(self._redact(given), given))
        except Exception:
            return None

    def _commit(self, work: Work) -> bool:
        if not work:
            return False
        done = self._store.commit(work)
        self.last = done.last
        self._counts.kept += done.kept
        if done.lost:
            add_losses(self._counts.lost_here, {FULL: done.lost})
        return done.kept > 0


def _key(span: ReadableSpan) -> tuple[int, int]:
    context = span.get_span_context()
    assert context is not None, "the SDK gives every span a context"
    return context.trace_id, context.span_id


def _bytes(key: tuple[int, int]) -> bytes:
    return key[0].to_bytes(16, "big") + key[1].to_bytes(8, "big")
