"""The order of events: a deterministic linear extension of what must have come before what.

Hard edges: a parent before its children, a reply before the tool it asked for, a tool before the request that quotes its
result, a
reply before the request that quotes it. Among events that no edge orders, the clock decides, then the id. An event without a
clock reading (told only by others) stands right behind the one that asked for it. Clocks of different hosts may contradict the
edges: the edges win, and a note says so. Hostile input may hold a circle: it is cut at the earliest event.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from otelreplay.events import Note
from otelreplay.reconstruct.draft import Draft

Key = tuple[int, int, tuple[int, ...], str]


def sequence(drafts: Sequence[Draft], notes: list[Note]) -> list[Draft]:
    """The drafts in order; their ``before`` sets are completed with the parents and cleaned of what is not in the run."""
    known = set(drafts)
    for draft in drafts:
        draft.before &= known
        draft.before.discard(draft)
        if draft.parent is not None and draft.parent in known:
            draft.before.add(draft.parent)
    keys = {d: _key(d) for d in drafts}
    by_clock = sorted(drafts, key=keys.__getitem__)
    if _is_causal(by_clock):
        return by_clock
    out = _by_cause(drafts, keys, notes)
    _skew(out, notes)
    return out


def _is_causal(ordered: Sequence[Draft]) -> bool:
    """Does everything stand behind what must have come before it? Then no other order is wanted, and no clock is behind."""
    done: set[Draft] = set()
    for draft in ordered:
        if not draft.before <= done:
            return False
        done.add(draft)
    return True


def _by_cause(drafts: Sequence[Draft], keys: dict[Draft, Key], notes: list[Note]) -> list[Draft]:
    """Of all that may come next, always the first by its key."""
    waiting = {d: len(d.before) for d in drafts}
    followers: dict[Draft, list[Draft]] = {d: [] for d in drafts}
    for draft in drafts:
        for earlier in draft.before:
            followers[earlier].append(draft)
    ready = [(keys[d], d) for d in drafts if not waiting[d]]
    heapq.heapify(ready)
    out: list[Draft] = []
    done: set[Draft] = set()
    while len(out) < len(drafts):
        if not ready:
            ready = [_cut(drafts, done, waiting, keys, notes)]
        _, draft = heapq.heappop(ready)
        if draft in done:
            continue
        done.add(draft)
        out.append(draft)
        for follower in followers[draft]:
            waiting[follower] -= 1
            if not waiting[follower] and follower not in done:
                heapq.heappush(ready, (keys[follower], follower))
    return out


def _key(draft: Draft) -> Key:
    if draft.start:
        return (draft.start, 0, (), draft.id)
    asked = max((b.start for b in draft.before if b.start), default=0)
    asked = max(asked, draft.behind)
    return (asked, 1, draft.rank, draft.id)


def _cut(
    drafts: Sequence[Draft], done: set[Draft], waiting: dict[Draft, int], keys: dict[Draft, Key], notes: list[Note]
) -> tuple[Key, Draft]:
    draft = min((d for d in drafts if d not in done), key=lambda d: keys[d])
    draft.before = {b for b in draft.before if b in done}
    waiting[draft] = 0
    notes.append(
        Note(
            code="causal_circle",
            message="the spans contradict each other on what came first; cut at the earliest",
            spans=(draft.id,),
        )
    )
    return keys[draft], draft


def _skew(ordered: Sequence[Draft], notes: list[Note]) -> None:
    """One note for each event that its clock puts before something that must have come first."""
    for draft in ordered:
        late = [b for b in draft.before if draft.start and b.start > draft.start]
        if late:
            notes.append(
                Note(
                    code="clock_skew",
                    message="its clock is behind that of an event before it; order by cause, times untouched",
                    spans=(draft.id, min(b.id for b in late)),
                )
            )


def reduced(draft: Draft, at: dict[Draft, int], after: list[list[int]]) -> list[int]:
    """Positions of the direct predecessors: those that no other predecessor implies.

    ``after`` holds the result for every earlier position. The walk back stops at the lowest candidate; the parent, which
    stands far back for most events, is left out of it and judged by the chain of parents instead.
    """
    parent = draft.parent if draft.parent in draft.before else None
    found = sorted([at[b] for b in draft.before if b is not parent], reverse=True)
    kept = _unimplied(found, after) if len(found) > 1 else found
    if parent is not None and not any(_inside(b, parent) for b in draft.before if b is not parent):
        kept.append(at[parent])
    return sorted(kept)


def _unimplied(found: list[int], after: list[list[int]]) -> list[int]:
    """Of positions in descending order, those to which no way back leads from the others."""
    kept: list[int] = []
    lowest = found[-1]
    seen: set[int] = set()
    for position in found:
        if position in seen:
            continue
        kept.append(position)
        stack = [position]
        while stack:
            for earlier in after[stack.pop()]:
                if earlier >= lowest and earlier not in seen:
                    seen.add(earlier)
                    stack.append(earlier)
    return kept


def _inside(draft: Draft, parent: Draft) -> bool:
    at: Draft | None = draft.parent
    while at is not None and at is not parent:
        at = at.parent
    return at is parent
