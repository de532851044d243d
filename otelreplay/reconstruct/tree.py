"""Who is whose parent, and which spans tell of the same boundary.

One call often leaves several spans: the framework's over the SDK's over the HTTP client's, or a client's and a server's. Rules,
in this order; the spans of one boundary become one event that names them all:

1. Model: a span inside another model span, with no agent or tool between them, is the same call, unless both have a response id
   and these differ, or both have a reply and these differ, or requests without a common reply do.
2. Model: two spans with the same response id that overlap in time, wherever they stand, if one of them holds no content, or one
   is within the other and they are of two packages that tell the same reply. Also, without such an id on one side, if one holds
   no content, stands beside the other inside the same span, one within the time of the other, is of another package, tells the
   same model and numbers of tokens, and there is no other that it could be.
3. Tool: a span inside another tool span, with no agent or model between them, is the same call when their names are alike
   (equal, or one is the other inside a server's name space), or when both have the same call id.
4. HTTP: a client's span inside a model's, with no other boundary between them, is how that call travelled.
5. Decorated: see ``decorated``.

6. Model: a span that was made to tell a stream's reply is the call beside it, inside the same span, that began last before it,
   has no reply of its own and asked the same.

The main span is the one with content, the outer one on a tie. Fields that only another has are added; messages of which it has
but the roles, or less than another, are replaced by the whole ones.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from otelreplay import canonical
from otelreplay.dialects.values import decoded
from otelreplay.events import Message
from otelreplay.reconstruct import decorated
from otelreplay.reconstruct.draft import Draft, above, names_alike

_MESSAGES = ("request.messages", "response.messages")
_CONTENT = (*_MESSAGES, "request.arguments", "response.result")
_HOLDING = frozenset({"content", "response", "arguments", "uri", "value"})
"""Keys of a part under which its content stands."""
_CLIENT = 3
_AT_ONCE = 64
"""Calls that run side by side and are looked at for one that tells the same."""
_HTTP = ("http.request.method", "http.method")


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
    same = decorated.same_boundary(drafts)
    for draft in drafts:
        target = same.get(draft)
        if target is None and not draft.exact:
            target = _outer(draft) if draft.kind in ("model", "tool") else _caller(draft)
        if target is not None:
            _join(target, draft, into)
    for draft in drafts:
        if draft.told_afterwards:
            _merge_stream(draft, drafts, into)
    by_response: dict[str, list[Draft]] = {}
    for draft in drafts:
        response = draft.fields.get("response.id")
        if draft.kind == "model" and isinstance(response, str) and response:
            by_response.setdefault(response, []).append(draft)
    for group in by_response.values():
        if len(group) > 1:
            _merge_by_response(group, into)
    _merge_beside(drafts, into)
    if not into:
        return list(drafts)
    kept = [d for d in drafts if _root(d, into) is d]
    for draft in kept:
        if draft.joined:
            decorated.complete(draft)
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
            if up.exact:
                return None
            same = same_model(up, draft) if draft.kind == "model" else _same_tool(up, draft)
            return up if same else None
        if up.kind != "context":
            return None
    return None


def _same_tool(a: Draft, b: Draft) -> bool:
    """Are their names alike, or is it one call by its id?"""
    ids = [d.fields.get("request.call_id") for d in (a, b)]
    return names_alike(a.name, b.name) or (bool(ids[0]) and ids[0] == ids[1])


def _caller(draft: Draft) -> Draft | None:
    """The model call that an HTTP client's span carried."""
    span = draft.span
    if draft.kind != "context" or span is None or span.kind != _CLIENT or not any(a in span.attributes for a in _HTTP):
        return None
    up = next((up for up in above(draft) if up.kind != "context"), None)
    return up if up is not None and up.kind == "model" else None


def same_model(a: Draft, b: Draft) -> bool:
    """Nothing that both hold contradicts that these are one call."""
    ids = [d.fields["response.id"] for d in (a, b) if d.has("response.id")]
    if len(ids) == 2:
        return bool(ids[0] == ids[1])
    for field in ("response.messages", "request.messages"):
        if _weight(a, field) and _weight(b, field):
            return a.fields[field] == b.fields[field] or _said(a.fields[field]) == _said(b.fields[field])
    return True


def _said(messages: Iterable[Message]) -> list[Any]:
    """What was said, whoever wrote it down: text without white space at its ends, calls without ids, answers as text."""
    out: list[Any] = []
    for message in messages:
        for part in message["parts"]:
            if part.get("type") == "tool_call":
                out.append((part.get("name"), canonical.jcs(part.get("arguments") or {})))
            elif part.get("type") in ("text", "tool_call_response"):
                told = decoded(part.get("content") if part["type"] == "text" else part.get("response"))
                out.append(told.strip() if isinstance(told, str) else canonical.jcs(told))
    return [x for x in out if x]


def _weight(draft: Draft, field: str) -> tuple[int, ...]:
    """(parts with content, parts with an id) of messages; () for none of both."""
    held = draft.fields.get(field)
    if not isinstance(held, list):
        return ()
    parts = [p for m in held for p in m["parts"]]
    whole = sum(bool(p.keys() & _HOLDING) for p in parts)
    return (whole, sum(bool(p.get("id")) for p in parts)) if whole else ()


def _merge_stream(told: Draft, drafts: Sequence[Draft], into: dict[Draft, Draft]) -> None:
    """Join what tells of a stream to the call that it is of."""
    beside = [
        d
        for d in drafts
        if d.kind == "model" and not d.told_afterwards and d not in into and d.parent is told.parent and d.start <= told.start
        and not d.has("response.messages") and not d.has("error") and _trace(d) == _trace(told) and same_model(d, told)
    ]  # fmt: skip
    if beside:
        call = max(beside, key=lambda d: (d.start, d.id))
        start, end = call.start, max(call.end, told.end)
        _join(call, told, into)
        main = _root(call, into)
        main.start, main.end = start, end


def _trace(draft: Draft) -> str:
    return draft.span.trace_id if draft.span is not None else ""


def _merge_by_response(group: Sequence[Draft], into: dict[Draft, Draft]) -> None:
    holders = [d for d in group if _root(d, into) is d and _content(d)]
    for draft in group:
        if _root(draft, into) is not draft or _content(draft):
            continue
        near = [h for h in holders if h.start <= draft.end and draft.start <= h.end]
        if near:
            _join(min(near, key=lambda h: (abs(h.start - draft.start), h.id)), draft, into)
    for draft in holders:
        around = [h for h in holders if _is_within(draft, h) and h not in into and draft not in into]
        if around:
            _join(min(around, key=lambda h: (h.end - h.start, h.id)), draft, into)


def _merge_beside(drafts: Sequence[Draft], into: dict[Draft, Draft]) -> None:
    """Join each empty call to the one beside it that tells the same call: a package that does not make its span the parent."""
    models: dict[Draft | None, list[Draft]] = {}
    for draft in drafts:
        if draft.kind == "model" and draft not in into and not draft.exact:
            models.setdefault(draft.parent, []).append(draft)
    for beside in models.values():
        hollow = [d for d in beside if not _content(d) and not d.has("error")] if len(beside) > 1 else []
        whole = sorted((d for d in beside if _content(d)), key=lambda d: (d.start, d.id)) if hollow else []
        starts = [d.start for d in whole]
        taken = []
        for draft in hollow:
            until = bisect_right(starts, draft.end)
            taken.append((draft, [o for o in whole[max(0, until - _AT_ONCE) : until] if _tells_the_same(draft, o)]))
        claims = Counter(other for _, found in taken for other in found)
        for draft, found in taken:
            if len(found) == 1 and claims[found[0]] == 1:
                _join(found[0], draft, into)


def _tells_the_same(hollow: Draft, whole: Draft) -> bool:
    if hollow.scope == whole.scope or _trace(hollow) != _trace(whole):
        return False
    tokens = [
        [(d.fields.get("response.usage") or {}).get(n) for n in ("input_tokens", "output_tokens")] for d in (hollow, whole)
    ]
    named = [d.fields.get("request.model") for d in (hollow, whole)]
    within = (hollow.start - whole.start) * (hollow.end - whole.end) <= 0  # one inside the other, whichever is outside
    return within and None not in tokens[0] and tokens[0] == tokens[1] and named[0] == named[1] and same_model(hollow, whole)


def _is_within(inner: Draft, outer: Draft) -> bool:
    """Does another package's span of another trace, which stands around this one in time, tell the same reply?"""
    if inner is outer or inner.scope == outer.scope or _trace(inner) == _trace(outer):
        return False
    replies = [_said(d.fields.get("response.messages") or ()) for d in (inner, outer)]
    return outer.start <= inner.start and inner.end <= outer.end and replies[0] == replies[1]


def _content(draft: Draft) -> int:
    return sum(bool(_weight(draft, f)) if f in _MESSAGES else draft.has(f) for f in _CONTENT)


def _join(outer: Draft, inner: Draft, into: dict[Draft, Draft]) -> None:
    a, b = _root(outer, into), _root(inner, into)
    if a is b:
        return
    swap = b.exact if a.exact != b.exact else _content(b) > _content(a)
    main, other = (b, a) if swap else (a, b)
    into[other] = main
    if main.exact:
        main.joined.append(other)
    else:
        _fill(main, other)
    main.spans = [*main.spans, *sorted(set(other.spans) - set(main.spans))]
    rest = {k: v for k, v in other.leftovers.items() if k not in main.leftovers or main.leftovers[k] != v}
    if rest:
        main.leftovers.setdefault("otelreplay.also", {})[other.id] = rest
    main.recognised |= other.recognised
    if other is a and any(
        up is a for up in above(main)
    ):  # the inner span held the content: it stands where the outer one stood
        main.parent = a.parent


def _fill(main: Draft, other: Draft) -> None:
    for name in _MESSAGES:
        if name in main.fields and _weight(other, name) > _weight(main, name):
            main.fields[name] = other.fields[name]
    for name, value in other.fields.items():
        main.fields.setdefault(name, value)
    sent = other.fields.get("request.params")
    if isinstance(sent, dict) and sent.keys() - main.fields["request.params"].keys():
        main.fields["request.params"] = dict(sorted({**sent, **main.fields["request.params"]}.items()))
    main.gaps = {name: gap for name, gap in main.gaps.items() if name not in main.fields}
    for gap in other.gaps.values():
        main.explain(gap)
    main.missing += [m for m in other.missing if m not in main.missing]
