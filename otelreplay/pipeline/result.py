"""What a conversion did, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from otelreplay.spans import Rejected

Outcome = Literal["written", "revised", "unchanged"]

REJECTED_KEPT = 1000
"""How many refusals a result lists; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedRun:
    """One run of the input and the cassette that now holds it."""

    run_id: str
    revision: int
    cassette: str
    """Name of the cassette in its store: a file name where the store is a folder."""
    outcome: Outcome
    """``unchanged``: the store held an equal cassette, which was left alone. ``revised``: it held another one of this run,
    which is kept under ``superseded``."""
    superseded: str | None = None
    verdict: str = "partial"
    events: int = 0
    missing: int = 0
    """Gaps of all events and of the run as a whole."""
    spans: int = 0
    logs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertResult:
    """The whole conversion."""

    runs: tuple[ConvertedRun, ...]
    spans: int = 0
    """Distinct spans that were taken in."""
    logs: int = 0
    duplicates: int = 0
    """Spans that came again with the same content."""
    conflicts: int = 0
    """Spans that came again with other content; all are kept, and the events flagged."""
    unplaced_logs: int = 0
    """Log records without a trace id, which no run could take."""
    rejected: tuple[Rejected, ...] = ()
    """What was refused, and why: the first of them, at most :data:`REJECTED_KEPT`."""
    rejected_total: int = 0
    input_notes: tuple[tuple[str, int], ...] = ()
    """What was read leniently or passed over, by code of ``inputs.NOTES``, and how often."""
