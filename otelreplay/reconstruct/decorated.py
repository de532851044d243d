"""A decorated function and what other instrumentation saw of the same call: one boundary, told twice.

A decorator stands around the SDK's own span, or a framework's span around the decorated function. Where exactly one of the two
is a decorator's, both are of one kind, and no other boundary lies between them, they are one event:

- a model or a search inside or around a decorated one, however deep the contexts between;
- a tool or an agent whose names are alike (an agent that calls an agent of another name is two).

A span of others that covers several decorated calls is none of them. Two decorated functions are never one: each answers for
itself in a replay.

The decorated span is the main one whatever the others hold: its values are exact, and how the function ended is what the
program saw. Others only add fields that it does not have. Where several calls of an SDK hide in one decorated function (a
retry, a chain), none of their replies is the function's; they are kept beside it. What the decorated span itself carried of the
request is then listed in ``attributes["otelreplay.carries"]``: a replay sees no more of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from otelreplay.events import Inferred, Kind, Mark, Note
from otelreplay.matching import request_components
from otelreplay.reconstruct.draft import Draft, above, names_alike

CARRIES = "otelreplay.carries"
ALSO = "otelreplay.also"
_NAMED = ("tool", "agent")
_TITLE = "request.model"


def same_boundary(drafts: Iterable[Draft]) -> dict[Draft, Draft]:
    """Inner → outer draft of each pair of which exactly one is decorated and that is one boundary."""
    drafts = list(drafts)
    found: dict[Draft, Draft] = {}
    if any(d.exact for d in drafts):
        for draft in drafts:
            up = _around(draft) if draft.kind != "context" else None
            if up is not None and (draft.kind not in _NAMED or names_alike(up.name, draft.name)):
                found[draft] = up
    covered = Counter(up for draft, up in found.items() if draft.exact)
    return {draft: up for draft, up in found.items() if up.exact or covered[up] == 1}


def outside(drafts: Iterable[Draft]) -> list[Note]:
    """A note for each decorated call that ran while an agent did, and stands in none: its thread inherited no context."""
    drafts = list(drafts)
    agents = [d for d in drafts if d.exact and d.kind == "agent"]
    said = "ran while an agent did, outside of it: its thread was started in a way that carries no context"
    return [
        Note(code="outside_of_agent", message=f"{d.kind} {d.name} {said}; use otelreplay.copy_context", spans=(d.id,))
        for d in drafts
        if d.exact and d.parent is None and d.kind != "agent" and any(a.start <= d.start <= (a.end or d.start) for a in agents)
    ]


def _around(draft: Draft) -> Draft | None:
    """The nearest draft of its kind above of which just one is decorated; nothing but contexts and its own like between."""
    for up in above(draft):
        if up.kind == "context":
            continue
        if up.kind != draft.kind:
            return None
        if up.exact != draft.exact:
            return up
        if draft.exact:
            return None
    return None


def complete(main: Draft) -> None:
    """Adds to a decorated draft what only the spans that joined it hold."""
    others = sorted(main.joined, key=lambda d: (d.start, d.id))
    carried = _components(main)
    if main.kind == "model" and not main.has(_TITLE):
        main.name = next((str(other.fields[_TITLE]) for other in others if other.has(_TITLE)), main.name)
    replied = sum(any(name.startswith("response.") for name in other.fields) for other in others)
    for other in others:
        left = _add(main, other, replies=replied == 1 and not main.has("error"))
        if left:
            main.leftovers.setdefault(ALSO, {}).setdefault(other.id, {}).update(left)
    if _components(main) - carried:
        main.leftovers[CARRIES] = sorted(carried)


def _add(main: Draft, other: Draft, *, replies: bool) -> dict[str, Any]:
    """Fields that the main draft lacks, with their marks. Returns what stays beside it."""
    added: set[str] = set()
    left: dict[str, Any] = {}
    for name, value in other.fields.items():
        if name == "error" or (name.startswith("response.") and not replies):
            left[name] = value.model_dump() if name == "error" else value
        elif name == "request.params":
            main.fields[name] = {**value, **main.fields.get(name, {})}
        elif not main.has(name):
            main.fields[name] = value
            added.add(name)
    main.missing += [m for m in other.missing if _field(m) in added and m not in main.missing]
    main.inferred += [m for m in other.inferred if isinstance(m, Inferred) and _field(m) in added]
    main.gaps = {name: gap for name, gap in main.gaps.items() if name not in added}
    return left


def _field(mark: Mark) -> str:
    """``response.messages`` of ``response.messages[0].parts``."""
    return ".".join(mark.field.split(".")[:2]).partition("[")[0]


def _components(draft: Draft) -> set[str]:
    request = {name.removeprefix("request."): value for name, value in draft.fields.items() if name.startswith("request.")}
    return set(request_components(cast(Kind, draft.kind), draft.name, request))
