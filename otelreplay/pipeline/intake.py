"""What came in, counted."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from otelreplay.errors import InputError
from otelreplay.events import Note, Recording
from otelreplay.pipeline.result import REJECTED_KEPT, ConvertedRun, ConvertResult
from otelreplay.spans import Batch, Rejected, Span
from otelreplay.spans.identity import fingerprint

_DOUBTS = 100_000
"""Traces of which something was refused, beyond which they are not told apart any more."""


class Intake:
    """Counts batches; what was refused is kept, up to a bound."""

    def __init__(self) -> None:
        self.spans = self.logs = self.unplaced = self.rejected_total = 0
        self.duplicates = self.conflicts = 0
        self.rejected: list[Rejected] = []
        self._doubts: set[str] = set()

    def count(self, batch: Batch, *, placed: int) -> None:
        """Take a batch into the counts. ``placed``: how many of its log records belong to a trace or a session."""
        self.spans += len(batch.spans)
        self.logs += len(batch.logs)
        self.unplaced += len(batch.logs) - placed
        if batch.refused:
            self.rejected_total += batch.refused
            self.rejected += batch.rejected[: REJECTED_KEPT - len(self.rejected)]
            self._doubt({item.trace_id for item in batch.rejected} | batch.unlisted_traces)

    def require_something(self) -> None:
        """Raise InputError when no span and no log record of a trace came in."""
        if self.spans + self.logs - self.unplaced:
            return
        if self.rejected:
            first = self.rejected[0]
            raise InputError(
                f"nothing in the input could be read: {first.reason}",
                code="trace.nothing_readable",
                where=first.where,
                next_step="check that it is an OTLP trace export, and that it is whole",
            )
        what = "log records that belong to no trace and no session, and no span" if self.logs else "no span and no log record"
        raise InputError(
            f"the input holds {what}",
            code="trace.empty",
            next_step="check that it is the trace export of an agent's run",
        )

    def repeats(self, spans: Sequence[Span]) -> None:
        """Count the copies among the spans of one run: equal ones as duplicates, differing ones as conflicts."""
        copies: dict[str, list[Span]] = {}
        for span in spans:
            copies.setdefault(span.key, []).append(span)
        for same in copies.values():
            if len(same) > 1:
                different = len(set(map(fingerprint, same)))
                self.duplicates += len(same) - different
                self.conflicts += different - 1

    def _doubt(self, traces: Set[str]) -> None:
        """``traces``: those of which something was refused; "" among them if it is not known of which."""
        self._doubts |= traces
        if len(self._doubts) > _DOUBTS:
            self._doubts = {""}

    def place_doubts(self, traces: Set[str]) -> None:
        """``traces``: all of which something was taken in. Another one, all of it refused, may belong to any run."""
        if not self._doubts <= traces:
            self._doubts = {""}

    def doubted(self, recording: Recording) -> Recording:
        """The recording, with a note when something was refused that is, or may have been, a part of this run."""
        if "" in self._doubts:
            said = "a part of the input could not be read, and whether it belonged to this run is not known; convert lists what"
        elif not self._doubts.isdisjoint(recording.trace_ids):
            said = "a part of this run's traces could not be read; convert lists what"
        else:
            return recording
        return replace(recording, notes=(*recording.notes, Note(code="input_refused", message=said)))

    def result(self, runs: Sequence[ConvertedRun]) -> ConvertResult:
        """The result of the conversion that took in what was counted."""
        return ConvertResult(
            runs=tuple(runs),
            spans=sum(run.spans for run in runs),
            logs=sum(run.logs for run in runs),
            duplicates=self.duplicates,
            conflicts=self.conflicts,
            unplaced_logs=self.unplaced,
            rejected=tuple(self.rejected),
            rejected_total=self.rejected_total,
        )
