"""The live side: a call of the running program, read by the very code that reads a recording.

Both sides are equal by construction: a call's attributes become a span, the span passes the cassette's policy, the dialects and
the second pass, and what comes out is an event without a response.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.boundary import Call
from otelreplay.dialects import Interner, SpanView
from otelreplay.events import Event
from otelreplay.reconstruct.build import events_of
from otelreplay.reconstruct.observe import draft_of
from otelreplay.redaction import Redactor
from otelreplay.spans import Resource, Scope, Span

OWN: Final = "otelreplay"
"""Name of the scope of spans that decorated functions make."""
KIND: Final = "otelreplay.kind"
_MESSAGES: Final = 4_096
"""Messages that are remembered, or twice as many as one call has."""
_OPERATIONS: Final = {"model": "chat", "tool": "execute_tool", "retrieval": "retrieval", "agent": "invoke_agent"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Live:
    """One live crossing of a boundary, under the cassette's policy."""

    kind: str
    name: str
    request: dict[str, Any] = field(default_factory=dict)
    """In the shape of an event's request of this kind."""
    parent: object = None
    """The :class:`Scope <otelreplay.replay.session.Scope>` around it; None where it is not known."""
    where: str = ""
    """``file.py:12``: where the call came from."""
    function: str = ""
    stream: bool = False
    """The program reads the answer chunk by chunk."""
    wire: bool = False
    """It crossed as a provider's request: the answer is the whole response."""
    versions: dict[str, Any] = field(default_factory=dict)


class Reader:
    """Makes :class:`Live` values; equal messages of calls that follow each other are one object. Not for several threads."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._scope, self._resource = Scope(name=OWN), Resource()
        self._renew()

    def _renew(self) -> None:
        """Let go of what was seen; one call pays for its whole history then."""
        self._intern, self._second = Interner(), self._redactor.event_pass()
        self._most = _MESSAGES

    def live_of(self, call: Call) -> Live:
        """A decorated call as it is compared."""
        event = self.event(call)
        return Live(
            kind=call.kind,
            name=event.name if event.kind == call.kind else call.name,
            request=event.request,
            parent=call.parent,
            where=call.where,
            function=call.function,
            stream=call.stream,
            versions=event.versions,
        )

    def event(self, call: Call, **more: Any) -> Event:
        """The event that the call's span would become; ``more``: attributes known only at its end."""
        attributes = {KIND: call.kind, **call.attributes, **more}
        operation = _OPERATIONS.get(call.kind)
        if operation is not None:
            attributes.setdefault(sc.OPERATION, operation)
        span = self._redactor.span(
            Span(
                trace_id="0" * 32, span_id="0" * 16, name=call.name, start=1, end=2, attributes=attributes,
                scope=self._scope, resource=self._resource,
            )
        )  # fmt: skip
        if self._intern.size > self._most:
            self._renew()
            draft = draft_of(SpanView(span=span), self._intern, [])
            self._most = max(_MESSAGES, 2 * self._intern.size)
        else:
            draft = draft_of(SpanView(span=span), self._intern, [])
        return self._second.event(events_of([draft])[0])


def live_of(call: Call, reader: Reader) -> Live:
    """What :meth:`Reader.live_of` gives."""
    return reader.live_of(call)
