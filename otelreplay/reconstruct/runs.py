"""What a run is called."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from otelreplay.spans import Span


def run_id(spans: Iterable[Span], *, tenant: str = "") -> str:
    """32 hex digits: a digest of the tenant and the trace id of the earliest root (the lowest id on a tie)."""
    everything = list(spans)
    roots = [s for s in everything if not s.parent_span_id] or everything
    first = min(roots, key=lambda s: (s.start, s.trace_id), default=None)
    return hashlib.sha256(f"{tenant}\0{first.trace_id if first else ''}".encode()).hexdigest()[:32]
