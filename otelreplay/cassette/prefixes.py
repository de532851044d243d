"""Which earlier list is the longest prefix of this one?

Theory of operation. Every list that was stored is a path in a tree whose edges are element ids, and its end is marked with its
name, so the answer is the last mark on the new list's own path. Walking that path from the root for every model call would cost
the square of the turns. But a history that grows is, element by element, the *same objects* as a list of a few calls ago plus
some: that is checked in C, and the walk starts where that list ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import is_
from typing import Any

from otelreplay.cassette.forms import list_id

RECENT = 8
"""Lists that are tried as a prefix by identity: enough for as many interleaved conversations."""


class Prefixes:
    """The lists stored so far. Lists and their elements must stay alive and unchanged while it is used."""

    def __init__(self) -> None:
        self._edges: dict[tuple[int, str], int] = {}
        self._names: dict[int, str] = {}
        self._recent: deque[tuple[list[Any], int]] = deque(maxlen=RECENT)

    def add(self, items: list[Any], element: Callable[[Any], str]) -> tuple[str, list[str]]:
        """(name of the longest stored list that is a prefix, or "", ids of what follows it); the list counts as stored then.

        ``element`` gives the id of an element; it is asked for those only that no recent list holds in the same place.
        """
        start, node = self._start(items) if len(items) > 1 else (0, 0)
        base, added = self._names.get(node, ""), list[str]()
        for item in items[start:]:
            name = element(item)
            added.append(name)
            node = self._edges.setdefault((node, name), len(self._edges) + 1)
            if node in self._names:
                base = self._names[node]
                added.clear()
        if added:
            self._names[node] = list_id(base, added)
        self._recent.append((items, node))
        return base, added

    def _start(self, items: list[Any]) -> tuple[int, int]:
        """(length, node) of the longest recent list that begins this one, object by object."""
        longest, place, count = 0, 0, len(items)
        for held, node in reversed(self._recent):  # the latest is the longest most often, and then no other is looked at
            length = len(held)
            if longest < length <= count and held[-1] is items[length - 1] and all(map(is_, held, items)):
                longest, place = length, node
                if length == count:
                    break
        return longest, place
