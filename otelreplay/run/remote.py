"""The boundaries of a process that has no session of its own: each crossing asks the host, which holds the one of the run.

What goes over is JSON in the typed encoding; the other end is :mod:`otelreplay.stubs.crossing`. Instances are rebuilt here,
since here are the program's classes. Loaded in processes that may have nothing but the standard library.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

from otelreplay import canonical
from otelreplay.boundary import Answer, Call, End, Raised, ReplayStopped, Returned, Streamed, parent
from otelreplay.instances import Instances, not_loaded
from otelreplay.run.wire import HostGoneError, exchange

Message = dict[str, Any]


class Token:
    """An agent that is open at the host. It is this process's to close: a fork that leaves through the same frames does not."""

    __slots__ = ("name", "number", "process")

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name, self.process = number, name, os.getpid()


class Remote:
    """Implements :class:`otelreplay.boundary.Interceptor` over the line to the host."""

    def __init__(self) -> None:
        self._instances = Instances()
        self._lock = threading.Lock()
        self._open: dict[int, Token] = {}

    def call(self, call: Call, /) -> Answer:
        """The recorded answer. Raises ReplayStopped when there is none."""
        return self.answer(ask({"do": "call", **_said(call)}))

    def enter(self, call: Call, /) -> object:
        """An agent begins."""
        token = Token(ask({"do": "enter", **_said(call)})["token"], f"{call.kind} {call.name}")
        self._open[token.number] = token
        return token

    def leave(self, token: object, /, *, value: Any = None, error: BaseException | None = None) -> None:
        """The agent of that token ended. Raises ReplayStopped when the recorded one ended otherwise."""
        if not isinstance(token, Token) or token.process != os.getpid():
            return
        self._open.pop(token.number, None)
        if isinstance(error, ReplayStopped):
            return
        ended: Message = {"value": canonical.encode(value)} if error is None else {"error": _named(error)}
        try:
            ask({"do": "leave", "token": token.number, **ended})
        except ReplayStopped as stopped:
            raise stopped from error  # the agent's own error: whoever ends the program can show it

    def around(self) -> str:
        """``agent order-desk``: the one that the running code is in; empty outside of any."""
        held = parent()
        if isinstance(held, Token):
            return held.name
        open_now = [token for token in list(self._open.values()) if token.process == os.getpid()]
        return open_now[0].name if len(open_now) == 1 else ""

    def answer(self, reply: Mapping[str, Any]) -> Answer:
        """What the host said, as the program is given it."""
        seq = reply.get("seq", -1)
        if "raised" in reply:
            return Raised(self._error(seq, reply["raised"]))
        if "stream" not in reply:
            return Returned(self._value(seq, reply.get("returned")))
        said, number = reply["stream"], reply["stream"]["number"]
        return Streamed(
            chunks=[self._value(seq, chunk) for chunk in said["chunks"]],
            end=_end(said["end"]),
            value=self._value(seq, said["value"]),
            error=None if said["error"] is None else self._error(seq, said["error"]),
            asked_for_more=lambda: _stopped({"do": "more", "stream": number}),
            sent=[(n, self._value(seq, value)) for n, value in said["sent"]],
            on_sent=lambda n, value: _tell({"do": "sent", "stream": number, "index": n, "value": canonical.encode(value)}),
            on_left=lambda read, thrown: _tell({"do": "left", "stream": number, "read": read, "thrown": thrown}),
        )

    def _value(self, seq: int, encoded: Any) -> Any:
        with self._lock:
            known = set(self._instances.missing)
            value = self._instances.value(canonical.decode(encoded))
            new = self._instances.missing - known
        for name in sorted(new):
            assume(seq, "response", not_loaded(name))
        return value

    def _error(self, seq: int, said: Mapping[str, Any]) -> BaseException:
        raised = canonical.decode(said["raised"])
        error, assumed = self._instances.raised(raised, kind=said["type"], message=said["message"])
        if assumed:
            assume(seq, "error", assumed)
        return error


REMOTE = Remote()


def ask(message: Message) -> Message:
    """The host's answer. Raises ReplayStopped with its words when the replay cannot go on."""
    try:
        reply = exchange(message)
    except HostGoneError as error:
        raise ReplayStopped(f"otelreplay: {error}") from None
    if "stopped" in reply:
        raise ReplayStopped(reply["stopped"])
    return reply


def assume(seq: int, field: str, reason: str) -> None:
    """List something that was assumed in giving an answer."""
    _tell({"do": "assume", "seq": seq, "field": field, "reason": reason})


def number_of(token: object) -> int | None:
    """The number by which the host knows an agent."""
    return token.number if isinstance(token, Token) else None


def _tell(message: Message) -> None:
    ask(message)


def _stopped(message: Message) -> BaseException:
    try:
        ask(message)
    except ReplayStopped as stopped:
        return stopped
    return ReplayStopped("more was asked of a stream than was recorded")


def _said(call: Call) -> Message:
    return {
        "kind": call.kind,
        "name": call.name,
        "attributes": canonical.encode(dict(call.attributes)),
        "parent": number_of(call.parent),
        "function": call.function,
        "where": call.where,
        "stream": call.stream,
    }


def _named(error: BaseException) -> Message:
    kind = type(error)
    return {"module": kind.__module__, "name": kind.__qualname__, "ours": not isinstance(error, Exception)}


def _end(text: str) -> End:
    return "raised" if text == "raised" else "stopped" if text == "stopped" else "returned"
