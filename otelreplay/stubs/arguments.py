"""The arguments of a function that ``--tool`` names, as what a recording holds of them. Pure.

A decorated function records itself, and both sides are equal by construction. A function that nobody decorated was recorded by
somebody else, who saw what the model asked for and not what Python passed on. So where no recording of that tool was made by a
decorator,

    instances           are compared as the data that they hold (a model or dataclass as an object, a date as ISO text)
    defaults            that the function fills in, and no such recording has, are not sent
    objects without data that no such recording has (a context, a client) are not compared, and listed

Pure data that the recording does not have is a change.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from otelreplay import canonical
from otelreplay import semconv as sc
from otelreplay.canonical import Tagged
from otelreplay.events import Event

KINDS: Final = ("tool", "retrieval", "state")
"""Kinds of events that ``--tool`` answers, by the name of the event; where a name has several, the first of these."""
_QUERIES: Final = ("query", "q", "question", "text", "search")
_FUNCTION: Final = "otelreplay.function"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the cassette holds of one name."""

    kind: str
    recorded: tuple[Mapping[str, Any], ...] = ()
    """The arguments of each of its events that has them."""
    decorated: bool = False

    def compared(
        self, given: Mapping[str, Any], *, defaulted: Collection[str], opaque: Collection[str]
    ) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """(the arguments to compare, what was left out and why)."""
        if self.decorated or not self.recorded:
            return dict(given), []
        flat = {name: plain(value) for name, value in given.items()}
        held = set().union(*self.recorded)
        if any(recorded == flat for recorded in self.recorded):
            return flat, []
        always = set(self.recorded[0]).intersection(*self.recorded)
        dropped = {name for name in defaulted if name not in always}
        hidden = {name for name in opaque if name not in held}
        reason = "not compared: an object without data, and no recording of this tool has it"
        kept = {name: value for name, value in flat.items() if name not in dropped | hidden}
        return kept, [(f"request.arguments.{name}", reason) for name in sorted(hidden)]

    def attributes(self, name: str, arguments: dict[str, Any], *, function: str) -> dict[str, Any]:
        """What the span of such a call would carry."""
        if self.kind == "tool":
            own = {sc.OPERATION: "execute_tool", sc.TOOL_NAME: name, sc.TOOL_ARGUMENTS: _text(arguments)}
        elif self.kind == "retrieval":
            own = {sc.OPERATION: "retrieval", sc.DATA_SOURCE_ID: name}
            texts = [n for n, value in arguments.items() if isinstance(value, str)]
            query = next((n for n in (*_QUERIES, *texts) if n in texts), None)
            if query is not None:
                own[sc.RETRIEVAL_QUERY] = arguments.pop(query)
            if arguments and self.decorated:
                own["otelreplay.arguments"] = _text(arguments)
        else:
            own = {"otelreplay.arguments": _text(arguments)}
        return {"otelreplay.kind": self.kind, _FUNCTION: function, **own}


def tools_of(events: Iterable[Event]) -> dict[str, Named]:
    """What ``--tool`` can answer, by name."""
    found: dict[str, dict[str, list[Event]]] = {}
    for event in events:
        if event.kind in KINDS:
            found.setdefault(event.name, {}).setdefault(event.kind, []).append(event)
    return {name: _named(kinds) for name, kinds in found.items()}


def _named(kinds: Mapping[str, list[Event]]) -> Named:
    kind = next(k for k in KINDS if k in kinds)
    events = kinds[kind]
    held = [event.request.get("arguments") for event in events]
    return Named(
        kind=kind,
        recorded=tuple(each for each in held if isinstance(each, Mapping)),
        decorated=any(_FUNCTION in event.attributes for event in events),
    )


def plain(value: Any) -> Any:
    """A value as JSON would have it: what foreign telemetry makes of instances, dates and the like."""
    if isinstance(value, Tagged):
        fields = value.members.get("fields", value.members.get("value"))
        return plain(fields)
    if isinstance(value, Mapping):
        return {name if isinstance(name, str) else str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=repr)
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    known = value is None or isinstance(value, str | int | float | bytes)
    return value if known else str(value)  # a UUID, a Decimal, a path


def _text(value: Any) -> str:
    return canonical.dumps(value).decode()
