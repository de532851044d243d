"""Parts of the GenAI message schema, and how a provider's content blocks become parts and blocks again.

Rules that hold for every API:

- A key of a block that the schema has no name for stays on the part under its own name (``signature``, ``cache_control``).
- A block that is not understood, or whose keys would collide with those of the schema, is kept verbatim under its own type;
  what has no type at all becomes ``{"type": "generic", "value": ...}``. Either way it is written back as it was.
- ``form`` on a part names the wire's form where type and provider do not say it (``refusal``, ``custom``).
- Text is a part only if the wire had text: null is no part, an empty string is an empty part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from otelreplay.canonical import encode, read_json

Part = dict[str, Any]
Block = dict[str, Any]

SCHEMA_KEYS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "content"}),
    "reasoning": frozenset({"type", "content"}),
    "tool_call": frozenset({"type", "id", "name", "arguments"}),
    "tool_call_response": frozenset({"type", "id", "response"}),
    "blob": frozenset({"type", "modality", "mime_type", "content"}),
    "uri": frozenset({"type", "modality", "mime_type", "uri"}),
    "file": frozenset({"type", "modality", "mime_type", "file_id"}),
}
"""Keys that the GenAI message schema gives each part type; every other key of such a part is a provider's own."""


def schema_part(part: Part) -> Part:
    """The part without what only one provider writes: what two conventions can agree on. Unknown types stay whole."""
    keys = SCHEMA_KEYS.get(part.get("type", ""))
    return part if keys is None or keys >= part.keys() else {k: v for k, v in part.items() if k in keys}


def text_part(content: str) -> Part:
    """A text part."""
    return {"type": "text", "content": content}


def generic(value: Any, form: str | None = None) -> Part:
    """A part that holds a value nobody understood; ``form`` says where it stood."""
    return {"type": "generic", "value": value} | ({"form": form} if form else {})


def is_generic(part: Any, form: str | None = None) -> bool:
    """Was the part made by :func:`generic` (for that place)?"""
    return isinstance(part, dict) and part.get("type") == "generic" and "value" in part and part.get("form") == form


def plain_text(parts: list[Any]) -> str | None:
    """The text of a list that is one text part and nothing else: such content is written as a plain string."""
    if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"type", "content"} and parts[0]["type"] == "text":
        content = parts[0]["content"]
        return content if isinstance(content, str) else None
    return None


def read_arguments(value: Any) -> Any:
    """Arguments of a call: the value of JSON text; broken JSON and a bare string (also as JSON text) stay as they are.

    So a string is always the exact text of the wire, and everything else was JSON: :func:`write_arguments` is the inverse.
    """
    if not isinstance(value, str):
        return value
    ok, decoded = read_json(value)
    return decoded if ok and not isinstance(decoded, str) else value


def write_arguments(value: Any) -> str:
    """Arguments as the text that OpenAI's APIs hold; white space of the original is lost."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return json.dumps(encode(value))


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of block and the kind of part it is. Both functions answer None for what they do not understand."""

    wire: str
    part: str
    decode: Callable[[Block], Part | None]
    encode: Callable[[Part], Block | None]


def renaming(
    wire: str,
    part: str,
    keys: Mapping[str, str],
    *,
    text: str | None = None,
    form: str | None = None,
    neutral: Mapping[str, tuple[Any, ...]] | None = None,
) -> Shape:
    """A shape that differs from its part by names alone.

    ``text`` is the block's key that must hold a string; ``neutral`` lists values of keys that say the same as their absence.
    """
    back = {name: key for key, name in keys.items()}
    dropped = neutral or {}

    def decode(block: Block) -> Part | None:
        rest = {k: v for k, v in block.items() if k != "type" and not (k in dropped and v in dropped[k])}
        if (text and not isinstance(rest.get(text), str)) or (form and "form" in rest):
            return None
        renamed = rename(rest, keys)
        return None if renamed is None else {"type": part, **renamed} | ({"form": form} if form else {})

    def encode(value: Part) -> Block | None:
        rest = {k: v for k, v in value.items() if k != "type"}
        if (text and not isinstance(rest.get(keys[text]), str)) or (form and rest.pop("form", None) != form):
            return None
        renamed = rename(rest, back)
        return None if renamed is None else {"type": wire, **renamed}

    return Shape(wire, part, decode, encode)


def rename(values: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any] | None:
    """Keys renamed, or None where an unnamed key already has one of the new names."""
    taken = set(keys.values())
    if any(key in taken and key not in keys for key in values):
        return None
    return {keys.get(key, key): value for key, value in values.items()}


class Blocks:
    """The content blocks of one API."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self._by_wire: dict[str, list[Shape]] = {}
        self._by_part: dict[str, list[Shape]] = {}
        for shape in shapes:
            self._by_wire.setdefault(shape.wire, []).append(shape)
            self._by_part.setdefault(shape.part, []).append(shape)

    def decode(self, block: Any) -> Part:
        """A part for any block."""
        if isinstance(block, str):
            return text_part(block)
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(kind, str) or kind == "generic":
            return generic(block)
        for shape in self._by_wire.get(kind, ()):
            if (part := shape.decode(block)) is not None:
                return part
        return dict(block)

    def encode(self, part: Any) -> Any:
        """The block of a part; a part that the API has no block for is written as it is."""
        if not isinstance(part, dict):
            return part
        if is_generic(part):
            return part["value"]
        kind = part.get("type")
        for shape in self._by_part.get(kind, ()) if isinstance(kind, str) else ():
            if (block := shape.encode(part)) is not None:
                return block
        return dict(part)
