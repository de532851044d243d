"""Runs each measurement in a process of its own, and prints one table."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine


@dataclass(frozen=True)
class Row:
    """One figure. ``limit`` is what it is compared to, measured in the same run."""

    what: str
    figure: str
    limit: str = ""
    goal: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Spent:
    """What a process took: seconds of wall clock and of processor, and the most memory it had, in MiB."""

    wall: float
    processor: float
    memory: float
    output: str


@dataclass(frozen=True)
class Setting:
    """Where a bench may write, and how much it should do."""

    folder: Path
    repeat: int
    scale: int
    """Spans of the smaller file whose peak memory is measured; the larger has ten times, speed is measured on a fifth."""
    captures: Path | None = None
    """A folder of captured runs, for the mutation score: in each of its folders ``meta.json`` and ``otlp.jsonl``."""


Bench = Callable[[Setting], Iterator[Row]]


def spend(command: Sequence[str], *, folder: Path) -> Spent:
    """Run a command to its end, with keys of its own. Raises CalledProcessError with its output when it fails."""
    environment = {**os.environ, "OTELREPLAY_KEYS": str(folder / "keys"), "PYTHONHASHSEED": "0"}
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
    output, errors = child.communicate()
    wall = time.perf_counter() - began
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command, output, errors)
    return Spent(wall, *_usage(output), output)


def _usage(output: str) -> tuple[float, float]:
    """Processor seconds and memory as a worker printed them in its last line; zeros for other commands."""
    try:
        last = json.loads(output.rstrip().rpartition("\n")[2])
        return last["processor"], last["memory"]
    except (ValueError, KeyError, TypeError):
        return 0.0, 0.0


def work(name: str, *arguments: str, folder: Path) -> dict[str, Any]:
    """The result of a function of ``benchmarks.worker`` in a fresh process."""
    spent = spend([sys.executable, "-m", "benchmarks.worker", name, *arguments], folder=folder)
    found: dict[str, Any] = json.loads(spent.output.rstrip().rpartition("\n")[2])
    return found


def median(measure: Callable[[], float], repeat: int) -> float:
    """The median of so many measurements."""
    return statistics.median(measure() for _ in range(repeat))


def run(benches: Sequence[tuple[str, Bench]], setting: Setting, *, show: Callable[[str], None]) -> list[Row]:
    """Run the benches one after the other and show the table."""
    show(f"machine  {machine.describe()}")
    show(f"load     {machine.load()} at the start; medians of {setting.repeat} unless said otherwise")
    show("")
    show(_line(Row("measured", "figure", "compared to, in the same run", "goal")))
    rows = []
    for _, bench in benches:
        for row in bench(setting):
            rows.append(row)
            show(_line(row))
    show("")
    show(f"load     {machine.load()} at the end")
    return rows


def _line(row: Row) -> str:
    met = {None: "", True: "  met", False: "  MISSED"}[row.met]
    return f"{row.what:<52}  {row.figure:>18}  {row.limit:<44}  {row.goal}{met}".rstrip()
