"""JSON inside a string, edited in place: its strings and numbers are found with their paths, and only what changes is
rewritten.

The reader is a loop over tokens with a stack, so that depth costs memory and not the call stack, and a text that was cut off
in the middle is read as far as it goes. White space, key order, number spelling and duplicate keys outlive an edit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

_LOOKS: Final = re.compile(r"""\s*(?:\{\s*["}]|\[\s*["{\[\]\-0-9tfn]|"(?:[^"\\]|\\.)*"\s*\Z)""", re.DOTALL)
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[{}\[\],:]|\s+|[^\s"{}\[\],:]+', re.DOTALL)
"""Every character is in some token, so that places are running sums: ``findall`` is four times as fast as ``finditer`` here."""

_DECODER: Final = json.JSONDecoder(strict=False)

Path = tuple[str | int, ...]


PIECE_KEYS: Final = frozenset(
    (
        "content", "text", "delta", "arguments", "partial_json", "partialJson", "value", "thinking", "reasoning",
        "reasoning_content",        "transcript", "output_text", "input_json_delta", "chunk", "data", "stringValue",
    )
)  # fmt: skip
"""Keys under which members of a list may hold the pieces of one text."""
COMMON_PIECES: Final = frozenset({"content", "text", "arguments"})
"""Those of them that stand in most messages."""


def _ended(keys: frozenset[str], quote: str) -> tuple[str, ...]:
    return tuple(sorted(key + quote for key in keys))


_PIECES: Final = _ended(PIECE_KEYS, '"'), _ended(PIECE_KEYS, '\\"')
_COMMON: Final = _ended(COMMON_PIECES, '"'), _ended(COMMON_PIECES, '\\"')
_ITEMS: Final = (
    re.compile(r'"\s*,\s*"(?:[^"\\]|\\.)*+"\s*[,\]]', re.DOTALL),
    re.compile(r'\\"\s*,\s*\\+"[^"]*"\s*[,\]]'),
)
"""A text that follows a text in a list (in an object, a colon would follow it); in JSON, and in JSON in it."""
_LINES: Final = re.compile(r"^(data: ?)?(?=[\[{])(.+)$", re.MULTILINE)

STREAM: Final = "data:"
"""Where the paths of a server's events begin: they are a stream, of which the lines of a log need not be one."""


class Leaf(msgspec.Struct):
    """One string or number of a tree, with the way to it."""

    path: Path
    text: str
    """Decoded text of a string; a number as it is spelt."""
    start: int = 0
    """Where its token begins in the JSON text."""
    end: int = 0
    string: bool = True
    key: bool = False
    """This is the key of an entry; its ``path`` ends with itself."""


class _Frame(msgspec.Struct):
    array: bool
    path: Path
    index: int = 0
    key: str | None = None
    name: str | None = None


def looks_like_json(text: str) -> bool:
    """Whether ``text`` begins as an object, an array or is one JSON string."""
    return _LOOKS.match(text) is not None


def read_unique(text: str) -> Any:
    """The value of valid JSON in which no object has a key twice; None for any other text."""
    if not is_json(text):
        return None
    try:
        return _UNIQUE.decode(text)
    except (ValueError, RecursionError):
        return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


_UNIQUE: Final = json.JSONDecoder(object_pairs_hook=_unique)


def is_json(text: str) -> bool:
    """Whether all of ``text`` is valid JSON."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return False
    return True


def may_hold_pieces(text: str) -> bool:
    """Whether JSON may hold a list of texts, or of objects with a text each: no gate sees what is split between them."""
    if '"' not in text:
        return False
    if repeated(text):
        return True
    return _ITEMS[0].search(text) is not None or ('\\"' in text and _ITEMS[1].search(text) is not None)


def repeated(text: str, *, common: bool = False) -> list[str]:
    """The piece keys, each with what ends it, that occur more than once; ``common``: where only the common ones do at all."""
    plain, inside = _COMMON if common else _PIECES
    count = text.count
    found = [key for key in plain if count(key) > 1]
    return found + [key for key in inside if count(key) > 1] if '\\"' in text else found


def lines(text: str) -> list[Leaf]:
    """The leaves of JSON lines and server-sent events, as if the lines were a list; empty for any other text."""
    if "\n" not in text:
        return []
    found: list[Leaf] = []
    for n, match in enumerate(_LINES.finditer(text)):
        if is_json(match[2].rstrip()):
            at = match.start(2)
            for leaf in leaves(match[2], (STREAM, n) if match[1] else (n,)):
                leaf.start, leaf.end = leaf.start + at, leaf.end + at
                found.append(leaf)
    return found


def unquote(token: str) -> str:
    """The text of a string token; one that was cut off or is wrong comes as it stands, without its quotes."""
    body = token[1:-1] if len(token) > 1 and token.endswith('"') else token[1:]
    if "\\" not in body:
        return body
    try:
        return str(_DECODER.raw_decode(f'"{body}"')[0])
    except ValueError:
        return body


def quote(text: str, like: str) -> str:
    """``text`` as a string token, ASCII only where ``like`` is."""
    return json.dumps(text, ensure_ascii=like.isascii())


def leaves(text: str, base: Path = ()) -> list[Leaf]:
    """Every string, number and key of the JSON in ``text``, in order."""
    found: list[Leaf] = []
    stack: list[_Frame] = []
    top = _Frame(array=True, path=base)
    end = 0
    for token in _TOKEN.findall(text):
        start, end = end, end + len(token)
        first = token[0]
        frame = stack[-1] if stack else top
        if first in "{[":
            stack.append(_Frame(array=first == "[", path=_path(frame, bool(stack))))
        elif first in "}]":
            if stack:
                stack.pop()
        elif first == ",":
            frame.index += 1
            frame.key = None
        elif first == ":":
            continue
        elif first == '"':
            value = unquote(token)
            if not frame.array and frame.key is None:
                frame.key = value
                found.append(Leaf((*frame.path, value), value, start, end, key=True))
            else:
                found.append(Leaf(_path(frame, bool(stack)), value, start, end))
        elif first in "-0123456789":
            found.append(Leaf(_path(frame, bool(stack)), token, start, end, string=False))
    return found


def _path(frame: _Frame, nested: bool) -> Path:
    if not nested:
        return frame.path
    return (*frame.path, frame.index if frame.array else frame.key if frame.key is not None else "")


def splice(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """``text`` with the stretches replaced; edits are in order and do not overlap."""
    parts: list[str] = []
    done = 0
    for start, end, new in edits:
        parts += (text[done:start], new)
        done = end
    return "".join((*parts, text[done:]))


def dumps_like(value: Any, like: str) -> str:
    """``value`` as JSON in the style of ``like``: its separators, its habit with characters beyond ASCII."""
    separators = (", " if re.search(r'[\]}"0-9el], ["\[{0-9tfn-]', like) else ",", ": " if re.search(r'": ', like) else ":")
    return json.dumps(value, ensure_ascii=like.isascii(), separators=separators)
