"""One pass over a text that says which detectors could have something to find.

The gates of all detectors, and of the encodings in which text may hide, form one RE2 set. RE2 runs in linear time whatever the
text, and works on UTF-8 bytes as if they were Latin-1: gates are about ASCII.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import re2

from otelreplay.redaction.detectors.base import Detector

PERCENT: Final = "%percent"
ESCAPED: Final = "%escaped"
BASE64: Final = "%base64"
ENCODINGS: Final = {
    PERCENT: r"%[2-7][0-9A-Fa-f]",
    ESCAPED: r"\\(?:u00[2-7aA]|x[2-7])",
    BASE64: r"[A-Za-z0-9+/_-]{20}",
}
"""Text that must be decoded before a clean bill means anything."""

_MEMORY: Final = 64 << 20
"""RE2's budget for its automaton, in bytes: the default of 8 MB is flushed over and over and costs 3 to 5 times the time."""


class Gates:
    """Immutable once made; safe to use from several threads."""

    def __init__(self, detectors: Iterable[Detector]) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        self._names: list[str] = []
        for detector in detectors:
            for gate in detector.gates:
                self._set.Add(gate)
                self._names.append(detector.name)
        for name, gate in ENCODINGS.items():
            self._set.Add(gate)
            self._names.append(name)
        self._set.Compile()

    def open(self, text: str) -> frozenset[str]:
        """Names of the detectors and encodings whose gates hit."""
        found = self._set.Match(text.encode("utf-8", "surrogatepass"))
        if not found:
            return _NONE
        names = self._names
        return frozenset([names[n] for n in found])


_NONE: Final[frozenset[str]] = frozenset()
