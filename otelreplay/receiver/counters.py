"""What the receiver did, counted; the numbers behind ``status``."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

REMEMBERED = 50
"""Refusals of which place and reason are kept."""
_REFUSED = "refused."


class Counters:
    """Counts by name, for several threads. ``before``: what earlier processes counted."""

    def __init__(self, before: Mapping[str, int] | None = None) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter(before or {})
        self._recent: deque[str] = deque(maxlen=REMEMBERED)

    def add(self, **counts: int) -> None:
        """Add to counts."""
        with self._lock:
            for name, number in counts.items():
                if number:
                    self._counts[name] += number

    def refuse(self, reason: str, count: int = 1, *, said: str = "") -> None:
        """Count what was not taken in under a short reason; ``said`` is remembered, and must not quote payload."""
        with self._lock:
            self._counts[_REFUSED + reason] += count
            if said:
                self._recent.append(said)

    def snapshot(self) -> dict[str, int]:
        """Every count by name."""
        with self._lock:
            return dict(self._counts)

    def recent(self) -> list[str]:
        """The last refusals, as they were said."""
        with self._lock:
            return list(self._recent)


def status_of(counts: Mapping[str, int]) -> dict[str, Any]:
    """The counts as ``status`` shows them."""

    def get(name: str) -> int:
        return counts.get(name, 0)

    return {
        "received": {name: get(f"received_{name}") for name in ("requests", "spans", "logs", "bytes")},
        "stored": {"spans": get("stored_spans"), "logs": get("stored_logs")},
        "duplicates": {"spans": get("duplicate_spans"), "logs": get("duplicate_logs")},
        "conflicts": get("conflicts"),
        "late": {"spans": get("late_spans"), "logs": get("late_logs")},
        "unplaced_logs": get("unplaced_logs"),
        "metrics_dropped": get("metrics_dropped"),
        "refused": {name.removeprefix(_REFUSED): n for name, n in sorted(counts.items()) if name.startswith(_REFUSED)},
        "sealed": {name: get(f"sealed_{name}") for name in ("written", "revised", "unchanged", "set_aside")},
    }
