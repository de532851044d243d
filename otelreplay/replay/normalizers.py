"""Declared normalisers: values that may differ between a recording and its replay, and in which form they are equal.

A normaliser acts on both sides and on nothing that it was not declared for; wherever it made a difference, the replay lists it.
``field`` is the place of a value with ``[*]`` for every index: ``request.messages[*].parts[*].content``.
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


@runtime_checkable
class Normalizer(Protocol):
    """One declared way in which values may differ."""

    @property
    def name(self) -> str:
        """As it stands in reports."""

    def normal(self, field: str, value: Any, /) -> Any:
        """The normal form of a text or a list at ``field``; the value itself where it is not concerned. Idempotent, pure."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Replaces what an expression finds in texts; ``under`` limits it to fields that begin so."""

    name: str
    expression: re.Pattern[str]
    under: str = "request"

    def normal(self, field: str, value: Any, /) -> Any:
        """See :class:`Normalizer`."""
        if not isinstance(value, str) or not field.startswith(self.under):
            return value
        return self.expression.sub(f"<{self.name}>", value)


@dataclass(frozen=True, slots=True)
class Unordered:
    """Takes the list at exactly this field for a set."""

    field: str
    name: str = "unordered"

    def normal(self, field: str, value: Any, /) -> Any:
        """See :class:`Normalizer`."""
        if field != self.field or not isinstance(value, list):
            return value
        return sorted(value, key=jcs)


def timestamps(under: str = "request") -> Pattern:
    """Dates and times in the forms of ISO 8601 and RFC 3339."""
    return Pattern("timestamp", _TIME, under)


def uuids(under: str = "request") -> Pattern:
    """UUIDs in their usual spelling."""
    return Pattern("uuid", _UUID, under)
