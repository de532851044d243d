"""JSON text found inside attributes: read exactly and leniently, within bounds, never raising.

Three steps, each linear in the text: look at the first character; let msgspec read it; bound the depth. Only what msgspec
refuses (NaN, lone surrogates, raw control characters, numbers beyond the range of a double) goes through the standard library.
Both readers stop by themselves at the depth of Python's stack, so hostile text costs no more than its length.
"""

from __future__ import annotations

import json
from typing import Any, Final

from otelreplay.canonical import plainjson

READ_DEPTH: Final = 128
"""Deepest nesting that is read; deeper text stays text."""

_STARTS: Final = frozenset('{["-0123456789')
_WORDS: Final = {"null": None, "true": True, "false": False, "NaN": float("nan"), "Infinity": float("inf")}
_BLANK: Final = " \t\n\r"


def deeper_than(value: Any, limit: int) -> bool:
    """Whether the lists and dicts of a value that was read nest deeper than that."""
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            child
            for item in level
            for child in (item.values() if type(item) is dict else item)
            if type(child) is dict or type(child) is list
        ]
    return bool(level)


def read_json(text: str) -> tuple[bool, Any]:
    """``(True, value)`` of JSON text, else ``(False, text)``. Never raises.

    Integers are exact; NaN, Infinity, lone surrogates and raw control characters in strings are accepted; of duplicate keys
    the last wins; a number beyond the range of a double is infinite, as in Python's own reader. Not read: text nested deeper
    than ``READ_DEPTH`` and integers of more than 4300 digits (Python's own bound: reading them is slower than linear).
    """
    start = text[:1]
    if start in _BLANK:
        start = text.lstrip(_BLANK)[:1]
    if start not in _STARTS:
        word = text.strip(_BLANK) if len(text) < 100 else text
        return (True, _WORDS[word]) if word in _WORDS else (False, text)
    try:
        value = _decode(text)
    except (ValueError, RecursionError):  # a bracket for each of hundreds of levels: deeper than the bound in any case
        return False, text
    shallow = text.count("[") + text.count("{") <= READ_DEPTH or not deeper_than(value, READ_DEPTH)
    return (True, value) if shallow else (False, text)


def _decode(text: str) -> Any:
    try:
        return plainjson.read(text)
    except ValueError:  # also what cannot be encoded
        return _careful.decode(text)


_careful: Final = json.JSONDecoder(strict=False)
