"""Messages of the GenAI message schema (role + parts) as dicts that carry their own marks.

A run repeats its history in every model call, so a message stands in many events. It is one object in all of them, and what is
known about it (redacted, inferred, missing) is kept with it once, relative to the message; :func:`expand` writes the marks out
with full field names for whoever reads a single event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any

from otelreplay.events.model import Event, Inferred, Mark, Missing, Redaction


class Message(dict[str, Any]):
    """One message. Equal messages of a recording are one object; never changed after construction."""

    __slots__ = ("marks",)

    def __init__(self, value: dict[str, Any], marks: Iterable[Mark] = ()) -> None:
        super().__init__(value)
        self.marks: tuple[Mark, ...] = tuple(marks)
        """Marks whose ``field`` is relative to the message (``parts[0].content``); an empty ``field`` means all of it."""


_marks_of = attrgetter("marks")
_REQUEST = ("messages", "input")
_RESPONSE = ("messages", "output")


def marked_messages(event: Event) -> Iterator[tuple[str, Message]]:
    """(field prefix, message) of the messages that have marks: of a model, and of an agent's input and output.

    Spends little on those that have none, since a history repeats them in every event.
    """
    for prefix, messages in _lists(event):
        try:
            if not any(map(_marks_of, messages)):
                continue
            places = [n for n, message in enumerate(messages) if message.marks]
        except AttributeError:  # something else is among them
            places = [n for n, message in enumerate(messages) if getattr(message, "marks", ())]
        for n in places:
            yield f"{prefix}[{n}]", messages[n]


def full_name(prefix: str, mark: Mark) -> str:
    """The field of a message's mark under its full name."""
    return f"{prefix}.{mark.field}" if mark.field and not mark.field.startswith("[") else prefix + mark.field


def expand(event: Event) -> Event:
    """The event with the marks of its messages written out under full field names."""
    found: dict[type[Mark], list[Mark]] = {Missing: [], Inferred: [], Redaction: []}
    for prefix, message in marked_messages(event):
        for mark in message.marks:
            found[type(mark)].append(mark.model_copy(update={"field": full_name(prefix, mark)}))
    if not any(found.values()):
        return event
    return event.model_copy(
        update={
            "missing": [*event.missing, *found[Missing]],
            "inferred": [*event.inferred, *found[Inferred]],
            "redactions": [*event.redactions, *found[Redaction]],
        }
    )


def _lists(event: Event) -> Iterator[tuple[str, list[Any]]]:
    request, response = event.request, event.response
    for name in ("messages", "input"):
        if isinstance(found := request.get(name), list):
            yield f"request.{name}", found
    for name in ("messages", "output") if response else ():
        if response and isinstance(found := response.get(name), list):
            yield f"response.{name}", found
