"""The thread that turns what has settled into cassettes, carries out orders, and gives up what is past its retention."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from otelreplay.errors import OtelReplayError
from otelreplay.pipeline.result import ConvertedRun
from otelreplay.receiver.assembler import Assembler, Group, Pass, Ready, settled
from otelreplay.receiver.counters import Counters
from otelreplay.receiver.inbox import Inbox, InboxError, Order, TraceKey

SECOND = 10**9
_TICK = 0.2
_RELEASE_EVERY = 300 * SECOND
_FIRST_REST, _LONGEST_REST = SECOND, 300 * SECOND
COUNTS = "counts"
"""The fact under which the inbox keeps the counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Times in ns."""

    quiet: int = 5 * SECOND
    """A run whose root has ended is assembled when nothing came for so long."""
    idle: int = 3600 * SECOND
    """A run without an ended root is assembled when nothing came for so long."""
    retention: int = 24 * 3600 * SECOND
    """How long the spans of a sealed run are held after the last one came."""


class Sealer:
    """Runs until ``stop``. ``say`` is given a sentence for whoever watches."""

    def __init__(
        self,
        inbox: Inbox,
        assembler: Assembler,
        *,
        patience: Patience,
        counters: Counters,
        clock: Callable[[], int],
        say: Callable[[str], None],
    ) -> None:
        self._inbox, self._assembler, self._patience = inbox, assembler, patience
        self._counters, self._clock, self._say = counters, clock, say
        self._began = clock()
        self._released = self._saved = 0
        self._said: set[str] = set()
        self._resting: dict[TraceKey, _Rest] = {}
        self._looked = self._due = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="otelreplay-seal", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; what is under way is finished."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def everything(self) -> Pass:
        """Seal all that is pending, also what has not ended. Not while the thread runs."""
        found = self._seal(wanted("", self._assembler.name))
        self._save()
        return found

    def turn(self) -> None:
        """One round."""
        for order in self._inbox.orders():
            self._carry_out(order)
        now, patience = self._clock(), self._patience
        if not self._looked <= now < self._due:
            self._look(now)
        if now >= self._released + min(_RELEASE_EVERY, patience.retention):
            self._inbox.release(now - patience.retention)
            self._released = now
        if now >= self._saved + SECOND:
            self._save()

    def _look(self, now: int) -> None:
        """Seal what is due, and note when something may be due next: to look at all that is pending takes a while."""
        patience = self._patience
        ready = self._awake(settled(now=now, quiet=patience.quiet, idle=patience.idle, since=self._began), now)
        pending = self._inbox.pending()
        if any(ready([state]) for state in pending):
            self._seal(ready)
        after = (state.arrived + (patience.quiet if state.ended else patience.idle) for state in pending)
        soonest = min(after, default=now + patience.quiet)  # what comes from now on is not due before then
        self._looked, self._due = now, max(min(soonest, now + patience.quiet), now + min(patience.quiet // 5, SECOND))

    def _work(self) -> None:
        failures = 0
        while not self._stopping.wait(_TICK * 2 ** min(failures, 8)):
            try:
                self.turn()
                failures = 0
            except Exception as error:
                failures += 1
                self._tell(_fault(error))

    def _seal(self, ready: Ready) -> Pass:
        found = self._assembler.seal(ready)
        for problem in found.problems:
            self._tell(problem)
        now, before = self._clock(), self._resting
        self._resting = {key: rest for key, rest in before.items() if rest.until > now - _LONGEST_REST}
        for state in found.failed:
            self._resting[state.key] = _Rest.after(before.get(state.key), newest=state.newest, now=now)
        return found

    def _awake(self, ready: Ready, now: int) -> Ready:
        """``ready``, without what failed a moment ago and has not changed: it is tried again, and ever more seldom."""

        def rested(group: Group) -> bool:
            rests = [(state, self._resting.get(state.key)) for state in group]
            return ready(group) and not any(rest and rest.newest == state.newest and now < rest.until for state, rest in rests)

        return rested

    def _carry_out(self, order: Order) -> None:
        try:
            answer = answer_of(self._seal(self._wanted(order.run)))
        except InboxError:
            raise  # it could not be answered either
        except Exception as error:  # an order that cannot be carried out must not stand before all else
            answer = {"runs": [], "problems": [_fault(error)]}
        self._inbox.fulfil(order.number, answer)

    def _wanted(self, run: str) -> Ready:
        return wanted(run, self._assembler.name)

    def _tell(self, sentence: str) -> None:
        """Say a thing once."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._say(sentence)

    def _save(self) -> None:
        self._inbox.note({COUNTS: json.dumps(self._counters.snapshot())})
        self._saved = self._clock()


@dataclass(frozen=True, slots=True)
class _Rest:
    """A trace whose run could not be assembled is left alone for a while, unless something comes to it."""

    newest: int
    until: int
    length: int

    @classmethod
    def after(cls, before: _Rest | None, *, newest: int, now: int) -> _Rest:
        """The rest after a failure: longer each time."""
        again = before is not None and before.newest == newest
        length = min(2 * before.length, _LONGEST_REST) if before is not None and again else _FIRST_REST
        return cls(newest, now + length, length)


def _fault(error: Exception) -> str:
    if isinstance(error, OtelReplayError):
        return error.sentence()
    # ours; its text may quote payload
    return f"runs cannot be assembled now: this is a bug in otelreplay ({type(error).__name__})"


def wanted(run: str, name: Callable[[Group], str]) -> Ready:
    """Groups of a run, by its id or the id of one of its traces; with an empty text all."""

    def ready(group: Group) -> bool:
        known = {run_or_trace for state in group for run_or_trace in (state.run, state.key.trace_id)}
        return not run or run in known or name(group) == run

    return ready


def answer_of(done: Pass) -> dict[str, Any]:
    """What a pass did, for JSON."""
    return {"runs": [_run(run) for run in done.runs], "problems": list(done.problems)}


def _run(run: ConvertedRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "revision": run.revision,
        "cassette": run.cassette,
        "outcome": run.outcome,
        "verdict": run.verdict,
        "events": run.events,
        "spans": run.spans,
        "logs": run.logs,
    }
