"""Declared normalisers: values that may differ between a recording and its replay, and in which form they are equal.

A normaliser acts on both sides and on nothing that it was not declared for; wherever it made a difference, the replay lists it.
``field`` is the place of a value with ``[*]`` for every index: ``request.messages[*].parts[*].content``. One that is ``bound``
keeps apart what it finds: a recorded value stands for one live value over the whole run, as a hole does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from otelreplay.canonical import jcs

_TIME: Final = re.compile(
    r"(?<![0-9A-Za-z])[12][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"(?:[T ][0-2][0-9]:[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)?(?: ?(?:Z|[+-][0-2][0-9]:?[0-5][0-9]))?)?(?![0-9A-Za-z])"
)
_UUID: Final = re.compile(r"(?i)(?<![0-9a-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-z])")
_OCTET: Final = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_ADDRESS: Final = re.compile(
    r"(?<![0-9A-Za-z])0x[0-9a-fA-F]{6,16}(?![0-9A-Za-z])"  # of memory, as in <object at 0x7f3c5d2e1a90>
    rf"|(?<![0-9A-Za-z.])(?:{_OCTET}(?:\.{_OCTET}){{3}}|localhost|\[[0-9a-fA-F:]*:[0-9a-fA-F:]*\]):[0-9]{{1,5}}(?![0-9A-Za-z])"
)
_NUMBER: Final = re.compile(r"(?<![0-9A-Za-z])[0-9]+(?:\.[0-9]+)?(?![0-9A-Za-z])")


@runtime_checkable
class Normalizer(Protocol):
    """One declared way in which values may differ."""

    @property
    def name(self) -> str:
        """As it stands in reports."""

    def normal(self, field: str, value: Any, /) -> Any:
        """The normal form of a value at ``field``; the value itself where it is not concerned. Idempotent, pure."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Replaces what an expression finds in texts; ``under`` limits it to a field and what is inside of it."""

    name: str
    expression: re.Pattern[str]
    under: str = "request"
    bound: bool = False
    """Whether one recorded value stands for one live value over the whole run."""

    def normal(self, field: str, value: Any, /) -> Any:
        """See :class:`Normalizer`."""
        if not isinstance(value, str) or not below(field, self.under):
            return value
        return self.expression.sub(f"<{self.name}>", value)

    def found(self, field: str, value: Any) -> list[str]:
        """What is replaced, in order."""
        if not isinstance(value, str) or not below(field, self.under):
            return []
        return [match[0] for match in self.expression.finditer(value)]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Counters: whole numbers at a field, and numbers in its texts. One recorded number stands for one live number."""

    under: str
    name: str = "number"
    bound: bool = True

    def normal(self, field: str, value: Any, /) -> Any:
        """See :class:`Normalizer`."""
        if not below(field, self.under):
            return value
        if isinstance(value, str):
            return _NUMBER.sub("<number>", value)
        return 0 if isinstance(value, int) and not isinstance(value, bool) else value

    def found(self, field: str, value: Any) -> list[str]:
        """What is replaced, in order."""
        if not below(field, self.under):
            return []
        if isinstance(value, str):
            return _NUMBER.findall(value)
        return [str(value)] if isinstance(value, int) and not isinstance(value, bool) else []


@dataclass(frozen=True, slots=True)
class Unordered:
    """Takes the list at exactly this field for a set."""

    field: str
    name: str = "unordered"

    def normal(self, field: str, value: Any, /) -> Any:
        """See :class:`Normalizer`. Where members hold placeholders, a session orders them by what they are without these."""
        if field != self.field or not isinstance(value, list):
            return value
        return sorted(value, key=jcs)


def below(field: str, under: str) -> bool:
    """Whether a field is this one or lies in it."""
    return field == under or (field.startswith(under) and field[len(under)] in ".[")


def timestamps(under: str = "request") -> Pattern:
    """Dates and times in the forms of ISO 8601 and RFC 3339."""
    return Pattern("timestamp", _TIME, under)


def uuids(under: str = "request") -> Pattern:
    """UUIDs in their usual spelling; one recorded UUID stands for one live UUID."""
    return Pattern("uuid", _UUID, under, bound=True)


def addresses(under: str = "request") -> Pattern:
    """Addresses of memory (``0x7f3c5d2e1a90``), and of hosts with a port (``127.0.0.1:51234``)."""
    return Pattern("address", _ADDRESS, under)
