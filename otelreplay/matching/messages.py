"""One form for every spelling of a message list, and a digest of it that grows with the list.

Theory of operation. A message becomes one or more *entries* (a role and its parts, without ids), each with a digest of its own
that does not depend on where it stands. What does depend on the rest of the list is which call a result answers; that is said
by ordinals and enters only the *chain*: ``c[n] = SHA-256(c[n-1] + digest of entry n + its ordinals)``. So an entry is digested
once in a run, and a list that continues another continues its chain. ``docs/matching-keys.md`` has the exact bytes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from otelreplay.canonical import jcs, read_json
from otelreplay.matching.semantics import PART_FIELDS

_SYSTEM_ROLES: Final = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Entry:
    """One message, or one tool result of it, in canonical form."""

    digest: bytes
    links: tuple[tuple[bool, str | None], ...] = ()
    """For each tool call and tool result in order: is it a result, and its call id (None: has none)."""


def entries_of(message: Any) -> tuple[Entry, ...]:
    """The entries of one message: what is not a tool result first or between, each tool result on its own."""
    if not isinstance(message, dict):
        return (Entry(_digest(message)),)
    role = message.get("role")
    found: list[Entry] = []
    run: list[Any] = []
    for part in parts_of(message):
        if isinstance(part, dict) and part.get("type") == "tool_call_response":
            if run:
                found.append(_entry(message, role, run))
            run = []
            body = {"parts": canonical_parts([part]), "role": "tool"}
            found.append(Entry(_digest(body), ((True, _call_id(part)),)))
        else:
            run.append(part)
    if run or not found:
        found.append(_entry(message, role, run))
    return tuple(found)


def is_system(message: Any) -> bool:
    """Whether a message instructs the model rather than talks to it."""
    return isinstance(message, dict) and message.get("role") in _SYSTEM_ROLES


def _entry(message: dict[str, Any], role: Any, parts: list[Any]) -> Entry:
    calls = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_call"]
    others = [part for part in parts if not (isinstance(part, dict) and part.get("type") == "tool_call")]
    body = {"role": "system" if is_system(message) else role, "parts": canonical_parts(others + calls)}
    if message.get("name") is not None:
        body["name"] = message["name"]
    return Entry(_digest(body), tuple((False, _call_id(call)) for call in calls))


def parts_of(message: dict[str, Any]) -> list[Any]:
    """The parts of a message; a bare ``content`` counts as one part."""
    parts = message.get("parts")
    if isinstance(parts, list):
        return parts
    content = message.get("content") if parts is None else parts
    return content if isinstance(content, list) else [] if content is None else [content]


def _call_id(part: dict[str, Any]) -> str | None:
    found = part.get("id")
    return None if found is None or found == "" else str(found)


def canonical_parts(parts: list[Any]) -> list[Any]:
    """Parts with only what matters: no ids, no nulls, no empty texts, neighbouring texts as one."""
    made: list[Any] = []
    for part in map(_part, parts):
        if _is_text(part):
            if made and _is_text(made[-1]):
                part = {"type": "text", "content": made.pop()["content"] + part["content"]}
            if not part["content"]:
                continue
        elif part == {"type": "text"}:  # null content
            continue
        made.append(part)
    return made


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("content"), str)


def _part(part: Any) -> Any:
    if isinstance(part, str):
        return {"type": "text", "content": part}
    if not isinstance(part, dict):
        return part
    kind = part.get("type")
    fields = PART_FIELDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        return {key: value for key, value in part.items() if value is not None and key != "id"}
    made = {"type": kind}
    for field in fields:
        value = part.get(field)
        if kind == "tool_call" and field == "arguments":
            value = arguments_of(value)
        elif kind == "tool_call_response":
            value = _result(part.get("result") if value is None else value)
        elif isinstance(value, bytes):
            value = base64.b64encode(value).decode()
        if value is not None:
            made[field] = value
    return made


def arguments_of(value: Any) -> Any:
    """Arguments as they are compared: none, null and empty text are no arguments; JSON text of an object is the object."""
    return {} if value is None or value == "" else settled(value)


def settled(value: Any) -> Any:
    """The value, or what it is the JSON text of where that is an object or a list."""
    if isinstance(value, str):
        found, decoded = read_json(value)
        if found and isinstance(decoded, dict | list):
            return decoded
    return value


def _result(value: Any) -> Any:
    """A result as the model sees it, which is text: JSON text equals its value, a list of texts their join."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and item.get("type") == "text" for item in value):
        texts = [item.get("content", item.get("text")) for item in value]
        if all(isinstance(text, str) for text in texts):
            value = "".join(texts)
    return read_json(value)[1] if isinstance(value, str) else value


def _digest(value: Any) -> bytes:
    return hashlib.sha256(jcs(value)).digest()


class _Ids:
    """The call ids of a list by ordinal. Shared by every state that continues another; a state sees its own first ``n``."""

    __slots__ = ("latest", "log")

    def __init__(self, log: list[str | None]) -> None:
        self.log = log
        self.latest = {call: n for n, call in enumerate(log) if call is not None}


@dataclass(frozen=True, slots=True)
class Chain:
    """The digest of a message list so far, and what is needed to go on."""

    state: bytes
    count: int
    """Ordinals given so far."""
    open: tuple[tuple[int, str | None], ...]
    """Calls without a result yet."""
    ids: _Ids

    @classmethod
    def start(cls) -> Chain:
        """The empty list."""
        return cls(hashlib.sha256(b"otelreplay messages 1").digest(), 0, (), _Ids([]))

    def extend(self, entries: Iterator[Entry]) -> Chain:
        """The chain after these entries. Leaves this one usable."""
        ids = self.ids if len(self.ids.log) == self.count else _Ids(self.ids.log[: self.count])
        state, waiting = self.state, list(self.open)
        for entry in entries:
            ordinals = [_answer(ids, waiting, call) if result else _call(ids, waiting, call) for result, call in entry.links]
            state = hashlib.sha256(state + entry.digest + ",".join(map(str, ordinals)).encode()).digest()
        return Chain(state, len(ids.log), tuple(waiting), ids)


def _new(ids: _Ids, call: str | None) -> int:
    ordinal = len(ids.log)
    ids.log.append(call)
    if call is not None:
        ids.latest[call] = ordinal
    return ordinal


def _call(ids: _Ids, waiting: list[tuple[int, str | None]], call: str | None) -> int:
    """Every call is a new one: an id may be used again."""
    ordinal = _new(ids, call)
    waiting.append((ordinal, call))
    return ordinal


def _answer(ids: _Ids, waiting: list[tuple[int, str | None]], call: str | None) -> int:
    """The ordinal of the call that a result answers.

    By id: the oldest open call of that id, else the last one answered. Without a known id: the oldest open call (of those
    without an id, if the result has one). Else a call from before this list, which is a new ordinal.
    """
    known = call is not None and call in ids.latest
    for place, (ordinal, other) in enumerate(waiting):
        if call is None or other == (call if known else None):
            del waiting[place]
            return ordinal
    return ids.latest[call] if known and call is not None else _new(ids, call)
