"""How an agent ended, compared with how the recorded one did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from otelreplay.canonical import digest_value
from otelreplay.events import Event, Failure
from otelreplay.events.fields import within
from otelreplay.replay.bindings import Bindings
from otelreplay.replay.carried import gaps_of
from otelreplay.replay.diff import Difference, compare
from otelreplay.replay.holes import Skeletons


@dataclass(frozen=True, slots=True, eq=False)
class Ending:
    """How an agent ended at replay."""

    output: Any = None
    error: BaseException | None = None
    said: bool = True
    """Whether the output could be read."""


def ending_differs(event: Event, now: Ending, skeletons: Skeletons, bindings: Bindings) -> Difference | str | None:
    """The difference; a text that says why it was not compared; None if there is none."""
    was = event.error
    if (was is None) != (now.error is None):
        return Difference(
            "error.type", None if was is None else was.type, None if now.error is None else name_of(now.error), "changed"
        )
    if was is not None and now.error is not None:
        return None if _same_kind(was, now.error) else Difference("error.type", was.type, name_of(now.error), "changed")
    gap = next((g for g in gaps_of(event) if within("response.output", g.field) or within(g.field, "response.output")), None)
    if gap is not None:
        return f"missing in the recording: {gap.cause}"
    response = event.response or {}
    if "output" not in response or not now.said:
        return "the output was not recorded" if now.said else "the output cannot be read"
    return value_differs(response["output"], now.output, "response.output", skeletons, bindings)


def value_differs(was: Any, now: Any, field: str, skeletons: Skeletons, bindings: Bindings) -> Difference | None:
    """How a value that the program gave differs from the recorded one, placeholders by what they stand for."""
    recorded, old = skeletons.value(was, field)
    live, new = skeletons.value(now, field)
    pairs = bindings.fits(old, new)
    if digest_value(recorded) == digest_value(live) and pairs is not None:
        bindings.bind(pairs)
        return None
    found = compare(was, now, field, skeletons, most=1)
    return found[0] if found else Difference(field, was, now, "changed")


def name_of(error: BaseException) -> str:
    """``module.Qualified.Name``; of a built-in, its name alone."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _same_kind(was: Failure, now: BaseException) -> bool:
    """By class name; modules move, and some conventions leave them out."""
    recorded = (was.type or "").replace(":", ".").rpartition(".")[2]
    return not recorded or recorded == type(now).__qualname__.rpartition(".")[2]
