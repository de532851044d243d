"""Marks of events and messages as JSON, defaulted fields left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.events import Inferred, Mark, Missing, Redaction

KINDS: dict[str, type[Mark]] = {"missing": Missing, "inferred": Inferred, "redaction": Redaction}
_NAMES = {kind: name for name, kind in KINDS.items()}
_MEMBERS = {
    kind: tuple((field, known.alias or field, known.default) for field, known in kind.model_fields.items())
    for kind in KINDS.values()
}


def plain(mark: Mark) -> dict[str, Any]:
    """One mark as a JSON object."""
    members = _MEMBERS.get(type(mark))
    if members is not None and not mark.model_extra:  # all but none; several times cheaper than the general way
        found = vars(mark)
        return {name: found[field] for field, name, default in members if found[field] != default}
    return mark.model_dump(by_alias=True, exclude_defaults=True)


def encoded(marks: Iterable[Mark]) -> bytes:
    """Marks as a JSON list."""
    shown = [plain(mark) for mark in marks]
    try:
        return msgspec.json.encode(shown)  # nothing but texts, under the names of the models
    except UnicodeEncodeError:
        return canonical.dumps(shown)


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
