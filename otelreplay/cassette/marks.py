"""Marks of events and messages as JSON, defaulted fields left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otelreplay.events import Inferred, Mark, Missing, Redaction

KINDS: dict[str, type[Mark]] = {"missing": Missing, "inferred": Inferred, "redaction": Redaction}
_NAMES = {kind: name for name, kind in KINDS.items()}


def plain(mark: Mark) -> dict[str, Any]:
    """One mark as a JSON object."""
    return mark.model_dump(by_alias=True, exclude_defaults=True)


def named(marks: Iterable[Mark]) -> list[Any]:
    """Marks of a message: ``[kind, mark]`` pairs in their order."""
    return [[_NAMES[type(mark)], plain(mark)] for mark in marks]


def from_named(pairs: Any) -> tuple[Mark, ...]:
    """Inverse of :func:`named`; raises ValueError or TypeError for anything else."""
    found: list[Mark] = []
    for kind, value in pairs:
        if kind not in KINDS:
            raise ValueError("a mark of an unknown kind")
        found.append(KINDS[kind].model_validate(value))
    return tuple(found)
