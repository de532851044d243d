"""Messages of the GenAI message schema (role + parts) as dicts that carry their own marks.

A run repeats its history in every model call, so a message stands in many events. It is one object in all of them, and what is
known about it (redacted, inferred, missing) is kept with it once, relative to the message; :func:`expand` writes the marks out
with full field names for whoever reads a single event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from otelreplay.events.model import Event, Inferred, Mark, Missing, Redaction


class Message(dict[str, Any]):
    """One message. Equal messages of a recording are one object; never changed after construction."""

    __slots__ = ("marks",)

    def __init__(self, value: dict[str, Any], marks: Iterable[Mark] = ()) -> None:
        super().__init__(value)
        self.marks: tuple[Mark, ...] = tuple(marks)
        """Marks whose ``field`` is relative to the message (``parts[0].content``); an empty ``field`` means all of it."""


def messages_of(event: Event) -> Iterator[tuple[str, Any]]:
    """(field prefix, message) of every message that the event holds: of a model, and of an agent's input and output."""
    request, response = ("request", event.request), ("response", event.response or {})
    for (side, holder), keys in ((request, ("messages", "input")), (response, ("messages", "output"))):
        for key in keys:
            messages = holder.get(key)
            for n, message in enumerate(messages if isinstance(messages, list) else ()):
                yield f"{side}.{key}[{n}]", message


def expand(event: Event) -> Event:
    """The event with the marks of its messages written out under full field names."""
    found: dict[type[Mark], list[Mark]] = {Missing: [], Inferred: [], Redaction: []}
    for prefix, message in messages_of(event):
        for mark in getattr(message, "marks", ()):
            field = f"{prefix}.{mark.field}" if mark.field and not mark.field.startswith("[") else prefix + mark.field
            found[type(mark)].append(mark.model_copy(update={"field": field}))
    if not any(found.values()):
        return event
    return event.model_copy(
        update={
            "missing": [*event.missing, *found[Missing]],
            "inferred": [*event.inferred, *found[Inferred]],
            "redactions": [*event.redactions, *found[Redaction]],
        }
    )
