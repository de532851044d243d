"""The canonical model: what crossed one boundary of an agent's run, as one JSON object.

An event says for each field whether it is *recorded* (it is there, and no mark names it), *inferred* (a mark in ``inferred``
says from which span, path and rule) or *missing* (a mark in ``missing`` gives cause and remedy). Absence is never an empty
string, an empty value is never absence.

Fields are named by one syntax everywhere: dots and ``[n]``, as in ``response.messages[0].parts[1].content``.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal[
    "agent", "model", "embeddings", "tool", "retrieval", "memory", "state", "clock", "random", "id", "decision", "policy",
    "context", "human", "stop",
]  # fmt: skip

Cause = Literal[
    "content_not_captured", "redacted", "truncated", "attributes_dropped", "external_reference", "span_not_received",
    "never_ended", "not_sampled", "not_carried_by_convention", "undecodable", "conflict",
]  # fmt: skip

TIME = r"^[0-9]{1,20}$"
"""A time in nanoseconds since the epoch, as OTLP has it: 64 bits without a sign."""

Effect = Literal["read", "draft", "write"]


class Mark(BaseModel):
    """Base of everything that says something about a field. Fields of later versions are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    field: str


class Missing(Mark):
    """A field that the telemetry does not hold, with the cause and the switch that would have recorded it."""

    cause: Cause
    detail: str = ""
    remedy: str = ""


class Inferred(Mark):
    """A field whose value was found elsewhere: ``from`` is ``trace/span:path``, ``rule`` names the inference."""

    source: str = Field(alias="from")
    rule: str


class Redaction(Mark):
    """A field in which a policy replaced or removed something. Names the rule, never the text."""

    rule: str
    action: str


class Failure(BaseModel):
    """How a boundary failed."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str | None = None
    message: str | None = None


class Event(BaseModel):
    """One boundary crossing. See ``docs/events.md`` for what ``request`` and ``response`` hold for each kind."""

    model_config = ConfigDict(frozen=True, extra="allow")

    seq: int
    """Position in a deterministic linear extension of the causal order, from 0."""
    id: str
    """``trace/span`` of the span it was read from; an inferred event has a suffix that names its call."""
    kind: Kind
    name: str
    parent: int | None = None
    after: list[int] = []
    """Hard causal predecessors, transitively reduced."""
    agent: str | None = None
    request: dict[str, Any] = {}
    request_keys: dict[str, str] = {}
    request_hash: str | None = None
    response: dict[str, Any] | None = None
    error: Failure | None = None
    effect: Effect | None = None
    idempotency_key: str | None = None
    start: str | None = Field(default=None, pattern=TIME)
    """Nanoseconds since the epoch as decimal text: such numbers are beyond 2^53."""
    end: str | None = Field(default=None, pattern=TIME)
    versions: dict[str, Any] = {}
    spans: list[str] = []
    attributes: dict[str, Any] = {}
    """Leftovers: what the spans held and no field took. Never dropped."""
    inferred: list[Inferred] = []
    missing: list[Missing] = []
    redactions: list[Redaction] = []


_Model = TypeVar("_Model", Event, Missing, Inferred, Redaction)


def made(kind: type[_Model], members: dict[str, Any]) -> _Model:
    """A model of values that are known to be of the right types, all of them given, and kept as they are.

    What pydantic's ``model_construct`` does, without its search for defaults and aliases: a run has several of these for each
    span, and to check them all again was a tenth of its time. For values that this program has put together itself.
    """
    model = kind.__new__(kind)
    _put(model, "__dict__", members)
    _put(model, "__pydantic_fields_set__", set(members))
    _put(model, "__pydantic_extra__", {})
    _put(model, "__pydantic_private__", None)
    return model


def changed(event: Event, **members: Any) -> Event:
    """The event with other values for these of its fields, which are not checked."""
    if event.model_extra:
        return event.model_copy(update=members)
    return made(Event, {**event.__dict__, **members})


_put = object.__setattr__
