"""Which live value stands for which placeholder, over a whole run.

    the recording has   the live request has         fits
    P                   P                             always: a value that is a placeholder fits its own hole
    P                   another one of the cassette   never
    P, bound to v       v                             yes; any other fresh value never
    P, already served   a fresh value                 never: the program was given P, and this is not P
    P, not seen yet     a fresh value v               yes if v is bound to nothing else; from then on P is bound to v

A fresh value shows as a placeholder too: the same policy, under a key that lives as long as the session, has put it there. So
it is of its rule's kind and not empty, and its text is nowhere in here. Placeholders that do not tell values apart (``mask``,
``drop``, ``truncate``) fit each other and bind nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from otelreplay.replay.holes import BOUND, NORMALISED, TELLING, Hole, Holes

Pairs = list[tuple[str, str]]
_WORD: Final = re.compile(r"[a-z2-7]{16}")
_MARK: Final = re.compile(r"#|\.invalid")
FRESH: Final = "\ue002"
"""Stands for any value that was not met before, in :meth:`Bindings.known_as`."""


class Bindings:
    """The bindings of one run."""

    def __init__(self, placeholders: Iterable[str]) -> None:
        self._own = set(placeholders)
        self._served: set[str] = set()
        self._live_of: dict[str, str] = {}
        self._recorded_of: dict[str, str] = {}

    def served(self, holes: Iterable[Hole]) -> None:
        """The program was given these placeholders."""
        self._served.update(hole.text for hole in holes if hole.action in TELLING)

    def known_as(self, live: Holes) -> tuple[str, ...]:
        """For each live hole that tells values apart, the placeholder that a recording must have there, or :data:`FRESH`."""
        return tuple(
            [h.text if h.text in self._own else self._recorded_of.get(h.text, FRESH) for h in live if h.action in TELLING]
        )

    def fits(self, recorded: Sequence[Hole], live: Sequence[Hole]) -> Pairs | None:
        """The new bindings under which the live holes are the recorded ones; None if they cannot be."""
        recorded, live = values_of(recorded), values_of(live)
        if len(recorded) != len(live):
            return None
        new: dict[str, str] = {}
        taken: dict[str, str] = {}
        for was, now in zip(recorded, live, strict=True):
            if was.rule != now.rule or was.action != now.action:
                return None
            if was.text == now.text or was.action not in TELLING:
                continue
            if now.text in self._own:
                return None
            bound = self._live_of.get(was.text, new.get(was.text))
            if bound is not None:
                if bound != now.text:
                    return None
                continue
            if was.text in self._served or now.text in self._recorded_of or now.text in taken:
                return None
            new[was.text], taken[now.text] = now.text, was.text
        return list(new.items())

    def allows(self, pairs: Pairs) -> bool:
        """Whether these bindings contradict neither each other nor what is bound."""
        new, taken = dict(self._live_of), dict(self._recorded_of)
        for recorded, live in pairs:
            if new.setdefault(recorded, live) != live or taken.setdefault(live, recorded) != recorded:
                return False
        return True

    def bind(self, pairs: Pairs) -> None:
        """Keep new bindings for the rest of the run."""
        for recorded, live in pairs:
            self._live_of[recorded] = live
            self._recorded_of[live] = recorded

    def any(self) -> bool:
        """Whether the cassette has placeholders at all."""
        return bool(self._own)

    def holds_piece(self, value: object) -> bool:
        """Whether a text holds what is told apart in a placeholder of the cassette, cut or rewritten by the program."""
        words = set(_WORD.findall(value.lower())) if isinstance(value, str) else set()
        return bool(words) and any(words & set(_WORD.findall(text.lower())) for text in self._own if _MARK.search(text))

    def owns(self, text: str) -> bool:
        """Whether the text is a placeholder of the cassette."""
        return text in self._own


def exact(holes: Iterable[Hole]) -> tuple[str, ...]:
    """The texts of the holes that tell values apart."""
    return tuple([hole.text for hole in holes if hole.action in TELLING])


def values_of(holes: Sequence[Hole]) -> Sequence[Hole]:
    """The holes that a policy made. What a normaliser did on one side, it need not have had to do on the other."""
    return [hole for hole in holes if hole.action != NORMALISED]


def normalised(recorded: Holes, live: Holes) -> list[tuple[str, str]]:
    """(rule, recorded placeholder or nothing) wherever different texts were taken for equal."""
    pairs = zip(values_of(recorded), values_of(live), strict=True)
    found = [
        (was.rule, "" if was.action == BOUND else was.text)
        for was, now in pairs
        if was.text != now.text and was.action in TELLING
    ]
    for rule in dict.fromkeys(hole.rule for hole in (*recorded, *live) if hole.action == NORMALISED):
        if [h.text for h in recorded if h.rule == rule] != [h.text for h in live if h.rule == rule]:
            found.append((rule, ""))
    return found
