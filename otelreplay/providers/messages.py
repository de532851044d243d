"""What the codecs of all APIs do with whole messages.

``extra`` on a message holds what the wire had beside role, name and content. Three keys in it are this package's own:

- ``role``: the wire's word where the GenAI role alone does not say it (``function``);
- ``joined: True``: the wire had this message and the one before it in one (Anthropic and Gemini put the results of tools into
  a user message; GenAI messages with results have the role ``tool``);
- in the ``extra`` of a request, ``system_messages``: how ``system`` was spread over messages, if not in the usual way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from otelreplay.providers.fields import as_dict, as_list
from otelreplay.providers.parts import Part, generic, is_generic

Message = dict[str, Any]

INSTRUCTING = ("system", "developer")


def assemble(role: str, parts: list[Part], rest: dict[str, Any]) -> Message:
    """A message of what was read and what was left."""
    message: Message = {"role": role, "parts": parts}
    if isinstance(rest.get("name"), str):
        message["name"] = rest.pop("name")
    return message | ({"extra": rest} if rest else {})


def opaque(value: Any) -> Message:
    """A message that nobody understood."""
    return {"role": "unknown", "parts": [generic(value, "message")]}


def opened(message: Any) -> tuple[Any, list[Any], dict[str, Any]] | None:
    """(role, parts, extra) of a GenAI message; None for what is none or was made by :func:`opaque`."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None
    parts = as_list(message.get("parts"))
    if len(parts) == 1 and is_generic(parts[0], "message"):
        return None
    extra = as_dict(message.get("extra"))
    if "name" in message:
        extra["name"] = message["name"]
    return message["role"], parts, extra


def closed(message: Any) -> Any:
    """The wire's value of a message for which :func:`opened` answered None."""
    parts = as_list(message.get("parts")) if isinstance(message, dict) else []
    return parts[0]["value"] if len(parts) == 1 and is_generic(parts[0], "message") else message


def parted(role: str, parts: list[Part], rest: dict[str, Any]) -> list[Message]:
    """One wire message as messages of one role each: results of tools have the role ``tool``."""
    if role == "assistant" or not any(_is_result(p) for p in parts):
        return [assemble(role, parts, rest)]
    messages = [
        assemble("tool" if result else role, list(group), rest if first else {"joined": True})
        for first, result, group in _runs(parts)
    ]
    return messages


def _runs(parts: list[Part]) -> Iterable[tuple[bool, bool, list[Part]]]:
    for n, (result, group) in enumerate(groupby(parts, _is_result)):
        yield n == 0, result, list(group)


def _is_result(part: Part) -> bool:
    return part.get("type") == "tool_call_response"


def rejoined(messages: Iterable[Any]) -> list[list[Any]]:
    """GenAI messages by the wire message they belong to; what is no message stands alone."""
    groups: list[list[Any]] = []
    for message in messages:
        found = opened(message)
        if found is not None and found[2].get("joined") is True and groups and opened(groups[-1][0]) is not None:
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def split_system(messages: list[Any]) -> tuple[list[Part] | None, list[Any], list[dict[str, Any]]]:
    """(parts of the leading system and developer messages, the other messages, one entry for each leading message).

    The parts are None where there is no such message. An entry says the role, the number of parts, and what else was there.
    """
    parts: list[Part] = []
    layout: list[dict[str, Any]] = []
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in INSTRUCTING:
            break
        own = as_list(message.get("parts"))
        parts += own
        layout.append({"parts": len(own)} | {k: v for k, v in message.items() if k != "parts"})
    return (parts if layout else None), messages[len(layout) :], layout


def spread_system(
    system: Any, layout: Any, usual: Callable[[list[Any]], list[dict[str, Any]]]
) -> list[tuple[dict[str, Any], list[Part]]]:
    """The inverse: (entry, its parts) for each place that system parts stood in; the usual ones if the layout does not fit."""
    parts = as_list(system)
    entries = layout if fits(layout, len(parts)) else usual(parts)
    found, at = [], 0
    for entry in entries:
        found.append((entry, parts[at : at + entry["parts"]]))
        at += entry["parts"]
    return found


def fits(layout: Any, count: int) -> bool:
    """Is it a layout for that number of parts?"""
    if not isinstance(layout, list) or not all(isinstance(e, dict) and type(e.get("parts")) is int for e in layout):
        return False
    return all(e["parts"] >= 0 for e in layout) and sum(e["parts"] for e in layout) == count
