"""What of a recorded request is compared, and what is not.

A component is *checked* if the event carries it. One that the event lacks was *not sent* (and a live value there is a change)
if the event is known to carry all there was, or if another event of the same package, operation and run has it. Everything
else is *loose*: it is not compared, and listed as unchecked with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from otelreplay.events import Event, Missing
from otelreplay.events.fields import within
from otelreplay.events.message import full_name, marked_messages
from otelreplay.replay.live import OWN

SCOPE: Final = "otelreplay.scope"
CARRIES: Final = "otelreplay.carries"
_NOT_PASSED: Final = "not passed through the decorated function"
_WHOLE: Final = ("arguments",)
"""Fields that are recorded whole or not at all, though each of their keys is a component."""


class Carried(msgspec.Struct, frozen=True):
    """How the requests of some events are compared. Equal values are one shelf of the index."""

    checked: tuple[str, ...]
    """Components whose digests must be equal, in order."""
    soft: tuple[str, ...] = ()
    """Components of which parts are not compared, or not by digest; see :mod:`otelreplay.replay.soft`."""
    loose: tuple[tuple[str, str], ...] = ()
    """(field without ``request.``, why it is not compared); an empty field is the whole request."""
    closed: frozenset[str] | None = None
    """Components that were not sent if the event lacks them; None: all of them."""

    def compares(self, component: str) -> bool:
        """Whether the component is looked at."""
        return not any(within(component, field) for field, _ in self.loose)

    def extras(self, live: Iterable[str]) -> tuple[list[str], list[str]]:
        """Live components that the event lacks: (those that are changes, those about which nothing is known)."""
        known = {*self.checked, *self.soft}
        changes, unknown = list[str](), list[str]()
        for component in live:
            if component not in known and self.compares(component):
                (changes if self._was_not_sent(component) else unknown).append(component)
        return changes, unknown

    def _was_not_sent(self, component: str) -> bool:
        if self.closed is None or component in self.closed:
            return True
        return any(
            within(component, whole) and any(within(c, whole) for c in (*self.checked, *self.soft, *self.closed))
            for whole in _WHOLE
        )


def is_own(event: Event) -> bool:
    """Whether a decorated function made the span that the event was read from."""
    scope = event.attributes.get(SCOPE)
    return isinstance(scope, str) and scope.partition(" ")[0] == OWN


def gaps_of(event: Event) -> list[Missing]:
    """The gaps of an event under full field names, those of its messages included."""
    out = list(event.missing)
    for prefix, message in marked_messages(event):
        out += [m.model_copy(update={"field": full_name(prefix, m)}) for m in message.marks if isinstance(m, Missing)]
    return out


class Traits(msgspec.Struct, frozen=True):
    """What of an event decides how it is compared, beside the components that it holds."""

    family: tuple[str, str, str]
    """Package, kind and operation."""
    own: bool
    passed: tuple[str, ...] | None
    """Components that a decorated function was passed, where it is known."""
    gaps: tuple[tuple[str, str], ...]
    """(field, cause) of each."""


def traits_of(event: Event, operation: str) -> Traits:
    """The traits of an event; many of a run have the same."""
    scope, own = event.attributes.get(SCOPE), is_own(event)
    passed = event.attributes.get(CARRIES) if own else None
    return Traits(
        (scope if isinstance(scope, str) else "", event.kind, operation), own,
        tuple(filter(_is_text, passed)) if isinstance(passed, list | tuple) else None,
        tuple([(gap.field, gap.cause) for gap in gaps_of(event)]),
    )  # fmt: skip


def _is_text(value: object) -> bool:
    return isinstance(value, str)


class Families:
    """Which components each package carried for each operation, over a run."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], set[str]] = {}
        self._frozen: dict[tuple[str, str, str], frozenset[str]] = {}

    def add(self, key: tuple[str, str, str], keys: Iterable[str]) -> None:
        """Take the components of an event of this family into account."""
        self._seen.setdefault(key, set()).update(keys)

    def of(self, key: tuple[str, str, str]) -> frozenset[str]:
        """All components of the family; after the last :meth:`add`."""
        found = self._frozen.get(key)
        if found is None:
            found = self._frozen[key] = frozenset(self._seen.get(key, ()))
        return found


def carried(traits: Traits, keys: Mapping[str, Any], family: frozenset[str], soft: Iterable[str] = ()) -> Carried:
    """How an event with these component keys is compared. ``soft``: components with holes that digests cannot judge."""
    loose: dict[str, str] = {}
    gentle = set(soft)
    dropped = False
    for gap, cause in traits.gaps:
        dropped = dropped or cause == "attributes_dropped"
        if not within(gap, "request"):
            continue
        field = gap.removeprefix("request").removeprefix(".")
        inside = [key for key in keys if field != key and within(field, key)]
        if inside:
            gentle.update(inside)
        else:
            loose[field] = f"missing in the recording: {cause}"
    if traits.passed is not None:
        loose |= {key: _NOT_PASSED for key in keys if key not in traits.passed and key not in loose}
    compared = [key for key in sorted(keys) if not any(within(key, field) for field in loose)]
    return Carried(
        checked=tuple([key for key in compared if key not in gentle]),
        soft=tuple([key for key in compared if key in gentle]),
        loose=tuple(sorted(loose.items())),
        closed=frozenset() if dropped else None if traits.own else family,
    )
