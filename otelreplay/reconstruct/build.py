"""Drafts in their order → events."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, get_args

from otelreplay.events import Event, Kind, Missing, made
from otelreplay.reconstruct import order
from otelreplay.reconstruct.draft import Draft

# fmt: off
_REQUEST = (
    "api", "provider", "model", "params", "system", "messages", "tools", "arguments", "call_id", "query", "inputs", "input",
    "config",
)
# fmt: on
_RESPONSE = ("messages", "finish_reasons", "usage", "id", "model", "extra", "result", "as_seen", "output", "chunks", "stream")
_KINDS = frozenset(get_args(Kind))
_AS_SENT = frozenset({"effect", "idempotency_key"})
"""Fields of an event whose values are what a sender wrote: to be checked."""
_TIMES = 10**20
"""No time has more digits than 20."""
_field = attrgetter("field")
_REQUEST_FIELDS = {f"request.{name}": name for name in _REQUEST}
_RESPONSE_FIELDS = {f"response.{name}": name for name in _RESPONSE}


def events_of(ordered: Sequence[Draft]) -> tuple[Event, ...]:
    """One event a draft, numbered."""
    at = {draft: n for n, draft in enumerate(ordered)}
    after: list[list[int]] = []
    agents: dict[Draft, str | None] = {}
    out = []
    for n, draft in enumerate(ordered):
        after.append(order.reduced(draft, at, after))
        out.append(_event(draft, n, at, after[n], agents))
    return tuple(out)


def _event(draft: Draft, seq: int, at: dict[Draft, int], after: list[int], agents: dict[Draft, str | None]) -> Event:
    fields = draft.fields
    named = fields.get("agent")
    members: dict[str, Any] = {
        "seq": seq,
        "id": draft.id,
        "kind": draft.kind,
        "name": draft.name,
        "parent": None if draft.parent is None else at.get(draft.parent),
        "after": after,
        "agent": str(named) if named else _agent_above(draft, agents),
        "request": _side(fields, _REQUEST_FIELDS),
        "request_keys": {},
        "request_hash": None,
        "response": _side(fields, _RESPONSE_FIELDS) or None,
        "error": fields.get("error"),
        "effect": fields.get("effect"),
        "idempotency_key": fields.get("idempotency_key"),
        "start": str(draft.start) if draft.start else None,
        "end": str(draft.end) if draft.end else None,
        "versions": fields.get("versions") or {},
        "spans": draft.spans,
        "attributes": draft.leftovers,
        "inferred": sorted(draft.inferred, key=_field) if draft.inferred else [],
        "missing": sorted(draft.missing, key=_place) if draft.missing else [],
        "redactions": [],
    }
    if draft.kind not in _KINDS or fields.keys() & _AS_SENT or not (0 <= draft.start < _TIMES and 0 <= draft.end < _TIMES):
        return Event(**members)
    return made(Event, members)


def _side(fields: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """The fields of one side under their short names, in the order of ``names``."""
    return {name: fields[field] for field, name in names.items() if field in fields}


def _place(gap: Missing) -> tuple[str, str, str]:
    return gap.field, gap.cause, gap.detail


def _agent_above(draft: Draft, known: dict[Draft, str | None]) -> str | None:
    """The name of the nearest agent around a draft. ``known`` holds it for others, and takes it for all that is walked over."""
    walked, at, name = [draft], draft.parent, None
    while at is not None:
        if at.kind == "agent":
            name = at.name
            break
        if at in known:
            name = known[at]
            break
        walked.append(at)
        at = at.parent
    known.update(dict.fromkeys(walked, name))
    return name
