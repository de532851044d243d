"""Which call a result answers: the one difference of two message lists that no field but an id shows.

Ids themselves are never compared. Both lists are walked in the order of the digest (``docs/matching-keys.md``); the first call
or result that stands for another ordinal is the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otelreplay.matching.chain import Chain
from otelreplay.matching.parts import atoms_of, parts_of


def answers_another(was: Any, now: Any, field: str) -> tuple[str, Any, Any] | None:
    """(field, id on either side) of the first result that answers another call than it did; None where none does, or these are
    no lists of messages."""
    if not isinstance(was, list) or not isinstance(now, list):
        return None
    for (place, before, recorded), (_, after, received) in zip(_linked(was, field), _linked(now, field), strict=False):
        if before != after:
            return place, recorded, received
    return None


def _linked(messages: list[Any], field: str) -> Iterator[tuple[str, int, Any]]:
    """(field of the id, ordinal, id) of each call and result."""
    chain = Chain.start()
    for n, message in enumerate(messages):
        for k, atom in enumerate(atoms_of(message)):
            if atom.kind in ("call", "result"):
                chain = chain.extend([atom])
                part = parts_of(message)[k]
                yield f"{field}[{n}].parts[{k}].id", chain.ordinals[-1], part.get("id") if isinstance(part, dict) else None
