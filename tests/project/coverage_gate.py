"""Holds the pure core to its branch coverage: ``python -m tests.project.coverage_gate .coverage.json``.

Reads coverage.py's JSON report, prints branches and lines by room, and exits 1 if a room has less than 95 % of its branches
covered. A room that the report does not know has not been tested at all, and fails too.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.project.house import is_core

GOAL = 95.0
GATED = ("canonical", "events", "providers", "dialects", "reconstruct", "redaction", "matching", "cassette", "replay")


@dataclass
class Tally:
    """Counts over the files of one room."""

    branches: int = 0
    branches_hit: int = 0
    lines: int = 0
    lines_hit: int = 0

    def add(self, summary: dict[str, Any]) -> None:
        """Take one file's summary in."""
        self.branches += summary["num_branches"]
        self.branches_hit += summary["covered_branches"]
        self.lines += summary["num_statements"]
        self.lines_hit += summary["covered_lines"]

    @property
    def percent(self) -> float:
        """Covered branches of a hundred; a room without a branch is covered if its lines are."""
        hit, total = (self.branches_hit, self.branches) if self.branches else (self.lines_hit, self.lines)
        return 100.0 * hit / total if total else 0.0


def tally(report: dict[str, Any]) -> dict[str, Tally]:
    """Branch counts by gated room."""
    rooms = {room: Tally() for room in GATED}
    for file, entry in report["files"].items():
        module = file.replace("\\", "/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        room = module.removeprefix("otelreplay.").split(".")[0]
        if room in rooms and is_core(module):
            rooms[room].add(entry["summary"])
    return rooms


def main(path: str) -> int:
    """Print the table; 0 if every room reaches the goal."""
    rooms = tally(json.loads(Path(path).read_text(encoding="utf-8")))
    print(f"{'room':<12} {'branches':>14} {'lines':>14}")
    for room, t in rooms.items():
        verdict = "" if t.percent >= GOAL else f"   below {GOAL:g} %"
        counts = f"{t.branches_hit}/{t.branches}", f"{t.lines_hit}/{t.lines}"
        print(f"{room:<12} {counts[0]:>14} {counts[1]:>14} {t.percent:6.1f} %{verdict}")
    return int(any(t.percent < GOAL for t in rooms.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
