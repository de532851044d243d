"""Progress bars on stderr, for people who wait: only on a terminal, and only when the input is large or slow."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

LARGE = 32 << 20
"""Input of at least this many bytes has a bar from the start."""
SLOW = 2.0
"""Other input gets one after this many seconds."""


class Progress:
    """Takes how many bytes were read since it was told last, then how many runs were rebuilt: a bar for each.

    A context manager, so that the bar ends with the work.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._total = _size(files)
        self._due = time.monotonic() + (0.0 if (self._total or 0) >= LARGE else SLOW)
        self._shown = sys.stderr.isatty()
        self._done = 0
        self._bar: Any = None
        self._task: Any = None
        self._runs: Steps | None = None

    def __call__(self, count: int) -> None:
        """``count`` more bytes of the input have been read."""
        self._done += count
        if not self._shown or (self._bar is None and time.monotonic() < self._due):
            return
        if self._bar is None:
            self._start()
        self._bar.update(self._task, completed=self._done)

    def runs(self, done: int, total: int) -> None:
        """``done`` of ``total`` runs have been rebuilt; all input has been read."""
        if self._runs is None:
            if self._bar is None and time.monotonic() < self._due:
                return
            self._stop()
            self._runs = Steps("rebuilding runs")
        self._runs(done, total)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn
        from rich.progress import Progress as Bar

        shown = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        self._bar = Bar("reading", *shown, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("reading", total=self._total)
        self._bar.start()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._stop()
        if self._runs is not None:
            self._runs.__exit__(kind, error, traceback)

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class Steps:
    """Takes how many of how many steps are done; a bar on a terminal from the first on."""

    def __init__(self, label: str) -> None:
        self._label, self._shown = label, sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, done: int, total: int) -> None:
        """So many of so many."""
        if self._shown and self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Bar(self._label, *columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._label, total=total)
            self._bar.start()
        if self._bar is not None:
            self._bar.update(self._task, completed=done)

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()


def _size(files: Sequence[str]) -> int | None:
    """Bytes of all files together; None where one of them has no size, like a pipe."""
    try:
        sizes = [Path(name).stat() for name in files if name != "-"]
    except OSError:
        return None
    return sum(size.st_size for size in sizes) if "-" not in files else None
