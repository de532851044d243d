"""What happens to spans at the end of a process, and at a fork of it.

    the program ends, sys.exit, an exception, SIGINT     atexit                       committed, sent if it can be
    SIGTERM, SIGHUP, if the program left them alone      a handler, then the signal   committed, sent if it can be
    end of a multiprocessing child                       its finaliser                committed, sent if it can be
    os._exit, SIGKILL, a crash                           nothing runs                 what was committed stays

A signal that the program handles itself is the program's. The handler here ends the process by the same signal under its
default action, so that whoever waits for it sees the same status. One thing differs: Python runs handlers in the main thread,
between two steps of it, so a process that is deep in a call that never returns to Python does not end before that call does.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from types import FrameType

from otelreplay.instrument.locking import abandon_locks
from otelreplay.instrument.notice import warn
from otelreplay.instrument.recorder import Recorder


class Exits:
    """Closes one recorder at the end, whichever end it is."""

    def __init__(self, recorder: Recorder, *, timeout: float, url: str) -> None:
        self._recorder, self._timeout, self._url = recorder, timeout, url
        self._said = False

    def install(self, *, signals: bool) -> None:
        """Be told of every end, and of forks."""
        atexit.register(self.at_exit)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._recorder.before_fork,
                after_in_parent=self._recorder.after_fork_in_parent,
                after_in_child=self._in_child,
            )
        self._multiprocessing()
        if signals and threading.current_thread() is threading.main_thread():
            for name in ("SIGTERM", "SIGHUP", "SIGINT"):
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._on_signal)

    def at_exit(self) -> None:
        """Keep everything, say what was not delivered."""
        left = self._recorder.close(self._timeout)
        if self._said or not (left.pending or left.lost):
            return
        self._said = True
        parts = []
        if left.pending and left.durable:
            parts.append(f"{left.pending} spans wait in the outbox: the next process sends them, or `otelreplay outbox send`")
        elif left.pending:
            parts.append(f"{left.pending} spans were not delivered and are lost with this process (durable=False)")
        if left.lost:
            parts.append(f"{left.lost} spans are lost ({', '.join(f'{n} {why}' for why, n in sorted(left.reasons.items()))})")
        warn(f"at the end, for {self._url}: {'; '.join(parts)}")

    def _in_child(self) -> None:
        abandon_locks()
        self._said = False
        self._recorder.after_fork_in_child()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        try:
            self.at_exit()
        finally:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _multiprocessing(self) -> None:
        """Its children end without atexit, and after a fork they first clear the finalisers that they inherit."""
        from multiprocessing import process, util

        def at_end_of_child(exits: Exits) -> None:
            util.Finalize(None, exits.at_exit, exitpriority=0)

        util.register_after_fork(self, at_end_of_child)
        if process.parent_process() is not None:
            at_end_of_child(self)
