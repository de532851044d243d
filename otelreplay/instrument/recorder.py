"""The span processor: takes spans from the program within microseconds, and has everything else done in the background.

Theory of operation.

    program's threads          writer thread                         sender thread
    on_start, on_end ─queue─▶  read, redact, encode, commit ─store─▶ send, settle ─queue─▶ (the writer removes the settled)

The queue is a SimpleQueue: its ``put`` may be called from a signal handler and from a finaliser in the middle of another
``put``, which no lock of ours would survive. Nothing on the program's side waits for a lock, and no program thread ever touches
an event that the background threads use.

The writer commits what the queue holds, in groups: the first span waits a moment (``_LINGER``) for others. A span that has
begun and not ended by then leaves a stub, so that the receiver learns of it should the process die.

Fork. Before it both threads are stopped, so that no lock is held in what the child inherits (SQLite, RE2, gRPC); they start
again in the parent if there is work, else with the next span. The child begins anew: an empty queue, a store of its own. Spans
that began in the parent are the parent's; where the child ends its copy of them, nothing is recorded.

After ``close`` (the end of the process) spans are still taken, and committed by the thread that ends them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, Context, attach, set_value
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from otelreplay.instrument.counts import Counts, FlushResult
from otelreplay.instrument.sender import Sender
from otelreplay.instrument.store import Store
from otelreplay.instrument.writer import Marker, Redact, Settled, Writer

_LINGER: Final = 0.002
_BATCH: Final = 128
_KNOWN_DOWN: Final = 0.2
"""Seconds that a flush waits for an attempt where the last one failed."""
_FORK_WAIT: Final = 5.0
_PATIENCE: Final = 0.2
"""Seconds that a fork waits for the answer to a request, before it is given up and sent again later."""
_STOP: Final = object()


class Own:
    """The own store, as the sender sees it."""

    own = True

    def __init__(self, store: Store, tell_writer: Callable[[Settled], None]) -> None:
        self.rows: Callable[[int, int], Any] = store.rows
        self._tell = tell_writer

    def settle(self, rows: list[int], lost: dict[str, int]) -> None:
        """The writer removes them, with its next commit."""
        self._tell(Settled(rows, lost))

    def finished(self) -> None:
        """Never: more may come."""

    def let_go(self) -> None:
        """The recorder closes its store."""


MakeSender = Callable[[Counts], Sender]


class Recorder(SpanProcessor):
    """Records every span of a provider."""

    def __init__(
        self, *, redact: Redact, make_store: Callable[[], Store], make_sender: MakeSender, durable: bool
    ) -> None:  # fmt: skip
        self._redact, self._make_store, self._make_sender, self.durable = redact, make_store, make_sender, durable
        self._open: dict[int, None] = {}
        self._inherited: frozenset[int] = frozenset()
        self._fresh()

    def _fresh(self) -> None:
        """As at the start of the process."""
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._counts = Counts()
        self._store: Store | None = None
        self._writer: Writer | None = None
        self._sender: Sender | None = None
        self._threads: list[threading.Thread] = []
        self._begin_lock = threading.Lock()
        self._inline_lock = threading.RLock()
        self._running = self._paused = self._closed = self._busy = False

    # --- what the SDK calls, in the program's threads ---------------------------------------------------------------

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """A span begins."""
        del parent_context
        self._open[span.context.span_id] = None
        if self._closed:  # too late for a stub
            return
        self._queue.put(span)
        if not self._running:
            self.begin()

    def on_end(self, span: ReadableSpan) -> None:
        """A span has ended."""
        number = span.context.span_id
        self._open.pop(number, None)
        if number in self._inherited:
            return
        self._queue.put(span)
        if not self._running:
            self.begin()

    def shutdown(self) -> None:
        """The provider is shut down."""
        self.close(5.0)

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Everything that ended is with the receiver, or safe in the outbox."""
        done = self.flush(timeout_millis / 1000)
        return not done.lost and (self.durable or not done.pending)

    # --- what configure and the exits call --------------------------------------------------------------------------

    def flush(self, timeout: float, *, final: bool = False) -> FlushResult:
        """Commit what has ended so far and send it; at most ``timeout`` seconds, far less where nobody answers.

        With ``final``, spans that are open are sent as they are, without an end.
        """
        end = time.monotonic() + timeout
        while self._paused and time.monotonic() < end:
            time.sleep(0.001)
        if self._closed:
            self._inline(timeout)
            return self.result()
        if not self._running:
            self.begin()
        marker = self._mark(end, Marker(final=final))
        sender = self._sender
        if sender is not None and marker.done:
            if sender.down:
                end = min(end, time.monotonic() + _KNOWN_DOWN)
            pause = 0.0005
            while sender.settled < marker.row and sender.answered < marker.asked and time.monotonic() < end:
                time.sleep(pause)
                pause = min(pause * 1.5, 0.01)
            if self.durable and sender.settled >= marker.row:  # so that nothing is sent again, even after os._exit
                self._mark(end, Marker(send=False))
        return self.result()

    def _mark(self, end: float, marker: Marker) -> Marker:
        """Wait until everything so far is committed. Takes no lock: fit for a signal handler."""
        self._queue.put(marker)
        while not marker.done and time.monotonic() < end and self._running:
            time.sleep(0.0005)
        return marker

    def result(self) -> FlushResult:
        """Where the spans are."""
        return self._counts.result(open_spans=len(self._open), durable=self.durable)

    def close(self, timeout: float) -> FlushResult:
        """Flush, stop the threads, let go of the store. Spans that end later are still committed."""
        if not self._closed and not self._paused:
            self.flush(timeout, final=True)
        self._closed = True
        self._stop_threads(max(timeout, 1.0))
        self._inline(0.0)
        return self.result()

    def before_fork(self) -> None:
        """Stop the threads and close what a child must not inherit."""
        self._paused = True
        self._stop_threads(_FORK_WAIT, patience=_PATIENCE)
        if self._store is not None:
            self._store.pause()

    def after_fork_in_parent(self) -> None:
        """Go on, if there is anything to do."""
        self._paused = False
        if not self._closed and (not self._queue.empty() or self.result().pending):
            self.begin()

    def after_fork_in_child(self) -> None:
        """Begin anew; the parent's store is the parent's."""
        if self._store is not None:
            self._store.abandon()
        self._inherited = self._inherited | frozenset(self._open)
        self._open = {}
        self._fresh()

    # --- the background ---------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start the threads unless they run, are not to run now, or another thread is at it."""
        if self._closed:
            self._inline(1.0)
            return
        if self._paused or not self._begin_lock.acquire(blocking=False):
            return
        try:
            if not self._running and not self._paused:
                self._assemble()
                self._threads = [
                    threading.Thread(target=self._write, name="otelreplay-writer", daemon=True),
                    threading.Thread(target=self._send, name="otelreplay-sender", daemon=True),
                ]
                self._running = True
                for thread in self._threads:
                    thread.start()
        except RuntimeError:  # the interpreter is ending: there are no new threads
            self._running, self._closed = False, True
        finally:
            self._begin_lock.release()

    def _assemble(self) -> tuple[Writer, Sender, Store]:
        if self._store is None or self._writer is None or self._sender is None:
            self._store = self._make_store()
            self._writer = Writer(redact=self._redact, store=self._store, counts=self._counts, stubs=self.durable)
            self._sender = self._make_sender(self._counts)
            self._sender.add(Own(self._store, self._queue.put))
        return self._writer, self._sender, self._store

    def _write(self) -> None:
        writer, sender, _ = self._assemble()
        while self._running:
            items = [self._queue.get()]
            if items[0] is not _STOP and self._running:
                if self._queue.qsize() < _BATCH:
                    time.sleep(_LINGER)
                with suppress(Empty):
                    while len(items) < _BATCH:
                        items.append(self._queue.get_nowait())
            done = writer.process(items)
            if done.fresh:
                sender.wake()
            if done.markers:
                asked = sender.ask() if any(marker.send for marker in done.markers) else 0
                for marker in done.markers:
                    marker.tell(asked)

    def _send(self) -> None:
        _, sender, _ = self._assemble()
        attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        sender.run()

    def _stop_threads(self, seconds: float, *, patience: float = 0.0) -> None:
        """Both threads end; what is in the queue stays there. A request may go on for ``patience`` seconds."""
        self._running = False
        self._queue.put(_STOP)
        if self._sender is not None:
            self._sender.stop()
            for thread in self._threads[1:] if patience else ():
                thread.join(patience)
            self._sender.cancel()
        end = time.monotonic() + seconds
        for thread in self._threads:
            if thread is not threading.current_thread() and thread.is_alive():
                thread.join(max(end - time.monotonic(), 0.1))
        self._threads = []

    def _inline(self, seconds: float) -> None:
        """Commit what the queue holds in this thread, and send what that takes no long time to send."""
        with self._inline_lock:
            if self._busy:  # a finaliser in the middle of this very work has ended a span: it is in the queue
                return
            self._busy = True
            try:
                writer, sender, store = self._assemble()
                self._commit_queue(writer)
                if seconds > 0 and not sender.down:
                    sender.drain(seconds)
                    self._commit_queue(writer)
                store.close()
            finally:
                self._busy = False

    def _commit_queue(self, writer: Writer) -> None:
        items: list[Any] = []
        with suppress(Empty):
            while True:
                items.append(self._queue.get_nowait())
        for marker in writer.process(items).markers:
            marker.tell(0)
