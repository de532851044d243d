"""What a dialect is given and what it says: the protocol that every convention in this package follows.

A *dialect* is one convention of writing an agent's boundaries into spans and log records. It looks at one span with its own log
records (:class:`SpanView`) and says what that span reports (:class:`Reading`), or nothing. It never looks at other spans: what
follows from several of them is the work of ``reconstruct``. Dialects know nothing of each other; several may read one span, and
their readings are combined in the order of the registry (first come, first kept).

Fields of a reading are event fields in flat form::

    request.model  request.params  request.system  request.messages  request.tools  request.provider  request.api
    request.arguments  request.call_id  request.query  request.input
    response.messages  response.finish_reasons  response.usage  response.id  response.model  response.result  response.output
    response.chunks  response.stream
    error  agent  versions  effect  idempotency_key

A field that the span does not hold is left out; a recorded null is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from otelreplay.dialects.intern import Interner
from otelreplay.events import Mark, Missing
from otelreplay.spans import LogRecord, Span

CONTENT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "model": ("request.messages", "request.system", "request.tools", "response.messages"),
    "embeddings": ("request.inputs",),
    "tool": ("request.arguments", "response.result"),
    "retrieval": ("request.query", "response.result"),
    "memory": ("request.query", "response.result"),
    "agent": ("request.input", "response.output"),
    "state": ("request.arguments", "response.result"),
    "clock": ("response.result",),
    "random": ("response.result",),
    "id": ("response.result",),
}
"""The payload of each kind of boundary."""


class SpanView(msgspec.Struct, frozen=True, kw_only=True):
    """One span with the log records that name it, in order of time."""

    span: Span
    logs: tuple[LogRecord, ...] = ()
    received: bool = True
    """False: the span itself never arrived, only its log records; ``span`` is a stub with their ids."""
    told: str = ""
    """The kind of boundary that ``logs`` alone tell of (see :class:`Logged`); ``span`` is made from them. "" of a true span."""
    limit: int = 0
    """The length at which values of this run were cut, in characters; 0 when there is no sign of such a limit."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one dialect says of one span."""

    dialect: str
    kind: str
    name: str
    fields: Mapping[str, Any] = {}
    gaps: tuple[Missing, ...] = ()
    """Why a content field is not there, where the dialect knows; used only if no other source has the field."""
    taken: frozenset[str] = frozenset()
    """Attributes of the span that the fields hold whole; the others are kept as leftovers."""
    took_logs: bool = False
    """The content of the span's log records is in the fields."""
    took_events: frozenset[str] = frozenset()
    """Names of the span events whose content is in the fields."""
    marks: tuple[Mark, ...] = ()
    """Marks on fields that are given: inferred inside the span, or known to be incomplete."""
    not_sent: frozenset[str] = frozenset()
    """Content fields that are known not to have been sent: no gap, whatever another dialect thinks."""
    texts: Mapping[str, str] = {}
    """The recorded text of fields that were decoded from JSON, where other spans may tell better what it stands for."""
    maybe_empty: bool = False
    """The reply that is not there may have been empty: the call ended well and cost next to nothing; its request is there."""
    alternatives: bool = False
    """The reply's messages are choices of which the agent took one; otherwise they are one turn."""
    exact: bool = False
    """Written by a decorator: all values are exact, and no other dialect is asked about the span."""
    as_tool: Reading | None = None
    """Of a function that nobody calls a tool: what the span says if it is one, which only a model's request can tell."""
    conversation: bool = False
    """Of context: messages went through it in a form that tells no boundary."""
    drops_calls: bool = False
    """The package is known to leave turns that call tools out of the history."""
    no_boundary: bool = False
    """The span is known to be a step inside a package, whatever other conventions on it say."""
    told_afterwards: bool = False
    """The span was made when a stream had ended, to tell its reply; another span beside it, before it, is the call."""
    drops_text_beside_calls: bool = False
    """The package is known to lose the text of a history message that also has tool calls."""


@runtime_checkable
class Dialect(Protocol):
    """One convention. Implementations are modules' singletons without state."""

    @property
    def name(self) -> str:
        """Stable name, as it stands in reports."""

    @property
    def attribute_fields(self) -> Mapping[str, str]:
        """Attribute (or log attribute) name → event field that takes its content. For ``policy check``."""

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """What the span reports in this convention, or None when it does not use it. Never raises on odd input."""


class Logged(msgspec.Struct, frozen=True, kw_only=True):
    """One boundary that an agent reports by log records alone."""

    kind: str
    key: str
    """Tells it from the others of its trace, whatever the order of arrival."""
    logs: tuple[LogRecord, ...]
    start: int
    end: int
    around: str = ""
    """The key of the boundary around it."""


@runtime_checkable
class LogDialect(Protocol):
    """An agent that may report by log records alone. Its :class:`Dialect` reads what is found, one view a boundary."""

    @property
    def name(self) -> str:
        """The name of its dialect."""

    def is_of(self, record: LogRecord, /) -> bool:
        """Is this a record of the agent?"""

    def keeps_spans(self, span: Span, /) -> bool:
        """Is this a span by which the agent tells the same, so that its records add no boundary?"""

    def boundaries(self, records: Sequence[LogRecord], /) -> list[Logged]:
        """What records of one trace tell of. Those of a tool's call may tell of the reply that asked for it, too."""
