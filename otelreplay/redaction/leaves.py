"""The leaves of a tree judged together: a key tells about its value, neighbours may be pieces of one text.

Streamed text is stored as a list of pieces (``["my key is sk-pr", "oj-..."]``, or objects with a ``content`` or ``delta``
each). The pieces of one list are judged joined, and what is found is cut back to them: the placeholder stands in the piece
where the stretch began, the rest of it is taken out of the pieces that follow. A stretch never crosses into a piece that
begins with a find of its own, so that items of a list of addresses stay apart.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from otelreplay.redaction.jsontext import PIECE_KEYS, Leaf, Path, splice
from otelreplay.redaction.keys import SECRET, sense
from otelreplay.redaction.placeholders import PLACEHOLDER
from otelreplay.redaction.scan import Edit, Scanner

_NAME_KEYS: Final = frozenset({"name", "key", "header", "field", "Name", "Key", "Header", "Field"})
VALUE_KEYS: Final = frozenset({"value", "Value", "val", "stringValue", "string_value"})
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*")
_HEADER: Final = re.compile(r"[A-Za-z][\w.-]*")
_ROUNDS: Final = 4


class Judge:
    """Says for the leaves of one tree what they become."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = self.scanner = scanner
        scanner.tree = self.judge

    def judge(self, found: Sequence[Leaf], layer: int = 0) -> dict[int, str]:
        """New texts by position in ``found``; leaves that stay are not in it."""
        texts = {n: leaf.text for n, leaf in enumerate(found) if leaf.string}
        names = _names(found)
        for members in _groups(found, texts):
            self._join(members, texts, layer)
        changed: dict[int, str] = {}
        for n, leaf in enumerate(found):
            if n not in texts:
                new = None if leaf.string else self._scanner.number(_key_of(leaf.path), leaf.text)
                if new is not None:
                    changed[n] = new
                continue
            if leaf.key:
                new = self._scanner.text(texts[n], layer)
            else:
                new = self._scanner.entry(self._key(found, n, names), texts[n], layer)
            if new != leaf.text:
                changed[n] = new
        return changed

    def _key(self, found: Sequence[Leaf], n: int, names: dict[Path, str]) -> str:
        path = found[n].path
        if names and path and path[-1] in VALUE_KEYS:
            for up in (path[:-1], path[:-2]):
                if up in names:
                    return names[up]
        if (
            path
            and isinstance(path[-1], int)
            and n
            and found[n - 1].path[:-1] == path[:-1]
            and _OPTION.fullmatch(found[n - 1].text)
        ):
            return found[n - 1].text if sense(found[n - 1].text) in SECRET else _key_of(path)
        return _paired(found, n) or _key_of(path)

    def _join(self, members: list[int], texts: dict[int, str], layer: int) -> None:
        for _ in range(_ROUNDS):
            pieces = [texts[n] for n in members]
            joined = "".join(pieces)
            if self._scanner.clean(joined):
                return
            edits = self._scanner.edits(joined, layer)
            after = cut_back(pieces, edits, lambda piece: self._scanner.edits(piece, layer)) if edits else pieces
            if after == pieces:
                return
            texts.update(zip(members, after, strict=True))


def _paired(found: Sequence[Leaf], n: int) -> str:
    """The name of a secret that stands before its value in a list of pairs, as ``[["x-api-key", ...], ...]``."""
    path, before = found[n].path, found[n - 1]
    if len(path) < 2 or path[-1] != 1 or not isinstance(path[-2], int) or not n or before.path != (*path[:-1], 0):
        return ""
    if (n + 1 < len(found) and found[n + 1].path[:-1] == path[:-1]) or not _HEADER.fullmatch(before.text):
        return ""
    return before.text if sense(before.text) in SECRET else ""


def cut_back(pieces: Sequence[str], edits: Sequence[Edit], alone: Callable[[str], list[Edit]]) -> list[str]:
    """Edits of the joined text applied to its pieces. ``alone`` gives the edits of one piece by itself."""
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    own: list[list[Edit]] = [[] for _ in pieces]
    for start, end, new in edits:
        first = max(0, bisect_right(starts, start, hi=len(pieces)) - 1)
        until = _before_next_find(pieces, starts, first, end, alone)
        if until < end and until <= starts[first + 1]:
            continue  # two items that only look like one text: each is judged by itself
        end = until
        for n in range(first, len(pieces)):
            if starts[n] >= end:
                break
            here = (max(start, starts[n]) - starts[n], min(end, starts[n + 1]) - starts[n])
            if here[0] < here[1]:
                own[n].append((*here, new if n == first else ""))
    return [splice(piece, todo) if todo else piece for piece, todo in zip(pieces, own, strict=True)]


def _before_next_find(
    pieces: Sequence[str], starts: list[int], first: int, end: int, alone: Callable[[str], list[Edit]]
) -> int:
    for n in range(first + 1, len(pieces)):
        if starts[n] >= end:
            return end
        held = PLACEHOLDER.match(pieces[n]) is not None
        if held or any(e[0] == 0 for e in alone(pieces[n])):
            return starts[n]
    return end


def _names(found: Sequence[Leaf]) -> dict[Path, str]:
    """Objects that say ``{"name": ..., "value": ...}``: path of the object to the name."""
    if not any(leaf.path and leaf.path[-1] in VALUE_KEYS for leaf in found):
        return {}
    return {
        leaf.path[:-1]: leaf.text
        for leaf in found
        if leaf.string and not leaf.key and leaf.path and leaf.path[-1] in _NAME_KEYS
    }


def _groups(found: Sequence[Leaf], texts: dict[int, str]) -> list[list[int]]:
    """Lists of leaves that may be pieces of one text."""
    groups: dict[Path, list[int]] = {}
    roles = {leaf.path[:-1] for leaf in found if leaf.path and leaf.path[-1] == "role" and not leaf.key}
    for n, leaf in enumerate(found):
        path = leaf.path
        if n not in texts or leaf.key or not path or not (isinstance(path[-1], int) or path[-1] in PIECE_KEYS):
            continue
        for at, step in enumerate(path):
            if isinstance(step, int) and path[: at + 1] not in roles:
                groups.setdefault((*path[:at], "*", *path[at + 1 :]), []).append(n)
    return [members for members in groups.values() if len(members) > 1]


def _key_of(path: Path) -> str:
    """The nearest key above a leaf."""
    for step in reversed(path):
        if isinstance(step, str):
            return step
    return ""
