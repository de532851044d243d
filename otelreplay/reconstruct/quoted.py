"""Ids of calls that only an agent's output tells: its conversation, put out beside its answer (CrewAI).

    tool span       find {"id": 1}
    agent's output  {"raw": …, "tasks_output": [{"messages": [{"tool_calls": [{"id": "c1", "function": …}]}]}]}

A tool has its id from there if as many calls of its name and arguments are told as tools of them ran inside that agent; they
are taken in order. Where the numbers differ nobody can tell which is whose, and none gets an id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from otelreplay import canonical
from otelreplay.dialects.values import decoded
from otelreplay.reconstruct.draft import Draft, names_alike
from otelreplay.reconstruct.tree import by_agent

_DEEP: Final = 6
"""Steps down to a list of messages."""
_Key = tuple[str, str]


def name_calls(drafts: Sequence[Draft]) -> None:
    """Gives tools without a call id the one that an agent around them tells."""
    nameless = [
        d for d in drafts if d.kind == "tool" and not d.exact and d.has("request.arguments") and not d.has("request.call_id")
    ]
    if not nameless:
        return
    for agent, inside in by_agent(nameless).items():
        told: dict[str, _Key] = {}
        for call_id, name, arguments in _calls(agent.fields.get("response.output")):
            told.setdefault(call_id, (name, canonical.digest_value(decoded(arguments))))
        if told:
            _give(agent, [d for d in inside if not d.has("request.call_id")], told)


def _give(agent: Draft, tools: Sequence[Draft], told: dict[str, _Key]) -> None:
    ran: dict[str, list[Draft]] = {}
    for tool in sorted(tools, key=lambda d: (d.start, d.id)):
        ran.setdefault(canonical.digest_value(decoded(tool.fields["request.arguments"])), []).append(tool)
    for digest, same in ran.items():
        for name in sorted({tool.name for tool in same}):
            named = [tool for tool in same if tool.name == name]
            ids = [call_id for call_id, (asked, given) in told.items() if given == digest and names_alike(asked, name)]
            if len(ids) == len(named):
                for tool, call_id in zip(named, ids, strict=True):
                    source = f"{agent.id}:response.output"
                    tool.infer("request.call_id", call_id, source=source, rule="call_id_from_agent_output")


def _calls(value: Any, deep: int = _DEEP) -> Iterator[tuple[str, str, Any]]:
    """(id, name, arguments) of the calls in every list of chat messages below a value."""
    if isinstance(value, dict) and deep:
        for name, inner in value.items():
            if name == "messages" and isinstance(inner, list):
                yield from (call for message in inner for call in _asked(message))
            else:
                yield from _calls(inner, deep - 1)
    elif isinstance(value, list) and deep:
        for inner in value:
            yield from _calls(inner, deep - 1)


def _asked(message: Any) -> Iterator[tuple[str, str, Any]]:
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(call.get("id"), str) and isinstance(function.get("name"), str):
            yield call["id"], function["name"], function.get("arguments")
