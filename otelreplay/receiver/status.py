"""What a receiver says about itself: counts and pending runs, never payload."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from otelreplay.receiver.counters import status_of
from otelreplay.receiver.inbox import Inbox, TraceState
from otelreplay.receiver.sealer import COUNTS

LISTED = 100
"""Pending traces that are listed; all are counted."""


def counts_in(inbox: Inbox) -> dict[str, int]:
    """The counts that an inbox keeps."""
    found: dict[str, int] = json.loads(inbox.facts().get(COUNTS, "{}"))
    return found


def status(inbox: Inbox, counts: Mapping[str, int], recent: Sequence[str] = ()) -> dict[str, Any]:
    """The status as a JSON object."""
    pending = inbox.pending()
    return {
        **status_of(counts),
        "pending": {
            "traces": len(pending),
            "spans": sum(state.spans for state in pending),
            "list": [_pending(state) for state in pending[-LISTED:]],
        },
        "recent_refusals": list(recent),
    }


def _pending(state: TraceState) -> dict[str, Any]:
    return {
        "trace_id": state.key.trace_id,
        "tenant": state.key.tenant,
        "spans": state.spans,
        "root_ended": state.ended,
        "last_arrival": str(state.arrived),
        "run_id": state.run or None,
    }
