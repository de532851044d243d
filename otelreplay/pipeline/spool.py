"""Groups spans and log records by trace, however they arrive, with bounded memory.

Only redacted records may be added: what does not fit into the budget is written to disk.

Theory of operation. Each trace has a list of what is in memory and a list of frames on disk. When all lists together exceed the
budget, every one of them becomes a frame at the end of one file in a private folder, and memory is free again. Frames are per
trace, because the history of a conversation repeats from span to span: that is where compression gains. Taking a trace reads
its frames back. So memory is bounded by the budget, plus the traces that are taken together, plus some hundred bytes a trace
for the index; never by the input.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from sys import getsizeof
from types import TracebackType
from typing import Any, BinaryIO, Self

from otelreplay.pipeline.frames import Codec
from otelreplay.pipeline.scratch import ScratchFolder, remove_stale
from otelreplay.spans.model import LogRecord, Span

MEMORY_BUDGET = 64 << 20
"""Bytes of spans and log records that are held in memory before they go to disk."""

Hints = Callable[[Span | LogRecord], Iterable[str]]
"""What a record tells about the traces it belongs with, as short texts: response ids, links, conversation ids."""


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """What the index knows of a trace without reading it."""

    trace_id: str
    """Empty for the log records that belong to no trace."""
    start: int
    """The earliest start of a span, or time of a record, in ns; 0 when none has one."""
    spans: int
    logs: int
    roots: int
    """Spans without a parent. Redelivered spans count twice, here and in ``spans``."""
    hints: frozenset[str]


class Spool:
    """Takes records in any order and gives them out trace by trace.

    ``folder`` is where the private folder is made if memory does not suffice (the output folder); left-overs of killed
    processes in it are removed at once. Use as a context manager, or ``close`` it. Not for several threads.
    """

    def __init__(self, folder: Path, *, memory_budget: int = MEMORY_BUDGET, hints: Hints | None = None) -> None:
        remove_stale(folder)
        self._folder, self._budget, self._hints = folder, memory_budget, hints
        self._traces: dict[str, _Trace] = {}
        self._held = 0
        self._codec = Codec()
        self._scratch: ScratchFolder | None = None
        self._file: BinaryIO | None = None

    def add(self, spans: Iterable[Span], logs: Iterable[LogRecord] = ()) -> None:
        """Take records in; they are already redacted."""
        traces, hints = self._traces, self._hints
        for span in spans:
            trace = traces.get(span.trace_id) or self._trace(span.trace_id)
            trace.spans.append(span)
            trace.span_count += 1
            trace.roots += not span.parent_span_id
            if span.start and (not trace.start or span.start < trace.start):
                trace.start = span.start
            if hints is not None:
                trace.hints.update(hints(span))
            self._held += _span_size(span)
            if self._held > self._budget:
                self._spill()
        for log in logs:
            trace = traces.get(log.trace_id) or self._trace(log.trace_id)
            trace.logs.append(log)
            trace.log_count += 1
            time = log.time or log.observed_time
            if time and (not trace.start or time < trace.start):
                trace.start = time
            if hints is not None:
                trace.hints.update(hints(log))
            self._held += 400 + _size(log.attributes) + _size(log.body)
            if self._held > self._budget:
                self._spill()

    def traces(self) -> list[TraceInfo]:
        """Every trace that has not been taken, by start and id."""
        found = [trace.info(trace_id) for trace_id, trace in self._traces.items()]
        return sorted(found, key=lambda info: (info.start, info.trace_id))

    def read(self, trace_ids: Iterable[str]) -> tuple[list[Span], list[LogRecord]]:
        """All spans and log records of some traces, which stay in the spool. KeyError for one that is not in it."""
        spans: list[Span] = []
        logs: list[LogRecord] = []
        for trace_id in trace_ids:
            trace = self._traces[trace_id]
            for offset, size in trace.frames:
                more_spans, more_logs = self._codec.unpack(self._frame(offset, size))
                spans += more_spans
                logs += more_logs
            spans += trace.spans
            logs += trace.logs
        return spans, logs

    def take(self, trace_ids: Iterable[str]) -> tuple[list[Span], list[LogRecord]]:
        """As ``read``, and the spool forgets the traces."""
        wanted = list(trace_ids)
        found = self.read(wanted)
        for trace_id in wanted:
            del self._traces[trace_id]
        return found

    @property
    def spilled(self) -> int:
        """Bytes on disk."""
        return self._file.seek(0, os.SEEK_END) if self._file is not None else 0

    def close(self) -> None:
        """Forget everything and remove what is on disk; safe to call again."""
        self._traces.clear()
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def _trace(self, trace_id: str) -> _Trace:
        trace = self._traces[trace_id] = _Trace()
        return trace

    def _spill(self) -> None:
        """Everything in memory to disk."""
        if self._file is None:
            self._scratch = ScratchFolder(self._folder)
            descriptor = os.open(self._scratch.path / "frames", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            self._file = os.fdopen(descriptor, "w+b")
        at = self._file.seek(0, os.SEEK_END)
        for trace in self._traces.values():
            if trace.spans or trace.logs:
                frame = self._codec.pack(trace.spans, trace.logs)
                self._file.write(frame)
                trace.frames.append((at, len(frame)))
                at += len(frame)
                trace.spans, trace.logs = [], []
        self._held = 0

    def _frame(self, offset: int, size: int) -> bytes:
        assert self._file is not None, "a frame exists only after a spill"
        self._file.seek(offset)
        return self._file.read(size)


class _Trace:
    """One trace while it is collected."""

    __slots__ = ("frames", "hints", "log_count", "logs", "roots", "span_count", "spans", "start")

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.logs: list[LogRecord] = []
        self.frames: list[tuple[int, int]] = []
        self.hints: set[str] = set()
        self.start = self.span_count = self.log_count = self.roots = 0

    def info(self, trace_id: str) -> TraceInfo:
        return TraceInfo(trace_id, self.start, self.span_count, self.log_count, self.roots, frozenset(self.hints))


def _span_size(span: Span) -> int:
    """About how many bytes a span takes in memory, resource and scope not counted: they are shared."""
    size = 600 + len(span.status_message) + 150 * len(span.links)
    for value in span.attributes.values():  # most values are text: worth a loop of its own
        size += 100 + (getsizeof(value) if type(value) is str else _size(value))
    for event in span.events:
        size += 200 + _size(event.attributes)
    return size


def _size(value: Any) -> int:
    if type(value) is dict:
        return 64 + sum(100 + _size(each) for each in value.values())
    if type(value) is list:
        return 56 + sum(8 + _size(each) for each in value)
    return getsizeof(value)
