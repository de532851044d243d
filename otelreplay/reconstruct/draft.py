"""The working form of an event while a run is being put together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from otelreplay.dialects import Reading
from otelreplay.events import Inferred, Missing, made
from otelreplay.spans import Span

NOT_CAPTURED = ("content_not_captured", "not_carried_by_convention")
"""Causes that say only that the sender did not write it."""
_SEPARATORS = ("__", "-", ".", ":", "/", "_")


class Draft(msgspec.Struct, eq=False, kw_only=True):
    """One boundary in the making. Mutable, private to ``reconstruct``; compared and hashed by identity."""

    id: str
    kind: str
    name: str
    span: Span | None = None
    """The span it was mainly read from; None for an event that only other spans tell of."""
    fields: dict[str, Any] = {}
    """Event fields in flat form, see ``dialects.reading``."""
    gaps: dict[str, Missing] = {}
    """Why a content field is absent, by field; the last word is had in ``reconstruct.gaps``."""
    missing: list[Missing] = []
    inferred: list[Inferred] = []
    texts: dict[str, str] = {}
    """The recorded text of fields that were decoded from JSON."""
    spans: list[str] = []
    leftovers: dict[str, Any] = {}
    start: int = 0
    end: int = 0
    parent: Draft | None = None
    before: set[Draft] = set()
    """Hard predecessors, in no order and not yet reduced."""
    behind: int = 0
    """Of an event without a time: the latest start among the calls that its reply asked for before it."""
    rank: tuple[int, ...] = ()
    """Order among events that have no time of their own."""
    maybe_empty: bool = False
    """See ``dialects.reading.Reading.maybe_empty``."""
    alternatives: bool = False
    """See ``dialects.reading.Reading.alternatives``."""
    told_afterwards: bool = False
    """See ``dialects.reading.Reading.told_afterwards``."""
    drops_text: bool = False
    """See ``dialects.reading.Reading.drops_text_beside_calls``."""
    drops_calls: bool = False
    """See ``dialects.reading.Reading.drops_calls``."""
    conversation: bool = False
    """See ``dialects.reading.Reading.conversation``."""
    as_tool: Reading | None = None
    """See ``dialects.reading.Reading.as_tool``."""
    joined: list[Draft] = []
    """Of a decorated draft: those of other instrumentation that report the same boundary."""
    exact: bool = False
    """A decorator reported it: see ``dialects.reading.Reading.exact``."""
    recognised: bool = True
    """A dialect read the span; otherwise only its structure is known."""

    def has(self, name: str) -> bool:
        """Is the field there, recorded or inferred?"""
        return name in self.fields

    def explain(self, gap: Missing) -> None:
        """Takes an explanation of a field's absence; one that tells more than "not captured" wins."""
        known = self.gaps.get(gap.field)
        if gap.field not in self.fields and (known is None or (known.cause in NOT_CAPTURED and gap.cause not in NOT_CAPTURED)):
            self.gaps[gap.field] = gap

    def infer(self, name: str, value: Any, *, source: str, rule: str) -> None:
        """Sets a field from somewhere else, and says from where."""
        self.fields[name] = value
        self.gaps.pop(name, None)
        self.inferred.append(made(Inferred, {"field": name, "source": source, "rule": rule}))

    @property
    def scope(self) -> str:
        """Name of the package that reported it."""
        return self.span.scope.name if self.span is not None else ""


def above(draft: Draft) -> Iterator[Draft]:
    """The drafts above, nearest first."""
    at = draft.parent
    while at is not None:
        yield at
        at = at.parent


def names_alike(a: str, b: str) -> bool:
    """Equal, or one is the other inside a name space."""
    long, short = (a, b) if len(a) > len(b) else (b, a)
    return a == b or (bool(short) and any(long.endswith(s + short) for s in _SEPARATORS))
