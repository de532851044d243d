"""Comparing a component that digests cannot judge: parts of it are missing in the recording, or a hole in it is of a rule whose
detector is not at hand here (a registered secret, a newer pack).

The two values are walked side by side. A missing part fits anything. Such a hole fits any text that is not empty, where the
text around it is equal; the live text is then as it was sent, so it is kept only as a digest, for the binding.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from otelreplay.canonical import digest
from otelreplay.events.fields import within
from otelreplay.redaction import find_placeholders
from otelreplay.replay.bindings import Pairs
from otelreplay.replay.diff import NOTHING, compare
from otelreplay.replay.holes import KEYED, Hole, Skeletons, token


class Soft:
    """Compares for one recording."""

    def __init__(self, skeletons: Skeletons, gaps: Collection[str], rules: Collection[str]) -> None:
        self._skeletons, self._gaps, self._rules = skeletons, gaps, rules
        self.pairs: Pairs = []
        """Bindings of the holes that fit."""
        self.assumed: list[Hole] = []

    def fits(self, was: Any, now: Any, field: str) -> bool:
        """Whether every difference of the two values lies in a missing part or a hole of this kind."""
        if was is NOTHING or now is NOTHING:
            return was is now or any(within(field, gap) for gap in self._gaps)
        found = compare(was, now, field, self._skeletons, most=200)
        return len(found) < 200 and all(self._excused(d.path, d.expected, d.received) for d in found)

    def _excused(self, path: str, was: Any, now: Any) -> bool:
        if any(within(path, gap) or within(gap, path) for gap in self._gaps):
            return True
        return isinstance(was, str) and isinstance(now, str) and self._text(was, now, path)

    def _text(self, was: str, now: str, path: str) -> bool:
        """Literals in order from the left: the first place of each is as good as any, since what is between may be anything."""
        now = self._skeletons.value(now, path)[0]
        holes = [seen for seen in find_placeholders(was) if seen.rule in self._rules]
        if not holes:
            return False
        at, literals = 0, []
        for seen in holes:
            literals.append(self._literal(was[at : seen.start], path))
            at = seen.end
        last = self._literal(was[at:], path)
        if not now.startswith(literals[0]):
            return False
        place, filled = len(literals[0]), []
        for literal in literals[1:]:
            found = now.find(literal, place + 1)
            if found < 0:
                return False
            filled.append(now[place:found])
            place = found + len(literal)
        end = len(now) - len(last)
        if end <= place or not now.endswith(last):
            return False
        filled.append(now[place:end])
        for seen, text in zip(holes, filled, strict=True):
            self.assumed.append(Hole(seen.rule, seen.text, seen.action))
            if seen.action in KEYED and text != token(seen.rule):
                self.pairs.append((seen.text, digest(text.encode("utf-8", "surrogatepass"))))
        return True

    def _literal(self, text: str, path: str) -> str:
        literal: str = self._skeletons.value(text, path)[0]
        return literal
