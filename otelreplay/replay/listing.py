"""What a replay lists beside its verdict: unchecked, normalised and assumed fields. Bounded, whatever the length of the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

_SHOWN: Final = 20


@dataclass(slots=True)
class _Entry:
    count: int = 0
    seqs: list[int] = field(default_factory=list)


class Listing:
    """Counts of equal entries with the first events they concern."""

    def __init__(self) -> None:
        self._entries: dict[tuple[tuple[str, str], ...], _Entry] = {}

    def add(self, seq: int, **members: str) -> None:
        """Another event to which this applies; members are text that names rules and fields, never a value."""
        entry = self._entries.setdefault(tuple(sorted(members.items())), _Entry())
        entry.count += 1
        if len(entry.seqs) < _SHOWN and seq not in entry.seqs:
            entry.seqs.append(seq)

    def entries(self) -> tuple[dict[str, Any], ...]:
        """The entries: their members, ``count``, and ``seqs`` (the first of them)."""
        out = [{**dict(key), "count": entry.count, "seqs": list(entry.seqs)} for key, entry in self._entries.items()]
        return tuple(sorted(out, key=lambda e: (e["seqs"][:1], sorted((k, str(v)) for k, v in e.items()))))
