"""The tools that stand in for those of the program: what ``--tool`` names, and whether that covers the recording. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

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
    live: bool = False
    """It really runs (``--live-tool``)."""


def parse(given: Sequence[str], *, live: Sequence[str] = ()) -> tuple[Tool, ...]:
    """``[NAME=]MODULE:FUNCTION`` each. Without a name, the function's own. ``live``: those that really run."""
    found = (*(_one(text) for text in given), *(replace(_one(text), live=True) for text in live))
    both = {tool.name for tool in found if tool.live} & {tool.name for tool in found if not tool.live}
    if both:
        raise UsageError(
            "a tool is answered from the cassette or really runs, not both",
            code="run.tool_name",
            where=min(both),
            next_step="name it by --tool or by --live-tool",
        )
    return found


def unseen(tools: Collection[Tool], messages: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """A sentence for each tool whose module no process of the run has loaded, by what they said."""
    seen = {(m.get("name"), m.get("target")) for m in messages if m.get("type") == "replaced"}
    return tuple(
        f"no process of the run loaded the module of {tool.name}={tool.target}"
        for tool in tools
        if (tool.name, tool.target) not in seen
    )


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
    return json.dumps([{"name": tool.name, "target": tool.target, **({"live": True} if tool.live else {})} for tool in tools])
