"""What a matched call is answered with, and where that comes from.

    origin      the answer
    cassette    was recorded, in its own place
    inferred    was recorded elsewhere and put here by a rule (a result quoted in the next request)
    fork        was set by hand in a fork of the recording
    fixture     was given for this replay
    live        was given by a tool that really ran in this replay, because the user asked for it
    assumed     is a documented form for what was not recorded: a text cut into chunks that join to it, ...

What cannot be given is never made up: :class:`Absent` says why, and the session turns it into ``response_missing``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from otelreplay.cassette.fork import RULE as FORK
from otelreplay.events import Event, Failure, Inferred, Missing
from otelreplay.events.fields import within
from otelreplay.replay.carried import gaps_of
from otelreplay.replay.divergence import Origin
from otelreplay.replay.fixtures import Fixture
from otelreplay.replay.revive import raised_by
from otelreplay.replay.wire import response_of

_TEXT_KINDS: Final = ("model",)
_PIECES: Final = re.compile(r"\s*\S+\s*|\s+")
_BESIDE: Final = ("id", "model", "usage", "finish_reasons")
"""What may have been recorded of a response without its content."""
_IN_PART: Final = frozenset({"never_ended"})
"""Causes of a gap that leave what was delivered."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Served:
    """The answer to one call. Values are as recorded; instances of classes are not rebuilt yet."""

    seq: int
    kind: str
    name: str
    origin: Origin
    value: Any = None
    response: dict[str, Any] | None = None
    """For a call that crossed as a provider's request: the whole response, in the GenAI form."""
    error: Failure | None = None
    chunks: tuple[Any, ...] | None = None
    """For a stream: what it gives before it ends."""
    end: str = "returned"
    """``returned``, ``raised`` or ``stopped``: the recorded consumer read no further."""
    sent: tuple[tuple[int, Any], ...] = ()
    assumed: tuple[str, ...] = ()
    """What of it was not recorded."""
    event: Event = field(repr=False)


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no answer: the mark that says why."""

    mark: Missing


def answer(event: Event, fixture: Fixture | None, *, stream: bool, wire: bool = False) -> Served | Absent:
    """The answer of an event to a call that reads it whole, or as a stream.

    ``wire``: the call crossed as a provider's request, which is answered with the whole response and not with a value.
    """
    gap = _gap(event)
    if gap is not None and fixture is not None and wire and fixture.response is not None:
        known = {key: value for key, value in (event.response or {}).items() if key in _BESIDE}
        return _made(event, known | fixture.response, None, "fixture", stream=stream, wire=True)
    if fixture is not None and (gap is not None or unclassed(event) is not None):
        return _made(event, fixture.response, fixture.error, "fixture", stream=stream, wire=wire)
    if gap is not None:
        return Absent(gap)
    if any(mark.rule == FORK and _is_answer(mark.field) for mark in event.inferred):
        return _made(event, event.response, event.error, "fork", stream=stream, wire=wire)
    origin: Origin = "inferred" if any(_elsewhere(mark, event) for mark in event.inferred) else "cassette"
    return _made(event, event.response, event.error, origin, stream=stream, wire=wire)


def unclassed(event: Event) -> Missing | None:
    """The gap of a recorded error of which only the message is known: what a program does with it hangs on its class."""
    error = event.error
    if error is None or error.type or raised_by(event, error):
        return None
    return Missing(
        field="error.type", cause="not_carried_by_convention", detail="the class of the error that was raised was not recorded",
        remedy="give the error by a fixture, or record with otelreplay's decorator",
    )  # fmt: skip


def gives_stream(event: Event, request: dict[str, Any]) -> bool:
    """Whether a function that is no generator gives the answer as a stream: it did then, and is now asked in the same way."""
    if "chunks" not in (event.response or {}):
        return False
    return _asks(request) or (event.attributes.get("otelreplay.stream.given") is True and not _asks(event.request))


def _asks(request: dict[str, Any]) -> bool:
    """Whether a request asks for a stream, as that of an SDK does."""
    params = request.get("params")
    return isinstance(params, dict) and params.get("stream") is True


def _elsewhere(mark: Inferred, event: Event) -> bool:
    """Whether a value of the answer was taken from another span than the event's own."""
    return _is_value(mark.field) and not any(mark.source.startswith(f"{span}:") for span in (event.id, *event.spans))


def _is_answer(name: str) -> bool:
    return within(name, "response") or within(name, "error")


def _is_value(name: str) -> bool:
    return any(within(name, value) for value in ("response.result", "response.messages", "response.output", "response.chunks"))


def _gap(event: Event) -> Missing | None:
    """Why the answer of an event is not there; None if it is."""
    response = event.response or {}
    if event.error is not None or "chunks" in response:
        return None
    values = ("messages", "result") if event.kind == "model" else ("result",)
    named = [gap for gap in gaps_of(event) if within(gap.field, "response") and gap.cause not in _IN_PART]
    for gap in named:
        if gap.field == "response" or (
            gap.field.removeprefix("response.") in values and not any(v in response for v in values)
        ):
            return gap
    inside = [gap for gap in named if any(within(gap.field, f"response.{v}") for v in values)]
    if inside:
        return inside[0]
    if any(v in response for v in values):
        return None
    if event.kind == "embeddings":
        return Missing(field="response.result", cause="not_carried_by_convention", detail="no telemetry holds vectors")
    return Missing(field=f"response.{values[0]}", cause="content_not_captured", detail="nothing was recorded of the answer")


def _made(
    event: Event, response: dict[str, Any] | None, error: Failure | None, origin: Origin, *, stream: bool, wire: bool
) -> Served | Absent:
    response = response or {}
    common: dict[str, Any] = {
        "seq": event.seq,
        "kind": event.kind,
        "name": event.name,
        "origin": origin,
        "error": error,
        "event": event,
    }
    if wire:
        return _whole(common, response)
    recorded = response.get("chunks")
    if isinstance(recorded, list | tuple):
        return _stream(common, response, tuple(recorded), stream=stream)
    if error is not None:
        return Served(**common, chunks=() if stream else None, end="raised")
    if "result" in response:
        value: Any = response["result"]
        assumed: tuple[str, ...] = ()
    else:
        text = text_of(response.get("messages"))
        if text is None:
            return Absent(Missing(
                field="response.result", cause="not_carried_by_convention",
                detail="the reply is more than one text, and what the function made of it was not recorded",
                remedy="record with otelreplay's decorator, or give a fixture",
            ))  # fmt: skip
        value, assumed = text, ()
    if not stream:
        return Served(**common, value=value, assumed=assumed)
    if isinstance(value, str):
        return Served(**common, chunks=tuple(_PIECES.findall(value)), assumed=("response.chunks: cut so that they join",))
    pieces = tuple(value) if isinstance(value, list | tuple) else (value,)
    return Served(**common, chunks=pieces, assumed=("response.chunks: the items of the result",))


def _whole(common: dict[str, Any], response: dict[str, Any]) -> Served | Absent:
    """The whole response, for a call that crossed as a provider's request."""
    said = response.get("stream")
    end = said.get("end") if isinstance(said, dict) else None
    end = "raised" if common["error"] is not None else "stopped" if end == "stopped" else "returned"
    if common["kind"] != "model":
        return Served(**common, response=response, end=end)
    built = response_of(response)
    if "messages" not in built and common["error"] is None:
        return Absent(Missing(
            field="response.messages", cause="not_carried_by_convention",
            detail="what the function gave was recorded, and not what the model had answered",
            remedy="record the call of the model with an instrumentation of its SDK, or give a fixture",
        ))  # fmt: skip
    return Served(**common, response=built, end=end)


def _stream(common: dict[str, Any], response: dict[str, Any], chunks: tuple[Any, ...], *, stream: bool) -> Served | Absent:
    said = response.get("stream")
    said = said if isinstance(said, dict) else {}
    end = said.get("end")
    end = end if end in ("returned", "raised", "stopped") else "raised" if common["error"] else "returned"
    if stream:
        return Served(**common, chunks=chunks, end=end, value=response.get("result"), sent=_sent(said.get("sent")))
    if common["error"] is not None:
        return Served(**common, end="raised")
    if end == "returned" and all(isinstance(chunk, str) for chunk in chunks):
        return Served(**common, value="".join(chunks), assumed=("response.result: the chunks joined",))
    return Absent(Missing(
        field="response.result", cause="not_carried_by_convention", detail="recorded as a stream, and now read as one value",
        remedy="read it as a stream, or give a fixture",
    ))  # fmt: skip


def _sent(value: Any) -> tuple[tuple[int, Any], ...]:
    """Pairs of index and value; what is not of this form is left out."""
    pairs = value if isinstance(value, list | tuple) else ()
    return tuple((p[0], p[1]) for p in pairs if isinstance(p, list | tuple) and len(p) == 2 and isinstance(p[0], int))


def text_of(messages: Any) -> str | None:
    """The text of the one message of a reply that is nothing else; None if there is more, or nothing."""
    if not isinstance(messages, list | tuple) or len(messages) != 1 or not isinstance(messages[0], dict):
        return None
    parts = messages[0].get("parts")
    texts: list[str] = []
    for part in parts if isinstance(parts, list) else ():
        content = part.get("content") if isinstance(part, dict) and part.get("type") == "text" else None
        if not isinstance(content, str):
            return None
        texts.append(content)
    return "".join(texts) if texts else None
