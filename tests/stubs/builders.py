"""Requests, events and answers for the tests of the stubs."""

from dataclasses import dataclass, field
from typing import Any

from otelreplay.events import Event, Failure
from otelreplay.replay.answers import Absent, Served, answer
from otelreplay.replay.fixtures import Fixture


@dataclass(frozen=True)
class Asking:
    """A request, as far as an answer depends on it."""

    api: str
    stream: bool = False
    model: str = ""
    body: dict[str, Any] = field(default_factory=dict)
    sse: bool = True


def event(response: Any = None, *, error: Failure | None = None, kind: str = "model", **more: Any) -> Event:
    """An event with that response."""
    return Event(seq=0, id="t/s", kind=kind, name="chat", response=response, error=error, **more)


def served(response: Any = None, *, fixture: Fixture | None = None, stream: bool = False, **more: Any) -> Served:
    """What a session would serve of such an event to a provider's request."""
    found = answer(event(response, **more), fixture, stream=stream, wire=True)
    assert isinstance(found, Served), found
    return found


def absent(response: Any = None, **more: Any) -> Absent:
    """The same, where nothing can be served."""
    found = answer(event(response, **more), None, stream=False, wire=True)
    assert isinstance(found, Absent), found
    return found


def text(content: str, **more: Any) -> dict[str, Any]:
    """A response that is one text."""
    return {"messages": [{"role": "assistant", "parts": [{"type": "text", "content": content}]}], **more}


def calls(*named: tuple[str, Any], **more: Any) -> dict[str, Any]:
    """A response that is calls of tools."""
    parts = [{"type": "tool_call", "id": f"c{n}", "name": name, "arguments": args} for n, (name, args) in enumerate(named)]
    return {"messages": [{"role": "assistant", "parts": parts}], **more}
