"""One form for every spelling of a message's parts: no ids, no nulls, nothing that only one convention has.

A message becomes *atoms*, one for each part, digested without ids, so that each is digested once in a run wherever it stands.
``docs/matching-keys.md`` has the exact forms.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Final, Literal

import msgspec

from otelreplay.canonical import jcs, read_json
from otelreplay.matching.semantics import PART_FIELDS

_SYSTEM_ROLES: Final = ("system", "developer")


class Atom(msgspec.Struct, frozen=True):
    """One part of a message, in canonical form."""

    turn: bytes
    """Digest of role and name."""
    kind: Literal["nothing", "text", "call", "result", "other"]
    """``nothing``: the message has no parts."""
    text: str = ""
    digest: bytes = b""
    """Of every part but a text."""
    call_id: str | None = None


def is_system(message: Any) -> bool:
    """Whether a message instructs the model rather than talks to it."""
    return isinstance(message, dict) and message.get("role") in _SYSTEM_ROLES


def atoms_of(message: Any) -> tuple[Atom, ...]:
    """The atoms of one message. A tool's result belongs to a turn of role ``tool``, wherever it stands."""
    if not isinstance(message, dict):
        message = {"parts": [message]}
    role = "system" if is_system(message) else message.get("role")
    name = message.get("name")
    if name is None and isinstance(role, str) and role in _TURNS:
        turn = _TURNS[role]
    else:
        turn = _digest({"role": role} if name is None else {"role": role, "name": name})
    return tuple(_atom(turn, part) for part in parts_of(message)) or (Atom(turn, "nothing"),)


def _atom(turn: bytes, part: Any) -> Atom:
    made = _part(part)
    kind = made.get("type") if isinstance(made, dict) else None
    if _is_text(made):
        return Atom(turn, "text", text=made["content"])
    if made == {"type": "text"}:  # null content
        return Atom(turn, "text")
    if kind == "tool_call":
        return Atom(turn, "call", digest=_digest(made), call_id=_call_id(part))
    if kind == "tool_call_response":
        return Atom(_TOOL_TURN, "result", digest=_digest(made), call_id=_call_id(part))
    return Atom(turn, "other", digest=_digest(made))


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


_TURNS: Final = {role: _digest({"role": role}) for role in ("system", "user", "assistant", "tool")}
_TOOL_TURN: Final = _TURNS["tool"]
