"""The inbox in memory: for tests, and for programs that keep nothing."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from otelreplay.receiver.inbox import Delivery, Order, Receipt, Sealed, TraceKey, TraceState
from otelreplay.receiver.ledger import Fresh, Ledger, admit
from otelreplay.spans import LogRecord, Span


@dataclass
class _Trace:
    ledger: Ledger = field(default_factory=Ledger)
    state: TraceState | None = None
    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)


class MemoryInbox:
    """See :class:`otelreplay.receiver.inbox.Inbox`. ``clock`` gives ns since the epoch."""

    def __init__(self, *, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._traces: dict[TraceKey, _Trace] = {}
        self._facts: dict[str, str] = {}
        self._orders: dict[int, tuple[Order, dict[str, Any] | None]] = {}
        self._frame = self._ordered = 0

    def put(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        """Keep deliveries."""
        with self._lock:
            receipts, fresh = admit(deliveries, lambda key: self._traces.setdefault(key, _Trace()).ledger)
            for key, new in fresh.items():
                self._add(key, new)
            return receipts

    def _add(self, key: TraceKey, new: Fresh) -> None:
        trace, ledger = self._traces[key], new.ledger
        self._frame += 1
        trace.spans += new.spans
        trace.logs += new.logs
        before = trace.state
        trace.state = TraceState(
            key=key,
            arrived=self._clock(),
            start=ledger.start,
            end=ledger.end,
            spans=len(ledger.spans),
            ended=ledger.ended,
            newest=self._frame,
            sealed=before.sealed if before else 0,
            run=before.run if before else "",
        )

    def pending(self) -> list[TraceState]:
        """Traces that hold something unsealed."""
        with self._lock:
            return sorted((state for state in self._states() if state.pending), key=lambda s: (s.arrived, s.key))

    def recent(self, since: int, limit: int) -> list[TraceState]:
        """Traces that got something new since then, and all pending ones."""
        with self._lock:
            held = sorted(self._states(), key=lambda s: -s.arrived)
            whole = [s for s in held if not self._traces[s.key].ledger.released]
            found = [*[s for s in whole if s.arrived >= since][:limit], *(s for s in held if s.pending)]
            runs = {state.run for state in found} - {""}
            return list({state.key: state for state in (*found, *(s for s in whole if s.run in runs))}.values())

    def _states(self) -> list[TraceState]:
        return [trace.state for trace in self._traces.values() if trace.state is not None]

    def read(self, keys: Iterable[TraceKey]) -> tuple[list[Span], list[LogRecord]]:
        """All that is held of some traces."""
        with self._lock:
            traces = [self._traces[key] for key in keys]
            return [s for trace in traces for s in trace.spans], [r for trace in traces for r in trace.logs]

    def leaves(self, sealed: Sealed) -> list[str]:
        """The runs that would have no trace any more."""
        with self._lock:
            before = {state.run for state in self._states() if state.key in sealed.traces}
            stay = {state.run for state in self._states() if state.key not in sealed.traces}
            return sorted(before - stay - {"", sealed.run})

    def mark(self, sealed: Sealed) -> None:
        """Note what is sealed."""
        with self._lock:
            left = {state.run for state in self._states() if state.key in sealed.traces} - {"", sealed.run}
            for trace in self._traces.values():
                if trace.state is not None and trace.state.run in left and not trace.ledger.released:
                    trace.state = replace(trace.state, sealed=0)
            for key, newest in sealed.traces.items():
                trace = self._traces[key]
                if trace.state is not None:
                    trace.state = replace(trace.state, sealed=newest, run=sealed.run)

    def release(self, before: int) -> int:
        """Give up the content of sealed traces."""
        count = 0
        with self._lock:
            used = {state.run for state in self._states() if state.pending or state.arrived >= before} - {""}
            for trace in self._traces.values():
                state = trace.state
                settled = state and not trace.ledger.released and not state.pending and state.arrived < before
                if state and settled and state.run not in used:
                    trace.spans, trace.logs, trace.ledger.released = [], [], True
                    count += 1
        return count

    def facts(self) -> dict[str, str]:
        """Small texts that belong to the store."""
        return dict(self._facts)

    def note(self, facts: Mapping[str, str]) -> None:
        """Keep such texts."""
        self._facts.update(facts)

    def order(self, run: str) -> int:
        """Ask for a seal."""
        with self._lock:
            self._ordered += 1
            self._orders[self._ordered] = (Order(self._ordered, run), None)
            return self._ordered

    def orders(self) -> list[Order]:
        """What is asked for and not yet done."""
        with self._lock:
            return [order for order, answer in self._orders.values() if answer is None]

    def fulfil(self, number: int, answer: Mapping[str, Any]) -> None:
        """Answer an order."""
        with self._lock:
            self._orders[number] = (self._orders[number][0], copy.deepcopy(dict(answer)))

    def answer(self, number: int) -> dict[str, Any] | None:
        """The answer to an order."""
        with self._lock:
            found = self._orders.get(number, (None, None))[1]
            if found is not None:
                del self._orders[number]
            return found

    def close(self) -> None:
        """Nothing to let go of."""
