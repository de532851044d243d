"""What came in, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otelreplay.errors import InputError
from otelreplay.events import Note, Recording
from otelreplay.pipeline.result import REJECTED_KEPT, ConvertedRun, ConvertResult
from otelreplay.spans import Batch, Rejected, Span
from otelreplay.spans.identity import fingerprint


class Intake:
    """Counts batches; what was refused is kept, up to a bound."""

    def __init__(self) -> None:
        self.spans = self.logs = self.unplaced = self.rejected_total = 0
        self.duplicates = self.conflicts = 0
        self.rejected: list[Rejected] = []

    def count(self, batch: Batch) -> None:
        """Take a batch into the counts."""
        self.spans += len(batch.spans)
        self.logs += len(batch.logs)
        self.unplaced += sum(not record.trace_id for record in batch.logs)
        self.rejected_total += len(batch.rejected)
        self.rejected += batch.rejected[: REJECTED_KEPT - len(self.rejected)]

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
        what = "log records that belong to no trace, and no span" if self.logs else "no span and no log record"
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

    def doubted(self, recording: Recording) -> Recording:
        """The recording, with a note when something of the input was refused: it may have been a part of this run."""
        if not self.rejected_total:
            return recording
        said = "a part of the input could not be read, and whether it belonged to this run is not known; convert lists what"
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
