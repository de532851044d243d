"""Which traces of the spool are one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otelreplay.pipeline.spool import Spool
from otelreplay.reconstruct import SMALL_TRACE, Continuation, continuation_of, join_traces
from otelreplay.spans import Span, unify_spans


class Census:
    """Knows which traces have few spans, however often each of them came; remembers no more than it takes to know that."""

    def __init__(self) -> None:
        self._ids: dict[str, set[str] | None] = {}

    def count(self, spans: Iterable[Span]) -> None:
        """Take spans into account."""
        for span in spans:
            known = self._ids.setdefault(span.trace_id, set())
            if known is not None:
                known.add(span.span_id)
                if len(known) > SMALL_TRACE:
                    self._ids[span.trace_id] = None

    def small(self, trace_id: str) -> bool:
        """May this trace be a single model call?"""
        return self._ids.get(trace_id) is not None


def groups(spool: Spool, census: Census, *, one_run: bool = False) -> list[tuple[str, ...]]:
    """The trace ids of each run, in order of start. A trace is a run, but single model calls that go on from one another are
    joined. With ``one_run`` all are one run, and log records that belong to no trace are of it."""
    traces = [info.trace_id for info in spool.traces()]
    if one_run:
        return [tuple(traces)]
    traces = [trace for trace in traces if trace]
    joined = {trace: group for group in join_traces(_continuations(spool, census, traces)) for trace in group}
    return list(dict.fromkeys(joined.get(trace, (trace,)) for trace in traces))


def _continuations(spool: Spool, census: Census, traces: list[str]) -> Iterator[Continuation]:
    if len(traces) < 2:
        return
    for trace in filter(census.small, traces):
        spans, logs = spool.read((trace,))
        found = continuation_of([known.span for known in unify_spans(spans)], logs)
        if found is not None:
            yield found
