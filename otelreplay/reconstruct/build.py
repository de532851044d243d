"""Drafts in their order → events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otelreplay.events import Event
from otelreplay.reconstruct import order
from otelreplay.reconstruct.draft import Draft
from otelreplay.reconstruct.tree import above

_REQUEST_ORDER = (
    "api",
    "provider",
    "model",
    "params",
    "system",
    "messages",
    "tools",
    "arguments",
    "call_id",
    "query",
    "input",
    "config",
)
_RESPONSE_ORDER = ("messages", "finish_reasons", "usage", "id", "model", "result", "as_seen", "output")


def events_of(ordered: Sequence[Draft]) -> tuple[Event, ...]:
    """One event a draft, numbered."""
    at = {draft: n for n, draft in enumerate(ordered)}
    after: list[list[int]] = []
    out = []
    for n, draft in enumerate(ordered):
        after.append(order.reduced(draft, at, after))
        out.append(_event(draft, n, at, after[n]))
    return tuple(out)


def _event(draft: Draft, seq: int, at: dict[Draft, int], after: list[int]) -> Event:
    request = _side(draft, "request", _REQUEST_ORDER)
    response = _side(draft, "response", _RESPONSE_ORDER)
    fields = draft.fields
    return Event(
        seq=seq,
        id=draft.id,
        kind=draft.kind,
        name=draft.name,
        parent=None if draft.parent is None else at.get(draft.parent),
        after=after,
        agent=_agent(draft),
        request=request,
        response=response or None,
        error=fields.get("error"),
        effect=fields.get("effect"),
        idempotency_key=fields.get("idempotency_key"),
        start=str(draft.start) if draft.start else None,
        end=str(draft.end) if draft.end else None,
        versions=fields.get("versions") or {},
        spans=draft.spans,
        attributes=draft.leftovers,
        inferred=sorted(draft.inferred, key=lambda m: m.field),
        missing=sorted(draft.missing, key=lambda m: (m.field, m.cause, m.detail)),
        request_keys={},  # every default that is a container is given: pydantic would copy it
        redactions=[],
    )


def _side(draft: Draft, side: str, names: Sequence[str]) -> dict[str, Any]:
    return {name: draft.fields[f"{side}.{name}"] for name in names if f"{side}.{name}" in draft.fields}


def _agent(draft: Draft) -> str | None:
    named = draft.fields.get("agent")
    return str(named) if named else next((up.name for up in above(draft) if up.kind == "agent"), None)
