"""Which traces are one run, and what a run is called.

A trace is a run. An agent without a span of its own, though, leaves each model call as a trace of its own: such traces are
joined
when one goes on where the other stopped, that is, when the history that a request sends begins with the other call's request
and
reply, call ids included. A history that holds tool calls says it for certain (their ids and arguments are in it) and may go
on in
several ways; one of plain text may be somebody else's equal greeting, so there each call is continued once, by the nearest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otelreplay import canonical
from otelreplay.dialects import Interner
from otelreplay.events import Message
from otelreplay.reconstruct.observe import draft_of, views_of
from otelreplay.reconstruct.tree import link, merge
from otelreplay.spans import LogRecord, Span, unify_logs, unify_spans

SMALL_TRACE = 4
"""Spans at most in a trace that may be a single model call: the call, the SDK's own span, HTTP below it."""


def run_id(spans: Iterable[Span], *, tenant: str = "") -> str:
    """32 hex digits: a digest of the tenant and the trace id of the earliest root (the lowest id on a tie)."""
    everything = list(spans)
    roots = [s for s in everything if not s.parent_span_id] or everything
    first = min(roots, key=lambda s: (s.start, s.trace_id), default=None)
    return hashlib.sha256(f"{tenant}\0{first.trace_id if first else ''}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """A trace that is one model call, by the histories that it sends and leaves."""

    trace_id: str
    start: int
    sends: frozenset[bytes]
    """A digest for each beginning of its request that ends in an assistant turn."""
    leaves: bytes
    """The digest of its request with its reply behind it."""
    certain: bool
    """The history holds tool calls."""


def continuation_of(spans: Sequence[Span], logs: Sequence[LogRecord]) -> Continuation | None:
    """What the trace goes on from, if it is a single model call and nothing else."""
    if not 0 < len(spans) <= SMALL_TRACE:
        return None
    views, _ = views_of(unify_spans(spans), unify_logs(logs))
    interner = Interner()
    drafts = [draft_of(view, interner, []) for view in views]
    link(drafts)
    kept = [d for d in merge(drafts) if d.recognised]
    if (
        len(kept) != 1
        or kept[0].kind != "model"
        or kept[0].parent is not None
        or (kept[0].span and kept[0].span.parent_span_id)
    ):
        return None
    draft = kept[0]
    request, reply = draft.fields.get("request.messages"), draft.fields.get("response.messages")
    if not request or not reply:
        return None
    seeds = canonical.jcs(draft.fields.get("request.system") or [])
    sends, state, certain = set(), hashlib.sha256(seeds).digest(), False
    for n, message in enumerate(request):
        state, said = _step(state, message)
        certain |= said
        if message.get("role") == "assistant" and (n + 1 == len(request) or request[n + 1].get("role") != "assistant"):
            sends.add(state)
    for message in reply:
        state, said = _step(state, message)
        certain |= said
    return Continuation(
        trace_id=draft.id.partition("/")[0], start=draft.start, sends=frozenset(sends), leaves=state, certain=certain
    )


def _step(state: bytes, message: Message) -> tuple[bytes, bool]:
    """The digest with one more message; a text beside tool calls is left out, since some packages drop it from the history."""
    calls = [p for p in message["parts"] if p.get("type") == "tool_call"]
    said = [[p.get("id"), p.get("name"), p.get("arguments")] for p in calls] if calls else [_plain(p) for p in message["parts"]]
    return hashlib.sha256(state + canonical.jcs([message.get("role"), said])).digest(), bool(calls)


def _plain(part: dict[str, object]) -> object:
    return part.get("content") if part.get("type") == "text" else part


def join_traces(continuations: Iterable[Continuation]) -> list[tuple[str, ...]]:
    """Groups of trace ids that are one run each, in order of start; a group of one is left out."""
    ordered = sorted(continuations, key=lambda c: (c.start, c.trace_id))
    leaving: dict[bytes, list[Continuation]] = {}
    group: dict[str, list[str]] = {}
    for c in ordered:
        found = [e for digest in c.sends for e in leaving.get(digest, ())]
        if found:
            earlier = max(found, key=lambda e: (e.start, e.trace_id))
            members = group.setdefault(earlier.trace_id, [earlier.trace_id])
            members.append(c.trace_id)
            group[c.trace_id] = members
            if not earlier.certain:
                leaving[earlier.leaves].remove(earlier)
        leaving.setdefault(c.leaves, []).append(c)
    distinct = {id(members): members for members in group.values()}
    return sorted(tuple(members) for members in distinct.values())
