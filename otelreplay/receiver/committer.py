"""Group commit: one thread writes, and whoever waits while it does is served by the next round together.

There is no timer: a lone request is written at once, and under load the rounds grow by themselves.
"""

from __future__ import annotations

import threading
from collections import deque

from otelreplay.receiver.inbox import Delivery, Inbox, InboxError, Receipt

ROUND = 2000
"""Records of a round, more or less: it takes requests until it has so many."""


class _Waiting:
    __slots__ = ("delivery", "done", "error", "receipt")

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.done = threading.Event()
        self.receipt: Receipt | None = None
        self.error: Exception | None = None


class Committer:
    """Puts deliveries of many threads into an inbox."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="otelreplay-commit", daemon=True)
        self._thread.start()

    def put(self, delivery: Delivery) -> Receipt:
        """Keep a delivery; it is durable when this returns. Raises what ``Inbox.put`` raises."""
        waiting = _Waiting(delivery)
        with self._changed:
            if self._closing:
                raise InboxError("the receiver is shutting down", code="inbox.closing", next_step="send it again later")
            self._queue.append(waiting)
            self._changed.notify()
        waiting.done.wait()
        if waiting.receipt is None:
            raise waiting.error or RuntimeError("no answer")
        return waiting.receipt

    def close(self) -> None:
        """Write what waits, and end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while round_ := self._take():
            self._write(round_)
            for waiting in round_:
                waiting.done.set()

    def _take(self) -> list[_Waiting]:
        """What waits, up to a round; nothing when it is over."""
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            taken: list[_Waiting] = []
            size = 0
            while self._queue and size < ROUND:
                taken.append(self._queue.popleft())
                size += len(taken[-1].delivery.spans) + len(taken[-1].delivery.logs)
            return taken

    def _write(self, round_: list[_Waiting]) -> None:
        try:
            receipts = self._inbox.put([waiting.delivery for waiting in round_])
        except Exception as error:
            if isinstance(error, InboxError) or len(round_) == 1:
                for waiting in round_:
                    waiting.error = error
                return
            for waiting in round_:  # one of them is at fault: the others shall not suffer
                self._write([waiting])
            return
        for waiting, receipt in zip(round_, receipts, strict=True):
            waiting.receipt = receipt
