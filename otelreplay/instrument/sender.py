"""Frames that wait → the receiver. A thread of its own: it may wait for the network, nobody waits for it.

Theory of operation. Sources (the own store first, then the outboxes of processes that died) are read in order of arrival, from
a cursor on; one request is under way at a time. What the receiver takes is settled, and removed from its store by whoever
writes there. What it refuses as bad data is halved until the span at fault stands alone and is given up, so that one bad span
costs no other. Anything else is tried again, later and later (with jitter, or when the receiver says), from the same cursor. A
flush asks for an attempt now.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from otelreplay.instrument.counts import Counts
from otelreplay.instrument.encoding import Frame, split
from otelreplay.instrument.notice import warn
from otelreplay.instrument.store import Row, add_losses
from otelreplay.instrument.transport import Answer, Transport

REFUSED = "outbox.refused"
"""Why a span is lost: the receiver will never take it."""
REJECTED = "outbox.rejected"
"""Why a span is lost: the receiver took the request, and said that it did not keep all of it (partial success)."""

_REQUEST = 2 << 20
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_GATHER = 0.1
"""Seconds that frames may gather before a request, when nobody is waiting."""
_random = secrets.SystemRandom()


class Source(Protocol):
    """Frames from one store."""

    own: bool
    """Of this process; counted in what ``flush`` returns."""

    def rows(self, after: int, limit: int) -> Sequence[Row]:
        """As of a store."""

    def settle(self, rows: list[int], lost: dict[str, int]) -> None:
        """They are delivered, or given up for a reason."""

    def finished(self) -> None:
        """Nothing is left in it."""

    def let_go(self) -> None:
        """Nobody sends from it now."""


@dataclass(slots=True)
class _Result:
    """What became of the spans of a request."""

    sent: int = 0
    lost: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Place:
    source: Source
    cursor: int = 0


class Sender:
    """Sends until stopped."""

    def __init__(
        self, *, transport: Callable[[], Transport], timeout: float, counts: Counts, url: str, durable: bool,
        adopt: Callable[[], Iterable[Source]] = tuple, hold: Callable[[], bool] = lambda: False,
        redact_text: Callable[[str], str] = str, adopt_every: float = 30.0,
    ) -> None:  # fmt: skip
        self._make, self._timeout, self._counts, self._url, self._durable = transport, timeout, counts, url, durable
        self._adopt, self._hold, self._redact_text, self._adopt_every = adopt, hold, redact_text, adopt_every
        self._transport: Transport | None = None
        self._places: list[_Place] = []
        self._wake, self._urgent = threading.Event(), threading.Event()
        self._stop = False
        self._failures = 0
        self._not_before = self._adopt_at = 0.0
        self.for_others = Counts()
        """Of processes that are gone: ``sent`` and ``given_up``."""
        self.failed = 0
        """Attempts that failed, ever."""
        self.asked = self.answered = 0
        """Flushes that asked for an attempt, and up to which of them one has been made."""

    @property
    def settled(self) -> int:
        """Rows of the own store up to this one are dealt with."""
        return next((place.cursor for place in self._places if place.source.own), 0)

    @property
    def down(self) -> bool:
        """The last attempt failed."""
        return self._failures > 0

    @property
    def error(self) -> str:
        """Why the last attempt failed; empty when it did not."""
        return self._counts.error

    def add(self, source: Source) -> None:
        """Send from this source too."""
        self._places.append(_Place(source))

    def wake(self) -> None:
        """New frames wait."""
        self._wake.set()

    def ask(self) -> int:
        """Send now, even if the last attempt has just failed; a number for :attr:`answered`."""
        self.asked += 1
        self._urgent.set()
        self._wake.set()
        return self.asked

    def stop(self) -> None:
        """End ``run`` when the request that is under way has its answer."""
        self._stop = True
        self._urgent.set()
        self._wake.set()

    def cancel(self) -> None:
        """Give up the request that is under way; what was in it is sent again."""
        transport = self._transport
        if transport is not None:
            transport.cancel()

    def run(self) -> None:
        """Until :meth:`stop`. May be called again, by another thread."""
        self._stop = False
        self._wake.set()
        try:
            while not self._stop:
                now = time.monotonic()
                if self._failures:
                    self._urgent.wait(max(self._not_before - now, 0.0))
                elif self._wake.wait(max(self._adopt_at - now, 0.0)):
                    self._urgent.wait(_GATHER)
                if not self._stop:
                    self._urgent.clear()
                    self._wake.clear()
                    try:
                        self._round()
                    except Exception as error:  # a bug of ours must not end the sending
                        self._failed(Answer(outcome="later", reason=type(error).__name__))
        finally:
            self._hang_up()
            self._let_go()

    def drain(self, seconds: float) -> None:
        """Send what there is in the calling thread, until nothing is left, an attempt fails, or the time is over."""
        self._stop = False
        end, failed, timeout = time.monotonic() + seconds, self.failed, self._timeout
        try:
            while self.failed == failed and (left := end - time.monotonic()) > 0:
                self._timeout = min(timeout, left)
                if not self._one_request():
                    break
        finally:
            self._timeout = timeout
            self._hang_up()

    def send_what_is_left(self, seconds: float) -> None:
        """Take over what processes that are gone have left, and send it in the calling thread."""
        for source in self._adopt():
            self.add(source)
        try:
            self.drain(seconds)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Of what was taken over; whoever runs next takes it again, if anything is left of it."""
        for place in self._places:
            if not place.source.own:
                place.source.let_go()
        self._places = [place for place in self._places if place.source.own]
        self._adopt_at = 0.0

    def _hang_up(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def _round(self) -> None:
        """Everything that waits now, as long as the receiver takes it."""
        asked, failed, now = self.asked, self.failed, time.monotonic()
        if now >= self._adopt_at:
            self._adopt_at = now + self._adopt_every
            for source in self._adopt():
                self.add(source)
        while not self._stop and self.failed == failed and self._one_request():
            pass
        if not self._stop:
            self.answered = asked

    def _one_request(self) -> bool:
        """One request, if there is anything to send; False: nothing left, or held back."""
        if self._hold():
            return False
        for place in list(self._places):
            rows = place.source.rows(place.cursor, _REQUEST)
            if rows:
                self._deliver(place, rows)
                return True
            if not place.source.own:
                place.source.finished()
                self._places.remove(place)
        return False

    def _deliver(self, place: _Place, rows: Sequence[Row]) -> None:
        result = self._delivered([Frame(row.spans, row.data) for row in rows])
        if result is None:
            return
        if self._failures:
            warn(f"the receiver at {self._url} is reached again")
        self._failures, self._not_before, self._counts.error = 0, 0.0, ""
        counts = self._counts if place.source.own else self.for_others
        counts.sent += result.sent
        add_losses(counts.given_up, result.lost)
        place.cursor = rows[-1].id
        place.source.settle([row.id for row in rows], result.lost)

    def _delivered(self, frames: list[Frame]) -> _Result | None:
        """What became of these frames. None: nothing is settled, since the receiver went away or we are stopped.

        Parts that were taken before that are sent again; a receiver takes the same span twice as one.
        """
        if self._transport is None:
            self._transport = self._make()
        answer = self._transport.send(b"".join([frame.data for frame in frames]), self._timeout)
        if answer.outcome == "taken":
            return self._taken(sum(frame.spans for frame in frames), answer)
        if answer.outcome == "later":
            if not self._stop:  # else it was given up because we stop
                self._failed(answer)
            return None
        if len(frames) == 1:
            frames = split(frames[0])
        if len(frames) <= 1:
            warn(f"the receiver at {self._url} refused a span ({answer.reason}); it is given up")
            return _Result(lost={REFUSED: len(frames)})
        result = _Result()
        for half in (frames[: len(frames) // 2], frames[len(frames) // 2 :]):
            more = self._delivered(half)
            if more is None:
                return None
            result.sent += more.sent
            add_losses(result.lost, more.lost)
        return result

    def _taken(self, spans: int, answer: Answer) -> _Result:
        rejected = min(answer.rejected, spans)
        if rejected or answer.message:
            said = f": {self._redact_text(answer.message)[:300]}" if answer.message else ""
            warn(f"the receiver at {self._url} did not keep {rejected} of {spans} spans{said}")
        return _Result(spans - rejected, {REJECTED: rejected} if rejected else {})

    def _failed(self, answer: Answer) -> None:
        self._failures += 1
        self.failed += 1
        wait = min(_FIRST_WAIT * 2 ** (self._failures - 1), _LONGEST_WAIT) * _random.uniform(0.8, 1.2)
        self._not_before = time.monotonic() + (wait if answer.wait is None else answer.wait)
        self._counts.error = answer.reason
        if self._failures == 1:
            where = "the outbox" if self._durable else "memory"
            warn(f"the receiver at {self._url} cannot be reached ({answer.reason}); spans wait in {where}")
