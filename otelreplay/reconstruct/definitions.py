"""Tool definitions that calls name by a digest, and that stand once in log records of their own (Claude Code).

    span of a call   tools = [{"name": "Bash", "hash": "c778…"}]
    log record       event.name = tool, tool_hash = c778…, tool = {"name": "Bash", "description": …, "input_schema": …}

A call has its tools from there if each of them is told: a list with some of them left out would be another request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from otelreplay.dialects import Interner
from otelreplay.dialects.claude_code import SCOPE
from otelreplay.dialects.values import read_tools
from otelreplay.dialects.wire import json_of
from otelreplay.reconstruct.draft import Draft
from otelreplay.spans import LogRecord

_TOOLS: Final = "tools"


def resolve(drafts: Iterable[Draft], records: Iterable[LogRecord]) -> None:
    """Gives calls without tool definitions those that they name."""
    told: dict[tuple[str, str], Any] = {}
    for record in records:
        digest = record.attributes.get("tool_hash")
        held = (
            json_of(record.attributes.get("tool")) if isinstance(digest, str) and record.scope.name.startswith(SCOPE) else None
        )
        if isinstance(held, dict) and isinstance(held.get("name"), str):
            told.setdefault((held["name"], str(digest)), held)
    known: dict[str, list[Any] | None] = {}
    interner = Interner()
    for draft in drafts if told else ():
        named = draft.span.attributes.get(_TOOLS) if draft.kind == "model" and draft.span is not None else None
        if not isinstance(named, str) or draft.has("request.tools"):
            continue
        if named not in known:
            known[named] = _found(json_of(named), told, interner)
        tools = known[named]
        if tools is not None:
            draft.infer("request.tools", tools, source=f"{draft.id}:attributes.{_TOOLS}", rule="tools_by_hash")


def _found(named: Any, told: Mapping[tuple[str, str], Any], interner: Interner) -> list[Any] | None:
    """The definitions of all that are named; None where one of them is nowhere."""
    if not isinstance(named, list) or not named or not all(isinstance(n, dict) for n in named):
        return None
    held = [told.get((str(n.get("name")), str(n.get("hash")))) for n in named]
    return None if None in held else read_tools(held, interner)
