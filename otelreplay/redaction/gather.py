"""The texts of a tree of plain values, in one quick walk, for trees of which nothing but their texts needs judging.

Theory of operation. What :class:`leaves.Judge` does with a tree is to judge each text, with what its key says about it, and
texts that may be pieces of one joined. Where no key says anything, no two texts may be pieces of one, and all numbers are too
small for a card, the texts alone decide, in any order: then the tree stays as it is exactly if each of them does.
:meth:`Gatherer.walk` answers whether that is so, and hands the texts out; keys are judged once and remembered. It says no in
case of doubt.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from otelreplay.redaction.jsontext import PIECE_KEYS
from otelreplay.redaction.keys import sense
from otelreplay.redaction.leaves import VALUE_KEYS
from otelreplay.redaction.placeholders import find_placeholders
from otelreplay.redaction.scan import SMALL, Scanner

_DEPTH: Final = 24
_KEYS: Final = 20_000
_LONGEST: Final = 256
Sort = Literal["plain", "piece", "telling"]
"""Of a key: it says nothing; it may stand over pieces of a text; it says something, or must be looked at itself."""


class Gatherer:
    """Remembers what keys are. Safe to share between threads, as all memories here."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._keys: dict[str, Sort] = {}
        scanner.walk = self.walk

    def walk(self, value: Any, texts: list[str], seen: set[str], depth: int = 0) -> bool:
        """Append the texts of ``value``. ``seen``: keys over pieces so far, and ``[`` for a text in a list; empty at first."""
        if depth > _DEPTH:
            return False
        if isinstance(value, dict):
            keys = self._keys
            for key, item in value.items():
                sort = keys.get(key) or self._sort(key)
                kind = type(item)
                if kind is str:
                    if sort != "plain" and (sort == "telling" or key in VALUE_KEYS or not _first(key, seen)):
                        return False
                    texts.append(item)
                elif sort == "telling":
                    return False
                elif kind is dict or kind is list:
                    if not self.walk(item, texts, seen, depth + 1):
                        return False
                elif not _is_nothing(item) and not (isinstance(item, dict) and self.walk(item, texts, seen, depth + 1)):
                    return False
            return True
        if type(value) is list:
            for item in value:
                if type(item) is str:
                    if not _first("[", seen):
                        return False
                    texts.append(item)
                elif not _is_nothing(item) and not self.walk(item, texts, seen, depth + 1):
                    return False
            return True
        if type(value) is str:
            texts.append(value)
            return True
        return _is_nothing(value)

    def is_plain(self, key: Any) -> bool:
        """Whether a key says nothing, by its words or by itself."""
        return (self._keys.get(key) or self._sort(key)) != "telling"

    def _sort(self, key: Any) -> Sort:
        if type(key) is not str or len(key) > _LONGEST:
            return "telling"
        sort: Sort = "plain"
        if sense(key) or self._scanner.text(key) != key or find_placeholders(key):
            sort = "telling"
        elif key in PIECE_KEYS or key in VALUE_KEYS:
            sort = "piece"
        if len(self._keys) > _KEYS:
            self._keys.clear()
        self._keys[key] = sort
        return sort


def _first(key: str, seen: set[str]) -> bool:
    if key in seen:
        return False
    seen.add(key)
    return True


def _is_nothing(value: Any) -> bool:
    """What can hold nothing: null, truth, and numbers too small for a card's."""
    kind = type(value)
    return value is None or kind is bool or ((kind is int or kind is float) and -SMALL < value < SMALL)
