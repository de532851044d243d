"""The leaves of a tree judged together: a key tells about its value, neighbours may be pieces of one text.

Streamed text is stored as a list of pieces (``["my key is sk-pr", "oj-..."]``, or objects with a ``content`` or ``delta``
each). The pieces of one list are judged joined, and what is found is cut back to them: the placeholder stands in the piece
where the stretch began, the rest of it is taken out of the pieces that follow. A stretch never crosses into a piece that
begins with a find of its own, so that items of a list of addresses stay apart; nor out of a piece in which it is whole
(``["ann@x.org", "Ann"]``), unless what follows reads like the rest of a cut-off token. The events of a stream are
pieces of one text by what they are: there the joined text decides alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from otelreplay.redaction.jsontext import PIECE_KEYS, STREAM, Leaf, Path, splice
from otelreplay.redaction.keys import SECRET, sense
from otelreplay.redaction.placeholders import PLACEHOLDER, find_placeholders
from otelreplay.redaction.scan import Edit, Scanner

_NAME_KEYS: Final = frozenset({"name", "key", "header", "field", "Name", "Key", "Header", "Field"})
VALUE_KEYS: Final = frozenset({"value", "Value", "val", "stringValue", "string_value"})
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*")
_HEADER: Final = re.compile(r"[A-Za-z][\w.-]*")
_ROUNDS: Final = 4
_TOKEN: Final = re.compile(r"[A-Za-z0-9_+/=.~-]{12,}")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]{1,6}")


class Judge:
    """Says for the leaves of one tree what they become."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = self.scanner = scanner
        scanner.tree = self.judge

    def judge(self, found: Sequence[Leaf], layer: int = 0) -> dict[int, str]:
        """New texts by position in ``found``; leaves that stay are not in it."""
        changed: dict[int, str] = {}
        for _ in range(_ROUNDS):
            groups, more = self._once(found, layer)
            changed |= more
            if not any(n in more for members in groups for n in members):
                break  # what became of one piece says nothing about another
            found = [
                Leaf(leaf.path, more[n], leaf.start, leaf.end, key=leaf.key) if n in more else leaf
                for n, leaf in enumerate(found)
            ]
        return changed

    def _once(self, found: Sequence[Leaf], layer: int) -> tuple[list[list[int]], dict[int, str]]:
        texts = {n: leaf.text for n, leaf in enumerate(found) if leaf.string}
        names = _names(found)
        groups = _groups(found, texts)
        for members in groups:
            self._join(members, texts, layer, streamed=found[members[0]].path[0] == STREAM)
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
        return groups, changed

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

    def _join(self, members: list[int], texts: dict[int, str], layer: int, *, streamed: bool) -> None:
        for _ in range(_ROUNDS):
            pieces = [texts[n] for n in members]
            joined = "".join(pieces)
            if self._scanner.clean(joined):
                return
            edits = self._scanner.edits(joined, layer)
            after = (
                cut_back(pieces, edits, lambda piece: [] if streamed else self._scanner.edits(piece, layer))
                if edits
                else pieces
            )
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
        until = starts[first + 1] if _is_whole(pieces, starts, first, (start, end), alone) else end
        after = _next_find(pieces, starts, first, until, alone)
        if after is not None:
            shorter = alone("".join(pieces[first:after]))
            until = starts[after] if any(e[0] == start - starts[first] for e in shorter) else starts[first + 1]
        if until < end and until <= starts[first + 1]:
            continue  # items that only look like one text: each is judged by itself
        end = until
        for n in range(first, len(pieces)):
            if starts[n] >= end:
                break
            here = (max(start, starts[n]) - starts[n], min(end, starts[n + 1]) - starts[n])
            if here[0] < here[1]:
                own[n].append((*here, new if n == first else ""))
    return [splice(piece, todo) if todo else piece for piece, todo in zip(pieces, own, strict=True)]


def _is_whole(
    pieces: Sequence[str], starts: list[int], first: int, stretch: tuple[int, int], alone: Callable[[str], list[Edit]]
) -> bool:
    """Whether a stretch that goes on into the next piece is a find of the first one by itself, and the rest another text."""
    at, held = stretch[0] - starts[first], pieces[first]
    if stretch[1] <= starts[first + 1]:
        return False
    if any(p.start <= at and p.end == len(held) for p in find_placeholders(held)):
        return True
    if not any(e[0] <= at and e[1] == len(held) for e in alone(held)):
        return False
    rest = pieces[first + 1][: stretch[1] - starts[first + 1]]
    return _TOKEN.fullmatch(held[at:]) is None or _WORD.fullmatch(rest) is not None


def _next_find(
    pieces: Sequence[str], starts: list[int], first: int, end: int, alone: Callable[[str], list[Edit]]
) -> int | None:
    """The next piece before ``end`` that begins with a find of its own."""
    for n in range(first + 1, len(pieces)):
        if starts[n] >= end:
            return None
        if PLACEHOLDER.match(pieces[n]) is not None or any(e[0] == 0 for e in alone(pieces[n])):
            return n
    return None


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
