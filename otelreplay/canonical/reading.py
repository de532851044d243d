"""JSON text found inside attributes: read exactly and leniently, within bounds, never raising.

Three steps, each linear in the text: look at the first character; bound the depth; let msgspec read it. Only what msgspec
refuses (NaN, lone surrogates, raw control characters, numbers beyond the range of a double) goes through the standard library.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

READ_DEPTH: Final = 128
"""Deepest nesting that is read; deeper text stays text."""

_STARTS: Final = frozenset('{["-0123456789')
_WORDS: Final = {"null": None, "true": True, "false": False, "NaN": float("nan"), "Infinity": float("inf")}
_BLANK: Final = " \t\n\r"
_STRUCTURE: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)


def deeper_than(text: str | bytes, limit: int) -> bool:
    """Whether lists and objects nest deeper than that, judged by brackets outside strings."""
    if isinstance(text, bytes):
        if text.count(b"[") + text.count(b"{") <= limit:
            return False
        text = text.decode("latin-1")  # structure is ASCII, and no byte of a longer UTF-8 sequence is
    elif text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for found in _STRUCTURE.finditer(text):
        sign = found[0][0]
        if sign in "[{":
            depth += 1
            if depth > limit:
                return True
        elif sign != '"':
            depth -= 1
    return False


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
    if deeper_than(text, READ_DEPTH):
        return False, text
    try:
        return True, msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        pass
    try:
        return True, _careful.decode(text)
    except ValueError:
        return False, text


_careful: Final = json.JSONDecoder(strict=False)
