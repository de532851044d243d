"""Normalisers as they are written on a command line and, one a line, in a file.

    timestamps[:FIELD]    uuids[:FIELD]    addresses[:FIELD]    numbers:FIELD    unordered:FIELD    regex:FIELD:PATTERN

``FIELD`` is a field of an event as reports name it; ``request.`` may be left out, and an index stands for every index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from otelreplay.errors import UsageError
from otelreplay.replay.normalizers import Normalizer, Numbers, Pattern, Unordered, addresses, timestamps, uuids

_ANYWHERE: Final[dict[str, Callable[[str], Normalizer]]] = {"timestamps": timestamps, "uuids": uuids, "addresses": addresses}
_AT: Final[dict[str, Callable[[str], Normalizer]]] = {"numbers": Numbers, "unordered": Unordered}
_INDEX: Final = re.compile(r"\[[0-9]+\]")
_ROOTS: Final = ("request", "response", "error", "name")
_FORMS: Final = "timestamps, uuids, addresses, numbers:FIELD, unordered:FIELD or regex:FIELD:PATTERN"


def declared(specs: Iterable[str]) -> tuple[Normalizer, ...]:
    """The normalisers of these words. Raises UsageError (``replay.normalizer``)."""
    return tuple(map(_normalizer, specs))


def lines_of(text: str) -> tuple[str, ...]:
    """The normalisers of a file: one a line; empty lines and lines that begin with ``#`` say nothing."""
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))


def generic(field: str) -> str:
    """A field of a report with ``[*]`` for every index."""
    return _INDEX.sub("[*]", field)


def _normalizer(spec: str) -> Normalizer:
    kind, _, rest = spec.partition(":")
    if kind in _ANYWHERE:
        return _ANYWHERE[kind](_field(rest) if rest else "request")
    if kind in _AT and rest:
        return _AT[kind](_field(rest))
    if kind == "regex":
        field, found, pattern = rest.partition(":")
        if found and pattern:
            return Pattern("regex", _compiled(pattern, spec), _field(field or "request"))
    raise UsageError(f"no such normalizer: {_short(spec)}", code="replay.normalizer", next_step=f"write one of {_FORMS}")


def _compiled(pattern: str, spec: str) -> re.Pattern[str]:
    try:
        made = re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        made = None
    if made is None or made.search("") is not None:
        why = "no regular expression" if made is None else "it finds the empty text, so that it would be everywhere"
        raise UsageError(f"a normalizer's pattern: {why}: {_short(spec)}", code="replay.normalizer", next_step="write another")
    return made


def _field(written: str) -> str:
    field = generic(written)
    root = re.split(r"[.\[]", field, maxsplit=1)[0]
    return field if root in _ROOTS else f"request.{field}" if not field.startswith("[") else f"request{field}"


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
