"""Another schedule for a replayed Python program: what concurrent code may meet any day, and should not depend on.

An answer to a coroutine takes a few turns of the event loop, one to a thread some milliseconds, so that concurrent calls are
answered in another order; a started thread begins a little later; threads are switched at another interval. Nothing is
reordered that has an order: callbacks of one loop, the queue, the locks. Drawn from a generator of its own, so that the
program's random numbers stay what they are.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from otelreplay import boundary

VARIABLE: Final = "OTELREPLAY_RUN_JITTER"
"""Holds the seed, for the processes of one replay."""
_TURNS: Final = 6
_LATE: Final = 0.004
"""Seconds by which a thread begins later, or is answered later, at most."""
_pauses: list[Callable[[], float]] = []


def pause() -> None:
    """Let an answer to a thread take its time; nothing unless :func:`install` was called."""
    if _pauses and threading.current_thread() is not threading.main_thread():
        time.sleep(_pauses[0]())


def install(seed: int) -> None:
    """Change the schedule of this process."""
    chance = random.Random(seed)
    lock = threading.Lock()
    sys.setswitchinterval(10 ** chance.uniform(-5, -2.5))

    def turns() -> int:
        asyncio: Any = sys.modules.get("asyncio")
        if asyncio is None or asyncio._get_running_loop() is None:
            return 0
        with lock:
            return chance.randrange(_TURNS)

    def seconds() -> float:
        with lock:
            return chance.uniform(0, _LATE)

    boundary.delay(turns)
    _pauses[:] = [seconds]
    begun = threading.Thread.run

    def late(thread: threading.Thread) -> None:
        time.sleep(seconds())
        begun(thread)

    threading.Thread.run = late  # type: ignore[assignment, method-assign]
