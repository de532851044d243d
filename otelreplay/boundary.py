"""The one hook through which decorated code meets a replay.

    decorated function ──▶ instrument builds a Call ──▶ interceptor installed?  no: the function runs and is recorded
                                                                                yes: the interceptor answers, it never runs

An agent is the exception: its code runs in both cases, and the interceptor is told when it begins and ends. There is one
interceptor a process, not one a thread or a task: a call from a thread that inherited no context meets it too. And there is one
of this module: a program that throws its modules away and imports them again gets the first one back. Nothing here imports
anything heavy: every decorated program does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Call:
    """One crossing of a boundary, before it happens."""

    kind: str
    """A kind of event: ``model``, ``tool``, ``agent``, ``clock``, ..."""
    name: str
    attributes: Mapping[str, Any]
    """What the span of this call would carry from its start: operation, names, arguments, messages. Values of OTLP."""
    parent: object = None
    """What :meth:`Interceptor.enter` returned for the agent around this call; None outside of any, or in a bare thread."""
    function: str = ""
    """``module:Qualified.Name`` of the decorated function."""
    where: str = ""
    """``file.py:12``: where the call came from."""
    stream: bool = False
    """The decorated function is a generator."""


@dataclass(frozen=True, slots=True, eq=False)
class Returned:
    """The call gives this value."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Raised:
    """The call fails with this exception."""

    error: BaseException


End = Literal["returned", "raised", "stopped"]
"""How a stream ended: by itself, by an error, or because its consumer read no further."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Streamed:
    """The call gives these chunks one by one, then ends as the recorded one did."""

    chunks: Sequence[Any]
    end: End = "returned"
    value: Any = None
    """What the generator returns, for ``returned``."""
    error: BaseException | None = None
    """What it raises, for ``raised``."""
    asked_for_more: Callable[[], BaseException] | None = None
    """For ``stopped``: called when the consumer reads on; reports that, and gives the exception to raise."""
    sent: Sequence[tuple[int, Any]] = ()
    """(number of the chunk it answered, value) of each value that was sent into the generator."""
    on_sent: Callable[[int, Any], None] | None = None
    """Told of each value sent at replay, and of None where another one was recorded; may raise."""
    on_left: Callable[[int, bool], None] | None = None
    """Told that the consumer stopped after this many chunks: by closing it, or (True) by an error thrown in."""


Answer = Returned | Raised | Streamed


class ReplayStopped(BaseException):
    """The replay cannot go on: the call has no answer in the cassette. What happened stands in the report.

    Not an ``Exception``, so that a program's own error handling does not take it for a failure of the call.
    """


class Interceptor(Protocol):
    """What a replay puts in place of every boundary. All methods may be called from several threads at once."""

    def call(self, call: Call, /) -> Answer:
        """The recorded answer. Raises :class:`ReplayStopped` when there is none."""

    def enter(self, call: Call, /) -> object:
        """An agent begins; what is returned is the ``parent`` of the calls inside it."""

    def leave(self, token: object, /, *, value: Any = None, error: BaseException | None = None) -> None:
        """The agent of that token ended, with a value or an error."""


@dataclass(slots=True)
class _Process:
    interceptor: Interceptor | None = None
    declared: set[tuple[str, str]] = field(default_factory=set)
    parent: ContextVar[object] = field(default_factory=lambda: ContextVar("otelreplay.parent", default=None))
    turns: Callable[[], int] | None = None


_process: _Process = vars(sys).setdefault("_otelreplay_process", _Process())
_parent = _process.parent
sys.modules[__name__] = vars(sys).setdefault("_otelreplay_boundary", sys.modules[__name__])


def interceptor() -> Interceptor | None:
    """The interceptor of this process; None outside of a replay."""
    return _process.interceptor


def install(new: Interceptor | None) -> None:
    """Put an interceptor in place for the whole process, or take it away with None."""
    _process.interceptor = new


def turns() -> int:
    """How many turns of the event loop an answer is to take; more than none only where a replay looks for races."""
    return 0 if _process.turns is None else _process.turns()


def delay(turns: Callable[[], int]) -> None:
    """Let answers to coroutines take so many turns of the event loop."""
    _process.turns = turns


def declare(kind: str, name: str) -> None:
    """Say that this process has a boundary of that kind and name: every decorator does."""
    _process.declared.add((kind, name))


def declared(kind: str) -> frozenset[str]:
    """The names of the boundaries of a kind that this process has so far; modules that are imported later add theirs."""
    return frozenset(name for of, name in _process.declared if of == kind)


def parent() -> object:
    """The token of the agent around the running code."""
    return _parent.get()


def within(token: object) -> Callable[[], None]:
    """Make ``token`` the parent of what runs from now on in this context; call the result to go back.

    Going back in another context (an async generator that another task closes) is no error: there is nothing to undo there.
    """
    reset = _parent.set(token)

    def back() -> None:
        try:
            _parent.reset(reset)
        except ValueError:
            _parent.set(None)

    return back
