"""What a recording holds and what it does not, as numbers and a verdict.

Rules
-----
1. Every boundary owes *content fields*: what went in and what came out (:data:`CONTENT`). A failure is an outcome: an event
   with an error owes no response; so is what the model was told of a tool's result, and so are the chunks of a stream. A
   decorated function owes as its request what it was given, be that messages or not. Agents, contexts and the like are
   structure around the boundaries: their fields count where they are held or marked, and are not owed (:data:`OWING`).
2. A content field is *absent* when no value is there, or when a ``missing`` mark names it or the whole that it is in (but for
   causes of :data:`HELD_IN_PART`: what was cut is there, in part); *inferred* when an ``inferred`` mark names it, or one names
   each of its messages; else *recorded*.
3. A mark on a smaller part leaves its field recorded, and is a gap. Masked and pseudonymised text is held, in another form,
   and is no gap; what a policy dropped carries a ``missing`` mark of the cause ``redacted``.
4. ``full``: no content field is absent, no gap lies in one, and the run as a whole misses nothing. ``structure_only``: no
   content field is held at all. ``partial``: anything between. Gaps in details (usage, ids, names) are listed and change no
   verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeVar

from otelreplay.events.message import Message, full_name, marked_messages
from otelreplay.events.model import Event, Inferred, Mark, Missing, Redaction
from otelreplay.events.recording import Completeness

_Kind = TypeVar("_Kind", bound=Mark)

Verdict = Literal["full", "partial", "structure_only"]

CONTENT: dict[str, tuple[str, ...]] = {
    "agent": ("request.input", "response.output"),
    "model": ("request.messages", "response.messages"),
    "embeddings": ("request.inputs",),
    "tool": ("request.arguments", "response.result"),
    "retrieval": ("request.query", "response.result"),
    "memory": ("request.query", "response.result"),
    "state": ("response",),
    "clock": ("response",),
    "random": ("response",),
    "id": ("response",),
}
"""The fields that hold what goes in and what comes out; ``request`` and ``response`` of every other kind."""

OWING = frozenset({"model", "tool", "retrieval", "state", "clock", "random", "id"})
"""Kinds of which a content field that is not there, and of which nothing is said, is absent nonetheless."""

HELD_IN_PART = frozenset({"truncated", "undecodable", "conflict", "never_ended"})
"""Causes of a gap that leave something of the field behind."""

_WHOLE = ("request", "response")
_ALSO_CONTENT = ("request.system", "error")
_OUTCOMES = {
    "response.result": ("response.as_seen", "response.chunks"),
    "response.messages": ("response.chunks", "response.result"),
}
_DECORATED = "otelreplay.function"
"""Attribute of an event that a decorator reported."""


def assess(events: Iterable[Event], missing: Iterable[Missing] = ()) -> Completeness:
    """The completeness of ``events``, where ``missing`` are the gaps that no event can hold."""
    kinds: Counter[str] = Counter()
    states = dict.fromkeys(("recorded", "inferred", "absent"), 0)
    gaps: list[tuple[int, Missing]] = []
    redactions, content_gap = 0, False
    for event in events:
        kinds[event.kind] += 1
        absent, inferred, redacted = event.missing, event.inferred, len(event.redactions)
        for prefix, message in marked_messages(event):  # as expand() does, but for what is only counted
            absent = [*absent, *_named(Missing, prefix, message)]
            inferred = [*inferred, *_named(Inferred, prefix, message)]
            redacted += sum(isinstance(mark, Redaction) for mark in message.marks)
        for _, state in _states(event, absent, inferred):
            states[state] += 1
        if absent:
            gaps += [(event.seq, gap) for gap in absent]
            content_gap = content_gap or any(is_content_gap(event, gap) for gap in absent)
        redactions += redacted
    run_level = tuple(missing)
    verdict: Verdict = "partial"
    if not states["recorded"] + states["inferred"]:
        verdict = "structure_only"
    elif not (states["absent"] or content_gap or run_level):
        verdict = "full"
    return Completeness(
        verdict=verdict,
        events=kinds.total(),
        by_kind=dict(sorted(kinds.items())),
        recorded=states["recorded"],
        inferred=states["inferred"],
        absent=states["absent"],
        missing=run_level,
        gaps=tuple(gaps),
        redactions=redactions,
    )


def _named(kind: type[_Kind], prefix: str, message: Message) -> list[_Kind]:
    """The marks of one kind of a message, under full names."""
    return [m.model_copy(update={"field": full_name(prefix, m)}) for m in message.marks if isinstance(m, kind)]


def content_states(event: Event) -> Iterator[tuple[str, str]]:
    """(field, ``recorded`` | ``inferred`` | ``absent``) for each content field of an expanded event."""
    return _states(event, event.missing, event.inferred)


def _states(event: Event, missing: list[Missing], inferred: list[Inferred]) -> Iterator[tuple[str, str]]:
    owing = event.kind in OWING
    for field in CONTENT.get(event.kind, _WHOLE):
        state = _state(event, field, missing, inferred)
        if state != "absent" or owing or any(covers(mark, field) for mark in missing):
            yield field, state


def is_content_gap(event: Event, gap: Missing) -> bool:
    """Does the gap lie in a content field, or is such a field part of what it names?"""
    fields = (*CONTENT.get(event.kind, _WHOLE), *_ALSO_CONTENT)
    return any(covers(gap, field) or _within(gap.field, field) for field in fields)


def covers(mark: Mark, field: str) -> bool:
    """Is the mark about this field, or about the whole that it is in?"""
    return _within(field, mark.field)


def value_at(event: Event, field: str) -> tuple[bool, Any]:
    """(is it there, the value) of ``request``, ``response`` or one of their direct members."""
    side, _, member = field.partition(".")
    holder: Any = getattr(event, side)
    if not member:
        return bool(holder), holder
    return (True, holder[member]) if holder is not None and member in holder else (False, None)


def _state(event: Event, field: str, missing: list[Missing], inferred: list[Inferred]) -> str:
    there, value = value_at(event, field)
    for other in _OUTCOMES.get(field, ()) if not there else ():
        held, found = value_at(event, other)
        if held:
            there, value, field = True, found, other
    if not there and field.startswith("response") and event.error is not None:
        there, field = True, "error"
    if not there and event.kind != "agent" and _DECORATED in event.attributes and _is_whole(event, field):
        there, value = True, None
    if not there or any(covers(mark, field) and mark.cause not in HELD_IN_PART for mark in missing):
        return "absent"
    return "inferred" if inferred and _is_inferred(inferred, field, value) else "recorded"


def _is_whole(event: Event, field: str) -> bool:
    """Is all there that a decorated function was given? Not each has messages, or a query, among its arguments."""
    return field.startswith("request.") and not any(_within(mark.field, field) for mark in event.missing)


def _is_inferred(marks: list[Inferred], field: str, value: Any) -> bool:
    """Does a mark name the field, or one each of its messages?"""
    named = {mark.field for mark in marks}
    if field in named or any(covers(mark, field) for mark in marks):
        return True
    if not isinstance(value, list) or not 0 < len(value) <= len(named):
        return False
    return named.issuperset(f"{field}[{n}]" for n in range(len(value)))


def _within(inner: str, outer: str) -> bool:
    """Is ``inner`` the field ``outer`` or a part of it?"""
    return inner == outer or (inner.startswith(outer) and inner[len(outer)] in ".[")
