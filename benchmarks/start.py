"""(d) Cold start of the command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.harness import Row, Setting, median, spend

_GOAL = 0.25
_TIMES = 9
_HELP = [sys.executable, "-m", "otelreplay.cli.main", "--help"]


def bench(setting: Setting) -> Iterator[Row]:
    """``otelreplay --help`` against Python that does nothing; fresh processes, medians of 9."""
    seconds = median(lambda: spend(_HELP, folder=setting.folder).wall, _TIMES)
    bare = median(lambda: spend([sys.executable, "-c", "pass"], folder=setting.folder).wall, _TIMES)
    yield Row(
        "otelreplay --help from a cold start",
        f"{seconds * 1000:.0f} ms",
        f"python -c pass {bare * 1000:.0f} ms, imports {_imports() * 1000:.0f} ms",
        f"< {_GOAL * 1000:.0f} ms",
        seconds < _GOAL,
    )


def _imports() -> float:
    """Seconds that imports take, as ``-X importtime`` adds them up."""
    found = subprocess.run([sys.executable, "-X", "importtime", *_HELP[1:]], capture_output=True, text=True, check=True)
    lines = [line.split("|") for line in found.stderr.splitlines() if line.startswith("import time:") and "self" not in line]
    return sum(int(own.partition(":")[2]) for own, _, _ in lines) / 1e6
