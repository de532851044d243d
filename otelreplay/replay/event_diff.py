"""Two recorded events side by side, with the eyes of a replay: what a replay does not compare is no difference here either.

A placeholder equals any other of its rule: two recordings have their own keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from otelreplay.canonical import digest_value
from otelreplay.events import Event
from otelreplay.matching import KeyMemo, request_components
from otelreplay.replay.causes import cause_of
from otelreplay.replay.diff import MOST, NOTHING, Difference, compare, differences
from otelreplay.replay.divergence import CauseClass
from otelreplay.replay.holes import Skeletons

RESPONSE: Final = ("messages", "result", "as_seen", "output", "finish_reasons", "chunks")
"""Fields of a response that are what was answered; ids and usage are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDiff:
    """What differs between two events. False if nothing does."""

    differences: tuple[Difference, ...] = ()
    cause: CauseClass | None = None
    """The class of the first of them, by its place."""
    cut: bool = False
    """There may be more than those listed."""

    def __bool__(self) -> bool:
        return bool(self.differences)


def diff(was: Event, now: Event, *, response: bool = True, skeletons: Skeletons | None = None, most: int = MOST) -> EventDiff:
    """The differences of two events, at most so many: kind, name, request, versions, and with ``response`` what came back."""
    skeletons = skeletons or Skeletons()
    found: list[Difference] = []
    for name in ("kind", "name"):
        if was.kind in ("model", "embeddings") and name == "name":
            continue  # a model's name is part of the request
        found += compare(getattr(was, name), getattr(now, name), name, skeletons)
    if was.kind == now.kind:
        found += differences(was.request, now.request, _components(was, now, skeletons), skeletons, most)
    found += compare(was.versions, now.versions, "versions", skeletons, most)
    if response:
        found += _answers(was, now, skeletons, most)
    cause = cause_of(found[0], was.request) if found else None
    if found and cause == "code" and found[0].path.startswith(("response", "error")) and was.kind in ("tool", "retrieval"):
        cause = "tool result"
    return EventDiff(differences=tuple(found[:most]), cause=cause, cut=len(found) >= most)


def _components(was: Event, now: Event, skeletons: Skeletons) -> list[str]:
    """The components of a request that differ, in the order in which they stand."""
    memo = KeyMemo()
    old, new = (request_components(e.kind, e.name, skeletons.request(e.kind, e.request).request, memo) for e in (was, now))
    names = [c for c in dict.fromkeys([*old, *new]) if c != "name" and old.get(c) != new.get(c)]
    return sorted(names, key=lambda c: _place(c, {**was.request, **now.request}))


def _place(component: str, request: dict[str, Any]) -> int:
    return next((n for n, field in enumerate(request) if component.startswith(field)), len(request))


def _answers(was: Event, now: Event, skeletons: Skeletons, most: int) -> list[Difference]:
    old, new = was.response or {}, now.response or {}
    found: list[Difference] = []
    for name in RESPONSE:
        if name == "chunks" and any("result" in side or "messages" in side for side in (old, new)):
            continue  # a stream is cut otherwise each time; what it amounts to has been compared
        found += compare(old.get(name, NOTHING), new.get(name, NOTHING), f"response.{name}", skeletons, most)
    if (was.error is None) != (now.error is None) or (was.error and now.error and was.error.type != now.error.type):
        old_type, new_type = (None if e.error is None else e.error.type for e in (was, now))
        found.append(Difference("error.type", old_type, new_type, "changed"))
    elif was.error and now.error and digest_value(was.error.message) != digest_value(now.error.message):
        found += compare(was.error.message, now.error.message, "error.message", skeletons)
    return found
