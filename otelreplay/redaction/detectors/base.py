"""What a detector is.

A text is scanned in two steps. One RE2 set holds the *gates* of all detectors and says in one pass which of them could have
something to find; most texts hit none. Only then does a detector's exact search run. Hence three rules, each held by a test:

- a gate is a superset: whenever the exact search finds something, the gate has hit;
- a gate holds no leading ``\\b``: gates also run over text that is still escaped (``\\nAKIA...``);
- a gate begins with what is rare, and counts no wide class from the start: see :mod:`otelreplay.redaction.gates`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

Family = Literal["secrets", "pii"]
Hit = tuple[int, int]
"""Start and end of what a rule replaces."""
Find = Callable[[str], Iterable[Hit]]
Check = Callable[["re.Match[str]"], bool]

ESCAPE: Final = r"(?<=\\[nrt])|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9][0-9]m)|(?<=;[0-9][0-9]m)"
LEFT: Final = rf"(?:(?<![A-Za-z0-9])|{ESCAPE})"
"""Not inside a word; a literal backslash escape or a terminal colour before it is not a word."""
RIGHT: Final = r"(?![A-Za-z0-9])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """Finds one sort of thing in decoded text."""

    name: str
    family: Family
    kind: str
    """What is found, as a type of value: ``secret``, ``email``, ``phone``, ..."""
    gates: tuple[str, ...]
    """Any of these hits: there may be something to find."""
    find: Find
    needs: tuple[str, ...] = ()
    """Where given, one of these must hit too: a number *and* a word that says what it is."""
    exact: tuple[str, ...] = ()
    """The exact patterns, where there are any: for the tests and for documentation."""


def by_pattern(
    name: str,
    family: Family,
    kind: str,
    *,
    gate: str | tuple[str, ...],
    exact: str,
    group: int | str = 0,
    check: Check | None = None,
    seen: Callable[[str], str] | None = None,
) -> Detector:
    """A detector of one regular expression; ``check`` is asked about each match, ``group`` is what is replaced.

    ``seen``: how it sees a text, which must keep every place.
    """
    compiled = re.compile(exact, re.ASCII)

    def find(text: str) -> Iterator[Hit]:
        for match in compiled.finditer(seen(text) if seen is not None else text):
            if check is None or check(match):
                yield match.span(group)

    return Detector(
        name=name, family=family, kind=kind, gates=(gate,) if isinstance(gate, str) else gate, find=find, exact=(exact,)
    )
