"""Texts of a report through a redactor, before they are laid out: a secret that is wrapped over two lines is not found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from otelreplay.cassette import Cassette
from otelreplay.events import Completeness, Missing

Clean = Callable[[str], str]
"""Redacts one text; the same text where nothing is to be redacted."""


def as_it_is(text: str) -> str:
    """For values that nobody prints, or that are clean."""
    return text


def cleaned(value: Any, clean: Clean) -> Any:
    """Every text of a JSON value, keys too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): cleaned(item, clean) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item, clean) for item in value]
    return value


def cleaned_outline(cassette: Cassette, clean: Clean) -> Cassette:
    """The cassette with what a timeline and a report print of it cleaned. The payload of its events is not among that."""
    if clean is as_it_is:
        return cassette
    header = cassette.header
    facts: dict[str, Any] = {"source": cleaned(header.source, clean), "scopes": tuple(map(clean, header.scopes))}
    facts |= {"policy": header.policy and {**header.policy, "name": clean(str(header.policy.get("name") or ""))}}
    if header.parent is not None:
        facts |= {"parent": header.parent.model_copy(update={"reason": clean(header.parent.reason)})}
    events = []
    for event in cassette.events:
        name = clean(event.name)
        events.append(event if name == event.name else event.model_copy(update={"name": name}))
    notes = tuple(replace(note, code=clean(note.code), message=clean(note.message)) for note in cassette.notes)
    return replace(cassette, header=header.model_copy(update=facts), events=tuple(events), notes=notes)


def cleaned_gaps(found: Completeness, clean: Clean) -> Completeness:
    """The gaps with their texts cleaned."""
    if clean is as_it_is:
        return found
    gaps = tuple((seq, _gap(gap, clean)) for seq, gap in found.gaps)
    return replace(found, missing=tuple(_gap(gap, clean) for gap in found.missing), gaps=gaps)


def _gap(gap: Missing, clean: Clean) -> Missing:
    texts = {name: clean(getattr(gap, name)) for name in ("field", "cause", "detail", "remedy")}
    return gap.model_copy(update=texts)
