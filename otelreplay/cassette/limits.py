"""Bounds on what a reader takes in; all of them hold before memory is spent, not after."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Refuse a cassette beyond these. The defaults fit runs of several thousand turns; widen them for one file on purpose."""

    bytes: int = 1 << 30
    """Bytes after decompression."""
    line: int = 64 << 20
    """Bytes of one line."""
    lines: int = 4_000_000
    depth: int = 320
    """Nesting of objects and arrays on one line."""
    expanded: int = 32_000_000
    """Entries of all message lists together once their prefixes are written out: a chain of prefixes grows by the square."""
    problems: int = 100
    """Problems that are reported one by one."""


DEFAULT_LIMITS = Limits()
