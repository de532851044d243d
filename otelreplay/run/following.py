"""The wall clock of a program follows the recording: the start of the last event that was served, and the time since then.

``time.time``, ``time.time_ns``, ``datetime.now`` and their kin; never monotonic clocks or sleeps, so that nothing waits longer
or shorter. The host writes one number, recorded time minus monotonic time, into a small file that every process of the run
maps: monotonic time is one on the whole machine, and reading the clock takes as long as ever.

``datetime`` is not replaced by a class of ours: everything that asks for its type would see the difference. Its two methods
that read the clock are exchanged in the class itself; ``date.today`` asks ``time.time`` by itself.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

CLOCK: Final = "OTELREPLAY_RUN_CLOCK"
"""The variable that names the file."""
_NUMBER: Final = struct.Struct("=q")
_monotonic_ns = time.monotonic_ns


class Told:
    """The host's end: tells every process what time it is. Later events never turn the clock back."""

    def __init__(self, path: Path, start: int) -> None:
        """``start``: where the recording begins, in nanoseconds."""
        self._latest = start
        path.write_bytes(_NUMBER.pack(start - _monotonic_ns()))
        self._map = _mapped(str(path), mmap.ACCESS_WRITE)

    def served(self, start: int) -> None:
        """An event that began then was served."""
        if start > self._latest:
            self._latest = start
            self._map[: _NUMBER.size] = _NUMBER.pack(start - _monotonic_ns())

    def close(self) -> None:
        """Tell no more."""
        self._map.close()


def _mapped(path: str, access: int) -> mmap.mmap:
    descriptor = os.open(path, os.O_RDWR if access == mmap.ACCESS_WRITE else os.O_RDONLY)
    try:
        return mmap.mmap(descriptor, _NUMBER.size, access=access)
    finally:
        os.close(descriptor)


def follow(path: str) -> None:
    """From now on the wall clock of this process is the recording's."""
    held = _mapped(path, mmap.ACCESS_READ)
    read, monotonic_ns = _NUMBER.unpack_from, _monotonic_ns

    def time_ns() -> int:
        """Time in nanoseconds since the epoch, as it was when this was recorded."""
        return int(read(held)[0]) + monotonic_ns()

    _exchange_functions(time_ns)
    _exchange_methods(time_ns)


def _exchange_functions(time_ns: Callable[[], int]) -> None:
    def now() -> float:
        """Time in seconds since the epoch, as it was when this was recorded."""
        return time_ns() / 1e9

    def from_now(original: Any) -> Any:
        """A function that takes the present where it is given no time."""

        def call(seconds: float | None = None, /) -> Any:
            return original(time_ns() / 1e9 if seconds is None else seconds)

        return _named(call, original)

    def from_local(original: Any, before: int) -> Any:
        def call(*given: Any) -> Any:
            return original(*given) if len(given) > before else original(*given, time.localtime())

        return _named(call, original)

    def clock_of(original: Any, whole: bool) -> Any:
        def call(clock: int, /) -> Any:
            if clock != time.CLOCK_REALTIME:
                return original(clock)
            return time_ns() if whole else time_ns() / 1e9

        return _named(call, original)

    new = {
        "time": _named(now, time.time),
        "time_ns": _named(time_ns, time.time_ns),
        **{name: from_now(getattr(time, name)) for name in ("localtime", "gmtime", "ctime")},
        "strftime": from_local(time.strftime, 1),
        "asctime": from_local(time.asctime, 0),
        "clock_gettime": clock_of(time.clock_gettime, whole=False),
        "clock_gettime_ns": clock_of(time.clock_gettime_ns, whole=True),
    }
    vars(time).update(new)


def _exchange_methods(time_ns: Callable[[], int]) -> None:
    import ctypes
    import gc
    from datetime import datetime, timezone

    utc = timezone.utc  # noqa: UP017 - the same object under the name that every Python has

    def now(cls: type[datetime], tz: Any = None) -> datetime:
        """The present, as it was when this was recorded; with ``tz``, there."""
        seconds, rest = divmod(time_ns(), 1_000_000_000)
        return cls.fromtimestamp(seconds, tz).replace(microsecond=rest // 1000)

    def utcnow(cls: type[datetime]) -> datetime:
        """The present in UTC, without saying so, as it was when this was recorded."""
        seconds, rest = divmod(time_ns(), 1_000_000_000)
        return cls.fromtimestamp(seconds, utc).replace(microsecond=rest // 1000, tzinfo=None)

    held: dict[str, Any] = next(each for each in gc.get_referents(vars(datetime)) if isinstance(each, dict))
    held["now"], held["utcnow"] = classmethod(now), classmethod(utcnow)
    modified = ctypes.pythonapi.PyType_Modified
    modified.argtypes, modified.restype = [ctypes.py_object], None
    modified(datetime)


def _named(function: Any, original: Any) -> Any:
    function.__name__ = function.__qualname__ = original.__name__
    function.__module__ = original.__module__
    return function
