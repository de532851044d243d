"""The command line run many times over, each time in a process of its own: for many cassettes, or one in many settings.

A process of its own is what makes one bad cassette not the end of the others, whatever it does to the process that reads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

_KEPT: Final = 1 << 20
"""Bytes kept of what a program writes."""
_PATIENCE: Final = 5.0
"""Seconds that an interrupted process has to end what it started."""
_SENTENCE: Final = re.compile(r"^otelreplay: (.*) \[([a-z_]+\.[a-z_]+)\]$", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One command. ``{report}`` among its words becomes the name of a file for its JSON report; ``{witness}`` in ``environ``
    the name of one for its calls.
    """

    name: str
    words: Sequence[str]
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How it ended."""

    name: str
    exit_code: int
    report: Mapping[str, Any] | None
    """None where it ended before there was one."""
    problem: str = ""
    """The sentence of the error that it ended with."""
    code: str = ""
    out: bytes = b""
    """What the program wrote to stdout, at most so much."""
    err: str = ""
    asked: tuple[Mapping[str, Any], ...] = ()
    """Every call of the program: ``seq`` and ``keys``, in order; where it was asked for."""


class Processes:
    """Runs tasks, so many at once. What is still running when it is left is ended, with all that came from it."""

    def __init__(self, jobs: int = 0) -> None:
        self.jobs = jobs or os.cpu_count() or 1
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._over = False

    def run(self, tasks: Sequence[Task], done: Callable[[Ran], None] | None = None) -> list[Ran]:
        """Run them all; the results are in their order. ``done`` is told of each as it ends. Ctrl-C ends all."""
        with ThreadPoolExecutor(min(self.jobs, max(len(tasks), 1))) as pool:
            waiting = [pool.submit(self._one, task) for task in tasks]
            try:
                for future in as_completed(waiting):
                    if done is not None:
                        done(future.result())
                return [future.result() for future in waiting]
            except BaseException:
                self._over = True
                for future in waiting:
                    future.cancel()
                self._end()
                raise

    def _end(self) -> None:
        with self._lock:
            running = list(self._running)
        for process in running:
            with contextlib.suppress(OSError):
                process.send_signal(signal.SIGINT)  # it ends its own children, and removes its files
        for process in running:
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)

    def _one(self, task: Task) -> Ran:
        with ExitStack() as held:
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="otelreplay-")))
            out, err = (held.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            report, witness = folder / "report.json", folder / "asked.jsonl"
            words = [str(report) if word == "{report}" else word for word in task.words]
            added = {name: str(witness) if value == "{witness}" else value for name, value in task.environ.items()}
            code = self._wait([sys.executable, "-P", "-m", "otelreplay", *words], os.environ | added, out, err)
            said = _text(err).decode("utf-8", "replace")
            sentences = _SENTENCE.findall(said)
            problem, name = sentences[-1] if sentences and code else ("", "")
            return Ran(
                name=task.name, exit_code=code, report=_json(report), problem=problem, code=name, out=_text(out), err=said,
                asked=_lines(witness),
            )  # fmt: skip

    def _wait(self, words: list[str], environ: Mapping[str, str], out: BinaryIO, err: BinaryIO) -> int:
        with self._lock:
            if self._over:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                words, env=dict(environ), stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
            self._running.add(process)
        try:
            return process.wait()
        finally:
            self._running.discard(process)


def _text(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(_KEPT)


def _json(path: Path) -> Mapping[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _lines(path: Path) -> tuple[Mapping[str, Any], ...]:
    if not path.exists():
        return ()
    return tuple(json.loads(line) for line in path.read_bytes().splitlines())
