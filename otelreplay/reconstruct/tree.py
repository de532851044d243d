"""Who is whose parent, and which spans tell of the same boundary.

One call often leaves several spans: the framework's over the SDK's over the HTTP client's, or a client's and a server's. Rules,
in this order; the spans of one boundary become one event that names them all:

1. Model: a span inside another model span, with no agent or tool between them, is the same call, unless both have a response id
   and these differ, or both have a reply and these differ.
2. Model: two spans with the same response id of which one holds no content and which overlap in time, wherever they stand.
3. Tool: a span inside another tool span, with no agent or model between them, is the same call when their names are alike
   (equal, or one is the other inside a server's name space).

The main span is the one with content, the outer one on a tie. Fields that only another has are added, never replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from otelreplay.reconstruct.draft import Draft

_CONTENT = ("request.messages", "response.messages", "request.arguments", "response.result")
_SEPARATORS = ("__", "-", ".", ":", "/", "_")


def link(drafts: Iterable[Draft]) -> dict[str, Draft]:
    """Sets each draft's parent to the draft of the nearest span above it; returns the drafts by span key."""
    by_key = {d.id: d for d in drafts}
    for draft in by_key.values():
        span = draft.span
        if span is not None and span.parent_span_id:
            draft.parent = by_key.get(f"{span.trace_id}/{span.parent_span_id}")
    _cut_loops(by_key.values())
    return by_key


def _cut_loops(drafts: Iterable[Draft]) -> None:
    """Parent links of hostile input may run in a circle. Each draft is walked over once, however deep they nest."""
    safe: set[Draft] = set()
    for draft in drafts:
        seen, at = {draft}, draft
        while at.parent is not None and at.parent not in safe:
            if at.parent in seen:
                at.parent = None
                break
            at = at.parent
            seen.add(at)
        safe |= seen


def above(draft: Draft) -> Iterator[Draft]:
    """The drafts above, nearest first."""
    at = draft.parent
    while at is not None:
        yield at
        at = at.parent


def by_agent(drafts: Iterable[Draft]) -> dict[Draft, list[Draft]]:
    """The drafts inside each agent, at any depth, in their order."""
    found: dict[Draft, list[Draft]] = {}
    for draft in drafts:
        for up in above(draft):
            if up.kind == "agent":
                found.setdefault(up, []).append(draft)
    return found


def merge(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts with those of one boundary made one, in the same order."""
    into: dict[Draft, Draft] = {}
    for draft in drafts:
        target = _outer(draft) if draft.kind in ("model", "tool") else None
        if target is not None:
            _join(target, draft, into)
    by_response: dict[str, list[Draft]] = {}
    for draft in drafts:
        response = draft.fields.get("response.id")
        if draft.kind == "model" and isinstance(response, str) and response:
            by_response.setdefault(response, []).append(draft)
    for group in by_response.values():
        if len(group) > 1:
            _merge_by_response(group, into)
    if not into:
        return list(drafts)
    kept = [d for d in drafts if _root(d, into) is d]
    for draft in drafts:
        if draft.parent is not None:
            draft.parent = _root(draft.parent, into)
            if draft.parent is draft:
                draft.parent = next((a for a in above_of(draft, into) if a is not draft), None)
    return kept


def above_of(draft: Draft, into: dict[Draft, Draft]) -> Iterator[Draft]:
    """The merged drafts above a merged one: of all the spans that it was made of."""
    members = [d for d in into if _root(d, into) is draft] + [draft]
    for member in members:
        for up in above(member):
            root = _root(up, into)
            if root is not draft:
                yield root


def _root(draft: Draft, into: dict[Draft, Draft]) -> Draft:
    while draft in into:
        draft = into[draft]
    return draft


def _outer(draft: Draft) -> Draft | None:
    """The draft above a model's or a tool's that tells of the same boundary."""
    for up in above(draft):
        if up.kind == draft.kind:
            same = same_model(up, draft) if draft.kind == "model" else names_alike(up.name, draft.name)
            return up if same else None
        if up.kind != "context":
            return None
    return None


def same_model(a: Draft, b: Draft) -> bool:
    """Nothing that both hold contradicts that these are one call."""
    return all(
        a.fields[f] == b.fields[f] for f in ("response.id", "response.messages", "request.messages") if a.has(f) and b.has(f)
    )


def names_alike(a: str, b: str) -> bool:
    """Equal, or one is the other inside a name space."""
    long, short = (a, b) if len(a) > len(b) else (b, a)
    return a == b or (bool(short) and any(long.endswith(s + short) for s in _SEPARATORS))


def _merge_by_response(group: Sequence[Draft], into: dict[Draft, Draft]) -> None:
    holders = [d for d in group if _root(d, into) is d and _content(d)]
    for draft in group:
        if _root(draft, into) is not draft or _content(draft):
            continue
        near = [h for h in holders if h.start <= draft.end and draft.start <= h.end]
        if near:
            _join(min(near, key=lambda h: (abs(h.start - draft.start), h.id)), draft, into)


def _content(draft: Draft) -> int:
    return sum(draft.has(f) for f in _CONTENT)


def _join(outer: Draft, inner: Draft, into: dict[Draft, Draft]) -> None:
    a, b = _root(outer, into), _root(inner, into)
    if a is b:
        return
    main, other = (b, a) if _content(b) > _content(a) else (a, b)
    into[other] = main
    for name, value in other.fields.items():
        main.fields.setdefault(name, value)
    main.gaps = {name: gap for name, gap in main.gaps.items() if name not in main.fields}
    for gap in other.gaps.values():
        main.explain(gap)
    main.missing += [m for m in other.missing if m not in main.missing]
    main.spans = [*main.spans, *sorted(set(other.spans) - set(main.spans))]
    rest = {k: v for k, v in other.leftovers.items() if k not in main.leftovers or main.leftovers[k] != v}
    if rest:
        main.leftovers.setdefault("otelreplay.also", {})[other.id] = rest
    main.recognised |= other.recognised
    if other is a and any(
        up is a for up in above(main)
    ):  # the inner span held the content: it stands where the outer one stood
        main.parent = a.parent
