"""A divergence in one line, and what it says in a few: the same words in text, SARIF and JUnit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.report.side_by_side import text_of
from otelreplay.report.text import clip, escape

_ROOM = 160


def headline(found: Any, *, path: bool = False) -> str:
    """``replay.request_changed: event 4, tool refund, in agent desk``."""
    if not isinstance(found, Mapping):
        return str(found)
    event = f"event {found['seq']}, " if found.get("seq") is not None else ""
    what = " ".join(str(found[name]) for name in ("boundary", "operation") if found.get(name))
    what = str(found.get("boundary")) if found.get("boundary") == found.get("operation") else what
    agent = found.get("agent") or found.get("received_agent")
    inside = f", in agent {agent}" if agent and found.get("boundary") != "agent" else ""
    field = f", {found['path']}" if path and found.get("path") else ""
    if found.get("kind") == "unexpected_call":  # the event is another one: what was expected in its place
        instead = f", where event {found['seq']} was expected" if event else ""
        return f"{found.get('code')}: {what}{inside}{instead}"
    return f"{found.get('code')}: {event}{what}{inside}{field}"


def says(found: Mapping[str, Any]) -> list[str]:
    """The field that differs with both sides, and the sentence about it; as short lines, not escaped."""
    lines = []
    if found.get("change"):
        change = str(found["change"])
        lines.append(f"{found.get('path')} ({change})")
        for side, other in (("expected", "added"), ("received", "removed")):
            lines.append(f"{side}: {'(not there)' if change == other else clip(escape(text_of(found.get(side))), _ROOM)}")
    if found.get("detail"):
        place = f"{found['path']} is missing: " if found.get("path") and not found.get("change") else ""
        lines.append(f"{place}{found['detail']}")
    if found.get("remedy"):
        lines.append(str(found["remedy"]))
    return lines
