"""How one request is delivered, and what the answer means for it.

The answer decides what happens to the spans:

    taken     they are removed from the outbox; what the receiver says it rejected of them is counted and shown
    refused   the receiver will never take this very data: it is split, and the span that is at fault is given up
    later     everything else. Also what OTLP calls not retryable but is no fault of the data (a wrong token, a wrong path, a
              bug on the other side): an outbox exists so that somebody can put that right

Source: OTLP specification (opentelemetry-proto, docs/specification.md), "Failures".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of one request."""

    outcome: Literal["taken", "refused", "later"]
    rejected: int = 0
    """Spans of a taken request that the receiver did not keep (partial success)."""
    reason: str = ""
    """A short word for reports: ``HTTP 503``, ``UNAVAILABLE``, ``ConnectionRefusedError``. Holds no text of the receiver."""
    message: str = ""
    """What the receiver says about it; may quote payload."""
    wait: float | None = None
    """Seconds that the receiver asked to wait."""


class Transport(Protocol):
    """One connection, made when it is needed. For one thread, but for :meth:`cancel`."""

    def send(self, data: bytes, timeout: float) -> Answer:
        """Deliver one ExportTraceServiceRequest; never raises."""

    def cancel(self) -> None:
        """From another thread: end the request that is under way, at once."""

    def close(self) -> None:
        """Close the connection; the next request makes another."""
