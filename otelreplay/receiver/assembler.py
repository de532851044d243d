"""From the inbox to sealed cassettes.

Theory of operation. A run is a group of traces that belong together (``reconstruct.join_traces``). Which traces those are may
change with every trace that comes, so each pass joins anew over all that is held and lies within the window; what is known of
small traces is remembered, so that a pass reads only what has changed. A group is assembled as a whole from all that is held of
it. If the store has an equal cassette nothing happens; else the run's first cassette is written, or its next revision. When a
trace turns out to belong to another run than the one it was sealed in, and that run has no trace left, its cassette is set
aside among the superseded ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from otelreplay.errors import InputError, OtelReplayError
from otelreplay.events import Recording
from otelreplay.pipeline.result import ConvertedRun
from otelreplay.pipeline.shelf import Shelf
from otelreplay.pipeline.stamp import with_keys
from otelreplay.receiver.counters import Counters
from otelreplay.receiver.inbox import Inbox, Sealed, TraceKey, TraceState
from otelreplay.reconstruct import Fragment, TraceExtent, join_traces, reconstruct, run_id
from otelreplay.redaction import Placeholder, Redactor
from otelreplay.spans import LogRecord, Span, unify_spans

WINDOW = 3600 * 10**9
"""Traces that got something new within so many ns are joined with those that are pending."""
JOINED = 20_000
"""Traces at most, pending ones apart, that a pass looks at."""

Group = Sequence[TraceState]
Ready = Callable[[Group], bool]


class SetsAside(Protocol):
    """What the assembler needs of a store beside the shelf."""

    def set_aside(self, run_id: str) -> tuple[str, ...]:
        """Move the cassettes of a run to the superseded ones."""
        ...


@dataclass(frozen=True)
class Desk:
    """What the runs of one tenant are made with."""

    redactor: Redactor
    shelf: Shelf


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass did."""

    runs: tuple[ConvertedRun, ...] = ()
    problems: tuple[str, ...] = ()
    """Runs that could not be assembled, each as a sentence."""
    failed: tuple[TraceState, ...] = ()
    """Their traces, as they were found."""


@dataclass
class _Memory:
    """Fragments of a tenant's small traces, with the frame up to which they were read."""

    read: dict[str, int] = field(default_factory=dict)
    fragments: dict[str, Fragment] = field(default_factory=dict)


class Assembler:
    """Seals what is ready. Not for several threads at once. ``clock`` gives ns since the epoch."""

    def __init__(
        self,
        inbox: Inbox,
        *,
        desk_of: Callable[[str], Desk],
        store: SetsAside,
        counters: Counters,
        clock: Callable[[], int],
    ) -> None:
        self._inbox, self._desk_of, self._store, self._counters, self._clock = inbox, desk_of, store, counters, clock
        self._memory: dict[str, _Memory] = {}

    def groups(self) -> list[Group]:
        """The runs that have something unsealed, each as all of its traces."""
        tenants: dict[str, list[TraceState]] = {}
        for state in self._inbox.recent(self._clock() - WINDOW, JOINED):
            tenants.setdefault(state.key.tenant, []).append(state)
        return [group for tenant, states in sorted(tenants.items()) for group in self._joined(tenant, states)]

    def seal(self, ready: Ready) -> Pass:
        """Seal every group with something unsealed that is ready."""
        chosen = [group for group in self.groups() if ready(group)]
        runs: list[ConvertedRun] = []
        problems: list[str] = []
        failed: list[TraceState] = []
        for tenant in dict.fromkeys(group[0].key.tenant for group in chosen):
            desk = self._desk_of(tenant)
            for group in [group for group in chosen if group[0].key.tenant == tenant]:
                try:
                    runs.append(self._seal(group, desk))
                except Exception as error:  # one run that cannot be assembled is no reason to leave the others
                    problems.append(_sentence(error, group))
                    failed += group
        return Pass(tuple(runs), tuple(problems), tuple(failed))

    def name(self, group: Group) -> str:
        """The run id that a group has or would get; empty where its content cannot be read."""
        try:
            spans, logs = self._inbox.read(state.key for state in group)
        except InputError:
            return ""
        return run_id(spans or _stubs(logs), tenant=group[0].key.tenant)

    def _seal(self, group: Group, desk: Desk) -> ConvertedRun:
        recording, placeholders = self._assembled(group, desk.redactor)
        done = desk.shelf.put(recording, placeholders=placeholders)
        sealed = Sealed(run=done.run_id, traces={state.key: state.newest for state in group})
        for run in self._inbox.leaves(sealed):  # before it is marked: whoever dies in between does it again
            self._counters.add(sealed_set_aside=len(self._store.set_aside(run)))
            desk.shelf.aside(run)
        self._inbox.mark(sealed)
        self._counters.add(**{f"sealed_{done.outcome}": 1})
        return done

    def _assembled(self, group: Group, redactor: Redactor) -> tuple[Recording, tuple[Placeholder, ...]]:
        spans, logs = self._inbox.read(state.key for state in group)
        recording = reconstruct(spans, logs, tenant=group[0].key.tenant)
        recording, placeholders = redactor.recording_with_placeholders(recording)
        return with_keys(recording), placeholders

    def _joined(self, tenant: str, states: Sequence[TraceState]) -> Iterator[Group]:
        if not any(state.pending for state in states):
            return
        by_id = {state.key.trace_id: state for state in states}
        memory = self._memory.setdefault(tenant, _Memory())
        for trace_id, newest in list(memory.read.items()):
            if trace_id not in by_id or by_id[trace_id].newest != newest:
                del memory.read[trace_id], memory.fragments[trace_id]

        def load(trace_id: str) -> tuple[list[Span], list[LogRecord]]:
            try:
                spans, logs = self._inbox.read([TraceKey(tenant, trace_id)])
                return [known.span for known in unify_spans(spans)], logs
            except (InputError, ValueError):  # damaged: said when it is assembled, and no reason to leave the others
                return [], []

        extents = [TraceExtent(trace_id=i, start=s.start, end=s.end, spans=s.spans) for i, s in by_id.items()]
        joined = join_traces(extents, load, known=memory.fragments)
        memory.read = {trace_id: by_id[trace_id].newest for trace_id in memory.fragments}
        for ids in joined:
            group = [by_id[trace_id] for trace_id in ids]
            if any(state.pending for state in group):
                yield group


def settled(*, now: int, quiet: int, idle: int, since: int = 0) -> Ready:
    """Ready: nothing new for ``quiet`` ns and a root that has ended; without one, nothing new for ``idle`` ns.

    What arrived before ``since`` is ready however it looks: it was left by an earlier process.
    """

    def ready(group: Group) -> bool:
        pending = [state for state in group if state.pending]
        if all(state.arrived < since for state in pending):
            return True
        return all(state.arrived <= now - (quiet if state.ended else idle) for state in pending)

    return ready


def _stubs(logs: Sequence[LogRecord]) -> list[Span]:
    return [Span(trace_id=r.trace_id, span_id=r.span_id, start=r.time or r.observed_time) for r in logs]


def _sentence(error: Exception, group: Group) -> str:
    if isinstance(error, OtelReplayError):
        return error.sentence()
    if isinstance(error, OSError):
        return f"the cassette cannot be written ({error.strerror})"
    return (  # ours; its text may quote payload
        f"the run of trace {group[0].key.trace_id} cannot be assembled: this is a bug in otelreplay ({type(error).__name__}); "
        "its spans stay in the inbox"
    )
