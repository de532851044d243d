"""The tools that stand in for those of the program: what ``--tool`` names, and whether that covers the recording. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from otelreplay.errors import UsageError
from otelreplay.events import Event
from otelreplay.replay.carried import is_own
from otelreplay.replay.score import SERVED

VARIABLE: Final = "OTELREPLAY_RUN_TOOLS"
"""A JSON list of ``{"name", "target"}``, for the Python programs of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One function that is replaced."""

    name: str
    """As the recording calls it."""
    target: str
    """``module:function``."""


def parse(given: Sequence[str]) -> tuple[Tool, ...]:
    """``[NAME=]MODULE:FUNCTION`` each. Without a name, the function's own."""
    return tuple(_one(text) for text in given)


def _one(text: str) -> Tool:
    name, equals, target = text.rpartition("=")
    module, colon, function = target.partition(":")
    if not (module and colon and function) or (equals and not name):
        raise UsageError(
            "this names no tool",
            code="run.tool_name",
            where=text,
            next_step="write it as module:function, or NAME=module:function",
        )
    return Tool(name=name or function.rpartition(".")[2], target=target)


def uncovered(events: Sequence[Event], tools: Collection[Tool], *, others: Collection[str] = ()) -> tuple[str, ...]:
    """Names of recorded tools that nothing stands in for; ``others``: names that are covered in another way.

    A tool that a decorated function recorded is covered by its decorator. What ran inside of another call is not called again.
    """
    known = {tool.name for tool in tools} | set(others)
    at = {event.seq: event for event in events}
    called = [event for event in events if event.kind == "tool" and not is_own(event) and not _inside(event, at)]
    return tuple(sorted({event.name for event in called} - known))


def _inside(event: Event, at: Mapping[int, Event]) -> bool:
    seen: set[int] = set()
    parent = event.parent
    while parent is not None and parent in at and parent not in seen:
        if at[parent].kind in SERVED:
            return True
        seen.add(parent)
        parent = at[parent].parent
    return False


def as_variable(tools: Collection[Tool]) -> str:
    """The value of :data:`VARIABLE`."""
    return json.dumps([{"name": tool.name, "target": tool.target} for tool in tools])
