"""A small trace that may be a piece of a run: one model call, or tools only, without an agent around it."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.dialects import Interner
from otelreplay.dialects.values import decoded
from otelreplay.events import Message
from otelreplay.reconstruct.draft import Draft
from otelreplay.reconstruct.observe import draft_of, views_of
from otelreplay.reconstruct.tree import link, merge
from otelreplay.reconstruct.turns import tool_calls, turn_at
from otelreplay.spans import LogRecord, Span, unify_logs, unify_spans

SMALL_TRACE = 4
"""Spans at most in a trace that may be a single boundary: the call, the SDK's own span, HTTP below it."""

_RECENT = 8
"""Requests that are tried as the beginning of another: as many conversations may go on side by side."""
_MANY = 20_000
"""Messages and definitions that are remembered of other traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A tool call in a reply, or a tool span, by what they have in common."""

    call_id: str
    name: str
    arguments: str
    """A digest; empty where they are not known."""
    start: int
    """When the reply was asked for, or the tool started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """What there is of a trace to join it to others by."""

    trace_id: str
    start: int
    asks: tuple[Asked, ...] = ()
    """The calls of its model replies."""
    ran: tuple[Asked, ...] = ()
    """Its tool spans."""
    loose: bool = False
    """Nothing but tools, and steps of packages around them: surely a piece of another run."""
    lone: bool = False
    """Nothing but one model call, a root."""
    sends: frozenset[bytes] = frozenset()
    """Of a lone call: a digest for each beginning of its request that ends in an assistant turn."""
    leaves: bytes = b""
    """Of a lone call: the digest of its request with its reply behind it; empty when it has none."""
    certain: bool = False
    """Its history holds tool calls."""
    told: frozenset[str] = frozenset()
    """Call ids that its request answers and does not quote: the server keeps the history."""
    follows: str = ""
    """The response id that it says it goes on from."""
    response: str = ""
    asked: bytes = b""
    """Of a lone call: the digest of its request."""
    blanks: frozenset[bytes] = frozenset()
    """Of a lone call: a digest for each beginning of its request that ends in front of a turn without parts, and answers."""
    hollow: bool = False
    """An agent with tools and without any model call: those may be traces of their own."""
    told_again: bool = False
    """Nothing but one model call, a root, which has a response id: another package may tell the same call elsewhere."""
    responses: frozenset[str] = frozenset()
    """The response ids of its model calls."""


class Histories:
    """What was read and digested of the histories of earlier traces.

    An agent whose every call is a trace of its own repeats the history in each of them. As in one run, its messages are one
    object in all, and of a request that goes on from an earlier one only what is new is digested.
    """

    def __init__(self) -> None:
        self._interner = Interner()
        self._last: deque[tuple[list[Message], bytes, _Ends]] = deque(maxlen=_RECENT)

    def interner(self) -> Interner:
        """The messages known so far; forgotten when they are many."""
        if self._interner.size > _MANY:
            self._interner = Interner()
            self._last.clear()
        return self._interner

    def ends(self, request: list[Message], system: bytes) -> _Ends:
        """Digests of the beginnings of a request, where ``system`` is the digest of what stands before it."""
        start, known = 0, _Ends(system, system)
        for held, before, ends in reversed(self._last):
            if before == system and start < len(held) <= len(request) and all(map(is_, held, request)):
                start, known = len(held), ends
        known = known.after(request, start)
        if request and request[-1].get("role") != "assistant":  # else its last turn may go on
            self._last.append((request, system, known))
        return known


def fragment_of(spans: Sequence[Span], logs: Sequence[LogRecord], histories: Histories | None = None) -> Fragment:
    """The joining points of one whole trace. ``histories``: what is known from other traces."""
    histories = histories or Histories()
    views, _ = views_of(unify_spans(spans), unify_logs(logs))
    interner = histories.interner()
    drafts = [draft_of(view, interner, []) for view in views]
    link(drafts)
    kept = [d for d in merge(drafts) if d.recognised and d.kind != "context"]
    models, tools = [d for d in kept if d.kind == "model"], [d for d in kept if d.kind in ("tool", "retrieval")]
    first = min((d.start for d in drafts), default=0)
    trace_id = drafts[0].id.partition("/")[0] if drafts else ""
    common: dict[str, Any] = {
        "trace_id": trace_id,
        "start": first,
        "asks": tuple(a for d in models for a in _asks(d)),
        "ran": tuple(map(_ran, tools)),
        "responses": frozenset(str(d.fields["response.id"]) for d in models if d.fields.get("response.id")),
    }
    if tools and not models and not any(map(_is_cut_off, drafts)):
        common["hollow"] = any(d.kind == "agent" for d in kept)
    if len(kept) == 1 and models and _is_root(models[0]) and common["responses"]:
        common["told_again"] = True
    if kept and kept == tools and all(d.recognised for d in drafts) and not any(_is_cut_off(d) for d in drafts):
        return Fragment(**common, loose=True)
    if len(kept) == 1 and models and _is_root(models[0]) and models[0].fields.get("request.messages"):
        return Fragment(**common, lone=True, **_ends(models[0], histories))
    return Fragment(**common)


def _is_cut_off(draft: Draft) -> bool:
    """Does its parent belong to a span that did not arrive?"""
    return draft.parent is None and bool(draft.span and draft.span.parent_span_id)


def _is_root(draft: Draft) -> bool:
    """Is nothing above it but other spans of its own, such as a framework's span of the same call?"""
    if draft.parent is not None or draft.span is None or not draft.span.parent_span_id:
        return draft.parent is None
    return f"{draft.span.trace_id}/{draft.span.parent_span_id}" in draft.spans


def _asks(model: Draft) -> list[Asked]:
    return [
        Asked(
            call_id=str(part.get("id") or ""),
            name=str(part.get("name") or ""),
            arguments=_digest(part.get("arguments")),
            start=model.start,
        )
        for message in model.fields.get("response.messages") or ()
        for _, part in tool_calls(message)
    ]


def _ran(tool: Draft) -> Asked:
    return Asked(
        call_id=str(tool.fields.get("request.call_id") or ""),
        name=tool.name,
        arguments=_digest(tool.fields.get("request.arguments")),
        start=tool.start,
    )


def _digest(arguments: object) -> str:
    return "" if arguments is None else canonical.digest_value(decoded(arguments))


class _Ends(msgspec.Struct, frozen=True):
    """Chained digests over the turns of a request; ``bare``: without the ids of its calls."""

    state: bytes
    bare: bytes
    certain: bool = False
    sends: frozenset[bytes] = frozenset()
    quoted: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    blanks: frozenset[bytes] = frozenset()

    def after(self, request: Sequence[Message], at: int) -> _Ends:
        """With the turns from ``at`` on."""
        state, bare, certain, sends, quoted, told = self.state, self.bare, self.certain, set[bytes](), set[str](), set[str]()
        blanks = set[bytes]()
        while at < len(request):
            turn = turn_at(request, at)
            at += len(turn)
            if turn[0].get("role") == "assistant" and not turn[0]["parts"] and at < len(request) and _answers(request[at]):
                blanks.add(state)
            same = bare == state
            state, said = _step(state, turn)
            bare = state if same and not said else _step(bare, turn, ids=False)[0]
            certain |= said
            if turn[0].get("role") == "assistant":
                sends |= {state, bare}
            quoted |= {str(p.get("id")) for m in turn for _, p in tool_calls(m)}
            told |= {str(p["id"]) for m in turn for p in m["parts"] if p.get("type") == "tool_call_response" and p.get("id")}
        return _Ends(state, bare, certain, self.sends | sends, self.quoted | quoted, self.told | told, self.blanks | blanks)


def _answers(message: Message) -> bool:
    return any(p.get("type") == "tool_call_response" for p in message["parts"])


def _ends(model: Draft, histories: Histories) -> dict[str, Any]:
    """Where a lone call's history begins and ends, as chained digests over its turns."""
    request, reply = model.fields["request.messages"], model.fields.get("response.messages") or []
    system = hashlib.sha256(canonical.jcs(model.fields.get("request.system") or [])).digest()
    found = histories.ends(request, system)
    leaves, said = _step(found.state, reply) if reply else (b"", False)
    nameless = said and not any(p.get("id") for m in reply for _, p in tool_calls(m))  # its history may give its calls ids
    if nameless:
        leaves = _step(found.bare, reply, ids=False)[0]
    params = model.fields.get("request.params") or {}
    return {
        "sends": found.sends,
        "leaves": leaves,
        "asked": found.state,
        "blanks": found.blanks,
        "certain": (found.certain or said) and not nameless,
        "told": found.told - found.quoted,
        "follows": str(params.get("previous_response.id") or ""),
        "response": str(model.fields.get("response.id") or ""),
    }


def _step(state: bytes, turn: Sequence[Message], *, ids: bool = True) -> tuple[bytes, bool]:
    """(The digest with one more turn, whether it holds tool calls). Without ``ids``: whatever the ids of these are.

    Text beside tool calls is left out, since some packages drop it from the history, and so is reasoning, which is not always
    sent back. Where an assistant's text is split does not matter.
    """
    calls = [p for m in turn for _, p in tool_calls(m)]
    parts = [p for m in turn for p in m["parts"] if p.get("type") != "reasoning"]
    said: Any = [p.get("content") if p.get("type") == "text" else p for p in parts]
    if calls:
        said = [[p.get("id") if ids else None, p.get("name"), p.get("arguments")] for p in calls]
    elif turn[0].get("role") == "assistant" and all(isinstance(x, str) for x in said):
        said = "".join(said)
    return hashlib.sha256(state + canonical.jcs([turn[0].get("role"), said])).digest(), bool(calls)
