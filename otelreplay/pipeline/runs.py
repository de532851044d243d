"""Which traces of the spool are one run."""

from __future__ import annotations

from collections.abc import Iterable

from otelreplay.pipeline.spool import Spool
from otelreplay.reconstruct import TraceExtent, join_traces
from otelreplay.spans import LogRecord, Span, unify_spans


class Census:
    """Knows how long each trace took, and how many spans the small ones have, however often each span came."""

    def __init__(self) -> None:
        self._ids: dict[str, set[str] | None] = {}
        self._ends: dict[str, int] = {}

    def count(self, spans: Iterable[Span]) -> None:
        """Take spans into account."""
        for span in spans:
            known = self._ids.setdefault(span.trace_id, set())
            self._ends[span.trace_id] = max(self._ends.get(span.trace_id, 0), span.end)
            if known is not None:
                known.add(span.span_id)
                if len(known) > MANY:
                    self._ids[span.trace_id] = None

    def spans(self, trace_id: str) -> int:
        """How many spans the trace has; ``MANY`` for any higher number."""
        known = self._ids.get(trace_id, set())
        return MANY if known is None else len(known)

    def end(self, trace_id: str) -> int:
        """When its last span ended, in ns."""
        return self._ends.get(trace_id, 0)


MANY = 16
"""Higher numbers of spans are not told apart."""


def groups(spool: Spool, census: Census, *, one_run: bool = False) -> list[tuple[str, ...]]:
    """The trace ids of each run, in order of start; see ``reconstruct.joining``.

    With ``one_run`` all are one run, and log records that belong to no trace are of it.
    """
    infos = list(spool.traces())
    if one_run:
        return [tuple(info.trace_id for info in infos)]

    def load(trace: str) -> tuple[list[Span], list[LogRecord]]:
        spans, logs = spool.read((trace,))
        return [known.span for known in unify_spans(spans)], logs

    extents = (
        TraceExtent(trace_id=i.trace_id, start=i.start, end=census.end(i.trace_id), spans=census.spans(i.trace_id))
        for i in infos
        if i.trace_id
    )
    return join_traces(extents, load)
