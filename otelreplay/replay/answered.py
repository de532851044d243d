"""Whether two recordings were answered alike, in what a program can act on.

Compared are a model's messages and why it stopped, a result, an agent's output, what a stream gave in all, and how a call
failed. Not compared are ids, usage, times and where a stream was cut: they differ from run to run and no request shows them.
What one of the two recordings does not hold is said to be unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from otelreplay.events import Event
from otelreplay.events.fields import within
from otelreplay.replay.bindings import Bindings
from otelreplay.replay.carried import gaps_of
from otelreplay.replay.diff import NOTHING, Difference, compare
from otelreplay.replay.holes import Skeletons

_AS_REQUEST: Final = "request.messages"
"""Messages are walked under this name, under which the ids of calls are no part of them."""
_MESSAGES: Final = "response.messages"


class Answers:
    """Compares the answers of paired events, and keeps which placeholder of the one stands for which of the other."""

    def __init__(self, skeletons: Skeletons, bindings: Bindings) -> None:
        self._skeletons, self._bindings = skeletons, bindings

    def same(self, was: Event, now: Event) -> bool:
        """Whether the answers are equal; changes nothing."""
        return not any(self._differences(was, now, bind=False))

    def differ(self, was: Event, now: Event) -> tuple[list[Difference], list[tuple[str, str]]]:
        """(the differences, the fields that could not be compared with the reason)."""
        found = list(self._differences(was, now, bind=True))
        return [d for d in found if isinstance(d, Difference)], [d for d in found if not isinstance(d, Difference)]

    def _differences(self, was: Event, now: Event, *, bind: bool) -> Iterator[Difference | tuple[str, str]]:
        ours, theirs = _said(was), _said(now)
        if was.kind == "model" and _MESSAGES in ours and _MESSAGES in theirs:  # what the function made of them follows
            ours.pop("response.result", None)
            theirs.pop("response.result", None)
        for field in dict.fromkeys([*ours, *theirs]):
            a, b = ours.get(field, NOTHING), theirs.get(field, NOTHING)
            lost = [cause for event, value in ((was, a), (now, b)) for cause in _lost(event, field, value)]
            if lost:
                yield from (() if not bind else ((field, lost[0]),))
                continue
            yield from self._of(a, b, field, bind=bind)

    def _of(self, was: Any, now: Any, field: str, *, bind: bool) -> Iterator[Difference]:
        inside = _AS_REQUEST if field == _MESSAGES else field
        found = compare(was, now, inside, self._skeletons)
        if found:
            yield from (replace(d, path=field + d.path.removeprefix(inside)) for d in found)
            return
        if was is NOTHING:
            return
        pairs = self._bindings.fits(self._skeletons.value(was, inside)[1], self._skeletons.value(now, inside)[1])
        if pairs is None:
            yield Difference(field, was, now, "changed")
        elif bind:
            self._bindings.bind(pairs)


def _said(event: Event) -> dict[str, Any]:
    """What counts of an answer, by field."""
    response = event.response or {}
    out = {f"response.{n}": response[n] for n in ("messages", "finish_reasons", "result", "output") if n in response}
    chunks = response.get("chunks")
    if isinstance(chunks, list | tuple):
        texts = all(isinstance(chunk, str) for chunk in chunks)
        out["response.chunks"] = "".join(chunks) if texts else list(chunks)
    if event.error is not None:
        kind = (event.error.type or "").replace(":", ".").rpartition(".")[2]
        out |= {"error.type": kind, "error.message": event.error.message}
    return out


def _lost(event: Event, field: str, value: Any) -> list[str]:
    """Why an event does not hold all of a field of its answer; nothing if it does."""
    return [
        f"missing in one of the recordings: {gap.cause}"
        for gap in gaps_of(event)
        if within(gap.field, field) or (value is NOTHING and within(field, gap.field))
    ]
