"""Which members of two lists belong together, so that one that was put in is not taken for a change of all that follow.

    1  what leads and what ends both lists is the same
    2  members that stand once on either side are anchors, where their order agrees      n log n
    3  between two anchors: the longest common subsequence, where the gap is small
    4  what is left of a gap: pairs of members that are like each other, in order
    5  one that is left over on both sides was moved

Every step is bounded. Where a gap is too large for steps 3 and 4 its members are paired by their place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Sequence, Set
from dataclasses import dataclass
from typing import Final

LCS: Final = 250_000
"""Cells of the tables of step 3, in one comparison."""
PAIRS: Final = 2_500
"""Pairs that step 4 looks at."""
_SURELY: Final = 0.02
"""What any pair is worth: a member that became another is said to be changed, not gone and come."""

Like = Callable[[int, int], float]
"""How much the member of the first list at a place is like that of the second, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Match:
    """Members that belong together. One of the places is None where there is no other side."""

    old: int | None
    new: int | None
    same: bool = False

    @property
    def moved(self) -> bool:
        """The same member in another order."""
        return self.same and self.old is not None and self.new is not None


def aligned(old: Sequence[Hashable], new: Sequence[Hashable], like: Like) -> list[Match]:
    """Everything that is not the same at its place, in order; of members that are equal and moved, one entry.

    ``old`` and ``new`` are digests of the members. An entry that is ``same`` was moved; one with both places was changed.
    """
    lead = 0
    while lead < min(len(old), len(new)) and old[lead] == new[lead]:
        lead += 1
    tail = 0
    while tail < min(len(old), len(new)) - lead and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    gaps = _gaps(old, new, (lead, len(old) - tail, lead, len(new) - tail))
    moved = {old[i] for a, b, _, _ in gaps for i in range(a, b)} & {new[j] for _, _, c, d in gaps for j in range(c, d)}
    found: list[Match] = []
    left = PAIRS
    for gap in gaps:
        size = (gap[1] - gap[0]) * (gap[3] - gap[2])
        small = 1 < size <= left
        left -= size if small else 0
        found += _paired(old, new, gap, moved, like if small else _no_likeness if size == 1 else None)
    return _with_moves(old, new, found)


def _no_likeness(_old: int, _new: int) -> float:
    """One member on either side: nothing to choose from."""
    return 0.0


Gap = tuple[int, int, int, int]
"""From, to in the first list; from, to in the second."""


def _gaps(old: Sequence[Hashable], new: Sequence[Hashable], whole: Gap) -> list[Gap]:
    """What lies between the members that are the same on both sides."""
    out: list[Gap] = []
    left = LCS
    for gap in _between(whole, _anchors(old, new, whole)):
        size = (gap[1] - gap[0]) * (gap[3] - gap[2])
        if 0 < size <= left:
            left -= size
            out += _between(gap, _common(old, new, gap))
        else:
            out.append(gap)
    return [gap for gap in out if gap[0] < gap[1] or gap[2] < gap[3]]


def _between(whole: Gap, same: Sequence[tuple[int, int]]) -> list[Gap]:
    a, b, c, d = whole
    out = []
    for i, j in (*same, (b, d)):
        out.append((a, i, c, j))
        a, c = i + 1, j + 1
    return out


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap) -> list[tuple[int, int]]:
    """Members that stand exactly once on either side: the most of them that are in the same order."""
    a, b, c, d = gap
    once_old, once_new = Counter(old[a:b]), Counter(new[c:d])
    places = {new[j]: j for j in range(c, d) if once_new[new[j]] == 1}
    pairs = [(i, places[old[i]]) for i in range(a, b) if once_old[old[i]] == 1 and old[i] in places]
    ends: list[int] = []  # the lowest place in the second list at which an increasing row of each length ends
    row: list[int] = []  # and which pair that is
    before: list[int] = []
    for n, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        before.append(row[at - 1] if at else -1)
        if at == len(ends):
            ends.append(j)
            row.append(n)
        else:
            ends[at], row[at] = j, n
    out, n = [], row[-1] if row else -1
    while n >= 0:
        out.append(pairs[n])
        n = before[n]
    return out[::-1]


def _common(old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap) -> list[tuple[int, int]]:
    """The longest common subsequence of a gap."""
    a, b, c, d = gap
    rows = [[0] * (d - c + 1)]
    for i in range(b - 1, a - 1, -1):
        below, row = rows[-1], [0] * (d - c + 1)
        for j in range(d - 1, c - 1, -1):
            n = j - c
            row[n] = below[n + 1] + 1 if old[i] == new[j] else max(below[n], row[n + 1])
        rows.append(row)
    rows.reverse()
    out, i, j = [], a, c
    while i < b and j < d:
        if old[i] == new[j]:
            out.append((i, j))
            i, j = i + 1, j + 1
        elif rows[i - a + 1][j - c] >= rows[i - a][j - c + 1]:
            i += 1
        else:
            j += 1
    return out


def _paired(old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap, moved: Set[Hashable], like: Like | None) -> list[Match]:
    """The members of a gap, none of which is the same at its place; by their place without ``like``."""
    a, b, c, d = gap
    by_place = list(zip(range(a, b), range(c, d), strict=False))
    pairs = by_place if like is None else _likest(old, new, gap, moved, like)
    out: list[Match] = []
    for i, j in (*pairs, (b, d)):
        out += [Match(n, None) for n in range(a, i)] + [Match(None, n) for n in range(c, j)]
        if (i, j) != (b, d):
            out.append(Match(i, j))
        a, c = i + 1, j + 1
    return out


def _likest(
    old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap, moved: Set[Hashable], like: Like
) -> list[tuple[int, int]]:
    """The pairs, in order, that are like each other the most when taken together. What was moved is no form of another."""
    a, b, c, d = gap
    worth = [
        [0.0 if old[i] in moved or new[j] in moved else _SURELY + (1 - _SURELY) * like(i, j) for j in range(c, d)]
        for i in range(a, b)
    ]
    best = [[0.0] * (d - c + 1) for _ in range(b - a + 1)]
    for i in range(b - a - 1, -1, -1):
        for j in range(d - c - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + worth[i][j])
    out, i, j = [], 0, 0
    while i < b - a and j < d - c:
        if worth[i][j] and best[i][j] == best[i + 1][j + 1] + worth[i][j]:
            out.append((a + i, c + j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return out


def _with_moves(old: Sequence[Hashable], new: Sequence[Hashable], found: list[Match]) -> list[Match]:
    """One entry for a member that went from one place to another."""
    came: dict[Hashable, list[Match]] = {}
    for match in reversed(found):
        if match.new is not None and match.old is None:
            came.setdefault(new[match.new], []).append(match)
    taken: set[int] = set()
    moves: dict[int, Match] = {}
    for match in found:
        if match.old is not None and match.new is None and came.get(old[match.old]):
            to = came[old[match.old]].pop()
            moves[match.old] = Match(match.old, to.new, same=True)
            taken.add(id(to))
    return [moves[m.old] if m.old is not None and m.new is None and m.old in moves else m for m in found if id(m) not in taken]
