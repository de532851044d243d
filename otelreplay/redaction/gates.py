"""One pass over a text that says which detectors could have something to find.

The gates of all detectors, and of the encodings in which text may hide, form RE2 sets. RE2 runs in linear time whatever the
text, and works on UTF-8 bytes as if they were Latin-1: gates are about ASCII.

Two things were learned by measuring. RE2 builds its automaton while it reads, and a counted repeat of a wide class
(``[A-Za-z0-9]{20}``) multiplies its states with those of every other gate: such gates stand in a set of their own. And its
default budget of 8 MB is flushed over and over; 64 MB are not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import re2

from otelreplay.redaction.detectors import BY_NAME

PERCENT: Final = "%percent"
ESCAPED: Final = "%escaped"
BASE64: Final = "%base64"
ENCODINGS: Final = {
    PERCENT: r"%[2-7][0-9A-Fa-f]",
    ESCAPED: r"\\(?:u00[2-7aA]|x[2-7])",
    BASE64: r"[A-Za-z0-9+/_-]{16}",
}
"""Text that must be decoded before a clean bill means anything."""

_MEMORY: Final = 64 << 20
_NEED: Final = "+"
NOTHING: Final[frozenset[str]] = frozenset()
_COUNTED: Final = re.compile(r"\{[0-9]")
_CANARY: Final = b"\xff\xfe"
"""Put at the end of every text, where UTF-8 cannot have it: a set that does not report it has failed, and then all gates are
open."""


class _Set:
    def __init__(self, gates: list[tuple[str, str]]) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        self.names = [name for name, _ in gates]
        for _, gate in gates:
            self._set.Add(gate)
        self._canary = self._set.Add(r"\xff\xfe")
        self._set.Compile()

    def open(self, data: bytes) -> list[str]:
        found = self._set.Match(data)
        if not found or self._canary not in found:
            return self.names
        return [self.names[n] for n in found if n != self._canary]


class Gates:
    """Immutable once made; safe to use from several threads."""

    def __init__(self, detectors: tuple[str, ...]) -> None:
        gates = [(name, gate) for name in detectors for gate in BY_NAME[name].gates] + list(ENCODINGS.items())
        self._needy = frozenset(name for name in detectors if BY_NAME[name].needs)
        gates += [(_NEED + name, gate) for name in detectors for gate in BY_NAME[name].needs]
        counted = [g for g in gates if _COUNTED.search(g[1])]
        self._sets = [_Set([g for g in gates if g not in counted]), _Set(counted)]

    def open(self, text: str) -> frozenset[str]:
        """Names of the detectors and encodings whose gates hit."""
        data = text.encode("utf-8", "surrogatepass") + _CANARY
        first, second = self._sets
        hit = first.open(data) + second.open(data)
        if not hit:
            return NOTHING
        found = frozenset(hit)
        return frozenset([n for n in found if n[0] != "+" and (n not in self._needy or _NEED + n in found)])


@lru_cache(maxsize=16)
def gates_of(detectors: tuple[str, ...]) -> Gates:
    """The gates of a selection of detectors; shared, since the automaton grows better with every text it has seen."""
    return Gates(detectors)
