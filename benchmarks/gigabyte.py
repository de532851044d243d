"""(e) A file of 1 GB as a user converts it: the command on a terminal, its progress bar, its memory."""

from __future__ import annotations

import os
import pty
import re
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import data
from benchmarks.harness import Row, Setting

_SPANS = 17
"""Spans for each of ``--scale``: 10,000 of them make 1 GB."""
_GROWTH = 1.25
_STEPS = re.compile(r"(\d+)/(\d+)(?!\.\d)(?! [kMG]?B)")
"""What the second bar says: so many of so many runs rebuilt."""


@dataclass(frozen=True)
class _Seen:
    """One conversion: seconds of wall clock, peak memory in MiB, the numbers of runs that its bar showed."""

    seconds: float
    memory: float
    shown: tuple[int, ...]
    cassettes: int


def bench(setting: Setting) -> Iterator[Row]:
    """Once each, since it takes minutes: a file of ``17 * scale`` spans and one of a tenth."""
    seen = {}
    for count in (setting.scale * _SPANS // 10, setting.scale * _SPANS):
        path = setting.folder / f"whole{count}.pb"
        with path.open("wb") as stream:
            for spans in data.chat_spans(count):
                stream.write(data.as_protobuf(spans))
        seen[path.stat().st_size] = _convert(path, setting.folder / f"whole{count}")
        path.unlink()
    small, large = sorted(seen)
    done, shown = seen[large], seen[large].shown
    yield Row(
        f"convert a file of {large / 1e6:,.0f} MB on a terminal",
        f"{done.seconds:,.0f} s",
        f"{len(set(shown))} places of the bar, of {done.cassettes:,} runs",
        "bar to the end",
        len(set(shown)) > 10 and list(shown) == sorted(shown) and shown[-1] == done.cassettes,
    )
    yield Row(
        "  peak memory of its process",
        f"{done.memory:,.0f} MiB",
        f"{seen[small].memory:,.0f} MiB for {small / 1e6:,.0f} MB",
        f"<= {_GROWTH:g} times",
        done.memory <= _GROWTH * seen[small].memory,
    )


def _convert(path: Path, out: Path) -> _Seen:
    """The command as it is typed, its stderr a terminal of 80 columns."""
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "otelreplay", "convert", str(path), "--out", str(out)]
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.close(master)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(terminal, 2)
        own = {"OTELREPLAY_KEYS": str(out.parent / "keys"), "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
        os.execve(sys.executable, command, os.environ | own)
    os.close(terminal)
    said = _read(master)
    _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, said[-2000:]
    return _Seen(time.perf_counter() - began, _mebibytes(usage), _steps(said), sum(1 for _ in out.glob("*.cassette.jsonl")))


def _read(master: int) -> str:
    """All that is written to a terminal, until nobody holds it open."""
    parts = []
    while True:
        try:
            parts.append(os.read(master, 65536))
        except OSError:  # Linux ends a terminal with an error
            break
        if not parts[-1]:
            break
    os.close(master)
    return b"".join(parts).decode("utf-8", "replace")


def _steps(said: str) -> tuple[int, ...]:
    return tuple(int(done) for done, _ in _STEPS.findall(said.partition("rebuilding runs")[2]))


def _mebibytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
