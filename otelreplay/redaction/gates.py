"""One pass over a text that says which detectors could have something to find.

The gates of all detectors, and of the encodings in which text may hide, form RE2 sets. RE2 runs in linear time whatever the
text, and works on UTF-8 bytes as if they were Latin-1: gates are about ASCII.

Three things were learned by measuring. RE2 builds its automaton while it reads, so text that was never seen costs new states:
what counts is how few of them there are. A counted repeat of a wide class (``[A-Za-z0-9]{20}``) multiplies its states with
those of every other gate, so such gates stand in a set of their own, and are written so that a run of characters has one
thread in them (anchored at the run's start, or without a rare beginning). And the default budget of 8 MB is flushed over and
over; 64 MB are not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import re2

from otelreplay.redaction.detectors import BY_NAME
from otelreplay.redaction.jsontext import COMMON_PIECES, PIECE_KEYS

PERCENT: Final = "%percent"
ESCAPED: Final = "%escaped"
BASE64: Final = "%base64"
ITEMS: Final = "+items"
"""A text that follows a text in a list, in JSON or in JSON in it: :func:`jsontext.may_hold_pieces` asks the same exactly."""
PIECES: Final = "+pieces"
"""A key of pieces other than those that most messages hold."""
_SPACE: Final = r"[\s\x0b\x1c-\x1f\x80-\xff]*"
_SMALL: Final = "[a-z0-9+/_-]"
ENCODINGS: Final = {
    PERCENT: r"%[2-7][0-9A-Fa-f]",
    ESCAPED: r"\\(?:u00[2-7aA]|x[2-7])",
    BASE64: rf"(?:^|[^A-Za-z0-9+/_-])(?:{_SMALL}{{16}}{_SMALL}*[A-Z]|"
    + "|".join(f"{_SMALL}{{{n}}}[A-Z][A-Za-z0-9+/_-]{{{15 - n}}}" for n in range(16))
    + ")",
}
"""Text that must be decoded before a clean bill means anything. Base64: a run of 16 and more with a capital in it, by where its
first capital stands, so that only one alternative is alive in any run."""
_LISTS: Final = (
    rf'(?s)"{_SPACE},{_SPACE}"(?:[^"\\]|\\.)*"{_SPACE}[,\]]',
    rf'\\"{_SPACE},{_SPACE}\\+"[^"]*"{_SPACE}[,\]]',
)
_RUNS: Final = (BASE64, "crypto_wallet", ITEMS)
"""Gates that stay alive over long stretches of text."""

_MEMORY: Final = 64 << 20
_NEED: Final = "+"
NOTHING: Final[frozenset[str]] = frozenset()
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
        gates += [(ITEMS, gate) for gate in _LISTS]
        gates.append((PIECES, rf"(?:{'|'.join(sorted(PIECE_KEYS - COMMON_PIECES))})\\?\""))
        self._sets = [_Set([g for g in gates if g[0] not in _RUNS]), _Set([g for g in gates if g[0] in _RUNS])]

    def open(self, text: str) -> frozenset[str]:
        """Names of the detectors and encodings whose gates hit."""
        return self.opened(self.hits(text))

    def hits(self, text: str) -> list[str]:
        """What was hit, before one hit is weighed against another: for :meth:`opened`, and to look for :data:`ITEMS`."""
        data = text.encode("utf-8", "surrogatepass") + _CANARY
        first, second = self._sets
        return first.open(data) + second.open(data)

    def opened(self, hits: list[str]) -> frozenset[str]:
        """What :meth:`open` says about these hits."""
        if not hits:
            return NOTHING
        needy = self._needy
        return frozenset([n for n in hits if n[0] != "+" and (n not in needy or _NEED + n in hits)])


@lru_cache(maxsize=16)
def gates_of(detectors: tuple[str, ...]) -> Gates:
    """The gates of a selection of detectors; shared, since the automaton grows better with every text it has seen."""
    return Gates(detectors)
