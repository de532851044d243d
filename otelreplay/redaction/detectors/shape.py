"""Is this text random? Questions that several detectors ask about a candidate."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

_DIGIT: Final = re.compile(r"[0-9]")
_LETTER: Final = re.compile(r"[A-Za-z]")
_CLASSES: Final = (re.compile(r"[a-z]"), re.compile(r"[A-Z]"), _DIGIT, re.compile(r"[^A-Za-z0-9\s]"))
_WORDS: Final = re.compile(r"[a-z]{3,}|[A-Z][a-z]{2,}")
_STAND_IN: Final = re.compile(
    r"""(?xi) ^(?:
        \W* | null | nil | none | true | false | undefined | nan | string | str | secret | password | passwd | token | bearer
      | basic | n/?a | todo | tbd | optional | required | default | empty | unknown | missing | invalid
      | redacted | filtered | hidden | masked
      | (?:my|your|the|some|an?|this|that|dummy|fake|mock|test|sample|example|placeholder|change|replace
        |insert|enter|put|add)[-_ ]?
        (?:(?:own|api|secret|access|auth|client|private|actual|real|new|super|me|it|with|your|my|the)[-_ ]?){0,5}
        (?:(?:key|token|secret|password|passwd|here|value|this|me|it|credentials?)[-_ ]?){0,4}
      | x{3,} | \*{2,} | \.{2,} | -{2,} | _{2,} | •+
      | <[^<>\n]{0,80}> | \[[^\[\]\n]{0,80}\] | \{[^{}\n]{0,80}\} | \{\{.{0,80}\}\} | <%.{0,80}%>
      | \$\{?[A-Za-z_{(][^\n]{0,120} | %[A-Za-z_]+% | %s | %\([a-z_]+\)s | \#\{.{0,80}\} | @@?[A-Za-z_]+@@?
    )$"""
)
_CODE: Final = re.compile(
    r"""(?x) ^(?:
        (?:self|this|os|sys|process|config|settings|args|env|environ|request|req|ctx|context|params|secrets|data|options|opts|kwargs|app
          |current|var|local|module) [.\[] [A-Za-z_]
      | [A-Za-z_][\w.]*(?:\(|\[["'\w]) | [A-Z][A-Za-z0-9]+\.[A-Za-z_] | await\s | new\s | lambda | function | f?["']\{
      | \w+\s*=> | Optional | List | Dict )"""
)
_REFERENCE: Final = re.compile(
    r"^(?:[a-z_][a-z]*(?:[_.][a-z]+)+|[a-z]+(?:[A-Z][a-z]+)+|[A-Z]+(?:_[A-Z0-9]+)+|[A-Z]?[a-z]+|[A-Z]+|[A-Z][a-z]+(?:[A-Z][a-z]+)+)$"
)
_ID: Final = re.compile(r"[a-z]{2,12}[_-][A-Za-z0-9]+\Z|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HEX: Final = re.compile(r"[0-9a-f-]+|[0-9A-F-]+")


def entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


def classes(text: str) -> int:
    """How many of lower case, upper case, digits and other visible characters occur."""
    return sum(1 for c in _CLASSES if c.search(text))


def is_stand_in(value: str) -> bool:
    """Nothing is hidden here: empty, a mask, a variable, ``<your key>``, ``YOUR_API_KEY_HERE``."""
    return len(value) <= 200 and _STAND_IN.match(value) is not None


def is_code(value: str) -> bool:
    """An expression that names where the value comes from, not the value."""
    return _CODE.match(value) is not None


def is_reference(value: str) -> bool:
    """A name in one of the usual spellings: ``snake_case``, ``camelCase``, ``UPPER_CASE``, one word."""
    return _REFERENCE.match(value) is not None


def is_hex(value: str) -> bool:
    """Hexadecimal, with or without the dashes of a UUID: often an id, sometimes a key."""
    return _HEX.fullmatch(value) is not None


def is_id(value: str) -> bool:
    """An id as services make them (``call_...``, ``chatcmpl-...``), or a time."""
    return _ID.match(value) is not None


def is_random(value: str, least: int = 10, *, share: float = 0.8) -> bool:
    """Long enough, of mixed characters, and not made of words."""
    if len(value) < least or not _DIGIT.search(value) or not _LETTER.search(value):
        return bool(len(value) >= max(least, 20) and classes(value) >= 2 and entropy(value) >= 4.0 and not _wordy(value, 0.7))
    return entropy(value) >= 2.5 and not _wordy(value, share)


def is_password(value: str) -> bool:
    """Short, but no word: mixes kinds of characters, or joins three and more words."""
    if len(value) < 6 or is_stand_in(value) or is_code(value):
        return False
    kinds = classes(value)
    return kinds >= 3 or (kinds >= 2 and _DIGIT.search(value) is not None) or value.count("-") >= 2


def _wordy(value: str, share: float) -> bool:
    """Whether words of three letters and more make up most of it, as in ``disk-encryption-set-2``."""
    inside = sum(len(w) for w in _WORDS.findall(value) if _vowels(w))
    return inside >= share * len(value)


def _vowels(word: str) -> bool:
    count = sum(1 for c in word.lower() if c in "aeiouy")
    return 0.2 <= count / len(word) <= 0.75
