"""What became of the spans of this process, as ``flush`` tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from otelreplay.instrument.store import add_losses


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushResult:
    """Where the spans of this process are, counted since ``configure``. Spans that have not ended are in ``open`` alone."""

    sent: int
    """Acknowledged by the receiver."""
    pending: int
    """Held here: in the outbox, or (``durable=False``) in memory."""
    lost: int
    """Given up; ``reasons`` says why."""
    open: int
    """Started and not ended."""
    durable: bool
    """What is pending survives the end of this process."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Lost spans by reason: a stable code each."""
    error: str = ""
    """Why the last attempt to send failed; empty when it did not."""

    @property
    def complete(self) -> bool:
        """Everything that ended is with the receiver."""
        return not self.pending and not self.lost


@dataclass(slots=True)
class Counts:
    """Running totals. Each member is written by one thread only: the first two by the writer, the others by the sender."""

    kept: int = 0
    lost_here: dict[str, int] = field(default_factory=dict)
    sent: int = 0
    given_up: dict[str, int] = field(default_factory=dict)
    error: str = ""

    def result(self, *, open_spans: int, durable: bool) -> FlushResult:
        """The totals as a value."""
        reasons = dict(self.lost_here)
        add_losses(reasons, self.given_up)
        given_up = sum(self.given_up.values())
        return FlushResult(
            sent=self.sent, pending=max(self.kept - self.sent - given_up, 0), lost=sum(reasons.values()),
            open=open_spans, durable=durable, reasons=reasons, error=self.error,
        )  # fmt: skip
