"""What kind of value differs between two recordings of one program: made anew each time, or meaning something.

Only the former may be normalised. In doubt it is the latter: a number that differs once may be an amount, a word a decision.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any, Final

from otelreplay.replay.normalizers import Pattern, addresses, timestamps, uuids

_KINDS: Final = {"uuids": uuids(""), "timestamps": timestamps(""), "addresses": addresses("")}
_TOKEN: Final = re.compile(r"[0-9A-Za-z]+(?:[_-][0-9A-Za-z]+)*")
_FEWEST: Final = 8
"""Characters of a token that can be taken for made up."""


def kinds_between(was: str, now: str) -> tuple[str, ...] | None:
    """The fewest kinds under which two texts are equal; None if there are none."""
    for size in range(1, len(_KINDS) + 1):
        for names in combinations(_KINDS, size):
            if _under(was, names) == _under(now, names):
                return names
    return None


def _under(text: str, names: Sequence[str]) -> str:
    for name in names:
        text = _plain(_KINDS[name], text)
    return text


def _plain(pattern: Pattern, text: str) -> str:
    return pattern.expression.sub("\x00", text)


def pattern_between(was: str, now: str) -> str | None:
    """An expression for the one token that was made up in both texts: ``req_[0-9a-f]{12}``; None if nothing says that it was.

    Such a token has the same length and the same characters on both sides, letters and digits mixed, and no word in it.
    """
    ours, theirs = (list(_TOKEN.finditer(text)) for text in (was, now))
    if len(ours) != len(theirs) or _around(was, ours) != _around(now, theirs):
        return None
    differing = [(a[0], b[0]) for a, b in zip(ours, theirs, strict=True) if a[0] != b[0]]
    found = {_pattern(a, b) for a, b in differing}
    return found.pop() if len(found) == 1 and None not in found else None


def _around(text: str, tokens: Sequence[re.Match[str]]) -> list[str]:
    at = [0, *(n for token in tokens for n in token.span()), len(text)]
    return [text[a:b] for a, b in list(pairwise(at))[::2]]


def _pattern(was: str, now: str) -> str | None:
    same = next((n for n, (x, y) in enumerate(zip(was, now, strict=False)) if x != y), min(len(was), len(now)))
    head = was[: max(was.rfind("_", 0, same), was.rfind("-", 0, same)) + 1]
    a, b = was[len(head) :], now[len(head) :]
    if len(a) != len(b) or len(a) < _FEWEST:
        return None
    kind = next((k for k, e in _ALPHABETS if all(re.fullmatch(e + "+", t) for t in (a, b))), None)
    if kind is None or not all(_mixed(t) for t in (a, b)):
        return None
    return rf"(?<![0-9A-Za-z_-]){re.escape(head)}{dict(_ALPHABETS)[kind]}{{{len(a)}}}(?![0-9A-Za-z_-])"


_ALPHABETS: Final = (("hex", "[0-9a-f]"), ("HEX", "[0-9A-F]"), ("base36", "[0-9a-z]"), ("base62", "[0-9A-Za-z]"))


def _mixed(token: str) -> bool:
    """Letters and digits through each other, as in nothing that is said: no number, no word with a number behind it."""
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(token))
    return turns >= 3 and sum(c.isdigit() for c in token) >= 2 and sum(c.isalpha() for c in token) >= 2


def counted(pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Whether numbers of two recordings are one counter with two beginnings: they go up in the same steps."""
    if len(pairs) < 2 or not all(type(a) is type(b) is int for a, b in pairs):
        return False
    apart = {b - a for a, b in pairs}
    return len(apart) == 1 and apart != {0} and len({a for a, _ in pairs}) > 1


def same_members(was: Any, now: Any, digest: Any) -> bool:
    """Whether two lists have the same members, however often, in another order."""
    if not isinstance(was, list) or not isinstance(now, list) or len(was) != len(now) or len(was) < 2:
        return False
    return bool(was != now and sorted(map(digest, was)) == sorted(map(digest, now)))


def is_prose(text: str) -> bool:
    """Text that somebody wrote, and of which every word may mean something."""
    return len(text.split()) > 3
