"""Log records of an agent, in the order in which it wrote them, and numbers that it writes as text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from otelreplay.spans import LogRecord
from otelreplay.spans.identity import fingerprint

NS_PER_MS = 1_000_000


def number(value: Any) -> int | None:
    """A whole number, also one that stands as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def numbers(record: LogRecord, names: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Attributes that are numbers, under other names."""
    found = {ours: number(record.attributes.get(theirs)) for theirs, ours in names}
    return {name: value for name, value in found.items() if value is not None}


def time_of(record: LogRecord) -> int:
    """When a record was written, in ns."""
    return record.time or record.observed_time


def began(record: LogRecord, attribute: str = "duration_ms") -> int:
    """When what a record tells of began: it is written at the end, with the duration."""
    return time_of(record) - (number(record.attributes.get(attribute)) or 0) * NS_PER_MS


def in_sequence(records: Iterable[LogRecord], counter: str = "event.sequence") -> list[LogRecord]:
    """By the counter that the agent keeps, where it keeps one, else by time; what is equal by content."""

    def place(record: LogRecord) -> tuple[int, int, bytes]:
        return time_of(record), number(record.attributes.get(counter)) or 0, fingerprint(record)

    return sorted(records, key=place)


def digest(record: LogRecord) -> str:
    """A name for a record that holds no id."""
    return hashlib.sha256(fingerprint(record)).hexdigest()[:16]
