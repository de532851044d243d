"""A whole run as values: its events and what is known to be absent from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from otelreplay.events.model import Event, Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something worth a look that is neither a gap nor an error: clock skew, an ambiguous pairing, a duplicate."""

    code: str
    message: str
    spans: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The reconstruction of one run."""

    run_id: str
    """Hex digest of tenant and the trace id of the earliest root; never text from a payload."""
    trace_ids: tuple[str, ...]
    events: tuple[Event, ...]
    missing: tuple[Missing, ...] = ()
    """Run-level gaps: boundaries that no event can hold."""
    notes: tuple[Note, ...] = ()
    resources: tuple[dict[str, Any], ...] = ()
    """Resource attributes of the senders, each once."""
    scopes: tuple[str, ...] = ()
    """``name version`` of every instrumentation scope seen."""
    continues: str | None = None
    """Run id or conversation id that this run resumes."""
    span_count: int = 0
    log_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """What a recording holds and what it does not."""

    verdict: str
    """``full`` (every boundary has request and response), ``partial``, or ``structure_only`` (no content at all)."""
    events: int
    by_kind: dict[str, int] = field(default_factory=dict)
    recorded: int = 0
    """Content fields (a request or a response of a boundary) that were recorded."""
    inferred: int = 0
    absent: int = 0
    missing: tuple[Missing, ...] = ()
    """Run-level gaps."""
    gaps: tuple[tuple[int, Missing], ...] = ()
    """(event seq, gap) for every gap of an event."""
    redactions: int = 0
