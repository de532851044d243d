"""Boundaries that are crossed in other processes: their messages in, the session's answers out. Values in, values out; no I/O.

    process of the program                              host
    a decorated function, or one that --tool names  ──▶ handle(message) ──▶ session
                                                    ◀── an answer in the typed encoding

A message says what it wants by ``do``:

    call     a decorated function is called; the parts of :class:`otelreplay.boundary.Call`
    tool     a function that ``--tool`` names is called; see :mod:`otelreplay.stubs.arguments`
    live     a function that ``--live-tool`` names is about to run; ``lived`` says what it gave
    enter, leave        an agent begins, and ends
    more, sent, left    what happens to a stream that was given: read on beyond its end, a value sent, read no further
    assume   something was assumed in giving an answer

An answer has ``returned``, ``raised`` or ``stream``, and ``seq``; ``token`` for an agent that began; or ``stopped``, with the
words that say why the replay cannot go on. What the program does with those words changes nothing: the session has latched it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

from otelreplay import canonical
from otelreplay.boundary import Call
from otelreplay.cassette.read import Cassette
from otelreplay.errors import UsageError
from otelreplay.events import Failure
from otelreplay.replay import Session
from otelreplay.replay.answers import Served
from otelreplay.replay.divergence import Diverged
from otelreplay.replay.revive import raised_by
from otelreplay.replay.session import Scope
from otelreplay.stubs.arguments import Named, tools_of

Message = dict[str, Any]


class Crossing:
    """The far end of every boundary of one run. All methods may be called from several threads at once."""

    def __init__(self, session: Session, cassette: Cassette, tell: Callable[[Message], object] | None = None) -> None:
        """``tell`` is given ``served`` and ``divergence`` messages, as :class:`otelreplay.replay.ReplayInterceptor` does."""
        self._session, self._tell = session, tell
        self._tools = tools_of(cassette.events)
        self._numbers = count(1)
        self._scopes: dict[int, Scope] = {}
        self._streams: dict[int, tuple[Served, Call]] = {}
        self._live: dict[int, tuple[Served, Call]] = {}

    def handle(self, message: Mapping[str, Any]) -> Message:
        """The answer to one message. Raises UsageError (``run.message``) for one that no process of ours sends."""
        try:
            return _DOES[message["do"]](self, message)
        except Diverged as diverged:
            if self._tell is not None:
                self._tell({"type": "divergence", **diverged.divergence.as_json()})
            return {"stopped": str(diverged)}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                f"a message that cannot be read ({type(error).__name__})",
                code="run.message",
                where=str(message.get("do", "")),
                next_step="let the program use the otelreplay that runs it",
            ) from None

    def _call(self, message: Mapping[str, Any]) -> Message:
        return self._served(self._call_of(message))

    def _tool(self, message: Mapping[str, Any]) -> Message:
        call, left_out = self._tool_call(message)
        answer = self._served(call)
        for field, reason in left_out:
            self._session.assume(answer["seq"], field, reason)
        return answer

    def _begin_live(self, message: Mapping[str, Any]) -> Message:
        call, left_out = self._tool_call(message)
        served = self._session.begin_live(self._session.live_of(call))
        for field, reason in left_out:
            self._session.assume(served.seq, field, reason)
        number = next(self._numbers)
        self._live[number] = served, call
        return {"seq": served.seq, "live": number}

    def _end_live(self, message: Mapping[str, Any]) -> Message:
        served, call = self._live.pop(message["live"])
        gave = canonical.dumps(canonical.decode(message["returned"])).decode() if "returned" in message else None
        self._session.ended_live(served, call, gave)
        self._say(served)
        return {}

    def _tool_call(self, message: Mapping[str, Any]) -> tuple[Call, list[tuple[str, str]]]:
        name = str(message["name"])
        known = self._tools.get(name) or Named(kind="tool")
        given = canonical.decode(message["arguments"])
        kept, left_out = known.compared(given, defaulted=message["defaulted"], opaque=message["opaque"])
        call = Call(
            kind=known.kind,
            name=name,
            attributes=known.attributes(name, kept, function=str(message["function"])),
            parent=self._scopes.get(message["parent"]),
            function=str(message["function"]),
            where=str(message["where"]),
            stream=bool(message["stream"]),
        )
        return call, left_out

    def _enter(self, message: Mapping[str, Any]) -> Message:
        call = self._call_of(message)
        number = next(self._numbers)
        self._scopes[number] = self._session.enter(self._session.live_of(call), call=call)
        return {"token": number}

    def _leave(self, message: Mapping[str, Any]) -> Message:
        scope = self._scopes.pop(message["token"], None)
        if scope is None:
            return {}
        if "error" in message:
            if message["error"]["ours"] and self._session.diverged:
                return {}  # cancelled, closed or interrupted because another branch was stopped: no cause of anything
            self._session.leave(scope, error=_error_of(message["error"]))
            return {}
        said, output = True, canonical.decode(message["value"])
        if scope.call is not None:
            said, output = self._session.output_of(scope.call, canonical.dumps(output).decode())
        self._session.leave(scope, output=output, said=said)
        return {}

    def _more(self, message: Mapping[str, Any]) -> Message:
        served, call = self._streams[message["stream"]]
        raise self._session.asked_for_more(served, call.where)

    def _sent(self, message: Mapping[str, Any]) -> Message:
        served, call = self._streams[message["stream"]]
        index, value = int(message["index"]), canonical.decode(message["value"])
        plain = self._session.sent_of(call, canonical.dumps([[index, value]]).decode())
        self._session.sent(served, index, plain, call.where)
        return {}

    def _left(self, message: Mapping[str, Any]) -> Message:
        served, _ = self._streams.pop(message["stream"])
        self._session.left(served, int(message["read"]), thrown=bool(message["thrown"]))
        return {}

    def _assume(self, message: Mapping[str, Any]) -> Message:
        self._session.assume(int(message["seq"]), str(message["field"]), str(message["reason"]))
        return {}

    def _call_of(self, message: Mapping[str, Any]) -> Call:
        return Call(
            kind=str(message["kind"]),
            name=str(message["name"]),
            attributes=canonical.decode(message["attributes"]),
            parent=self._scopes.get(message["parent"]),
            function=str(message["function"]),
            where=str(message["where"]),
            stream=bool(message["stream"]),
        )

    def _served(self, call: Call) -> Message:
        served = self._session.call(self._session.live_of(call))
        self._say(served)
        error = None if served.error is None else _failure(served, served.error)
        if served.chunks is None:
            answer = {"returned": canonical.encode(served.value)} if error is None else {"raised": error}
            return {"seq": served.seq, **answer}
        number = next(self._numbers)
        self._streams[number] = served, call
        stream = {
            "number": number,
            "chunks": [canonical.encode(chunk) for chunk in served.chunks],
            "end": served.end,
            "value": canonical.encode(served.value),
            "error": error,
            "sent": [[n, canonical.encode(value)] for n, value in served.sent],
        }
        return {"seq": served.seq, "stream": stream}

    def _say(self, served: Served) -> None:
        if self._tell is not None:
            said = {"seq": served.seq, "boundary": served.kind, "operation": served.name, "origin": served.origin}
            self._tell({"type": "served", **said})


_DOES: Final[Mapping[str, Callable[[Crossing, Mapping[str, Any]], Message]]] = {
    "call": Crossing._call,
    "tool": Crossing._tool,
    "live": Crossing._begin_live,
    "lived": Crossing._end_live,
    "enter": Crossing._enter,
    "leave": Crossing._leave,
    "more": Crossing._more,
    "sent": Crossing._sent,
    "left": Crossing._left,
    "assume": Crossing._assume,
}


def _failure(served: Served, error: Failure) -> Message:
    return {
        "raised": canonical.encode(raised_by(served.event, error)),
        "type": error.type,
        "message": error.message,
    }


def _error_of(said: Mapping[str, Any]) -> BaseException:
    """An exception that has the name of the one in the program; that is all that is compared."""
    module, _, name = str(said["module"]), "", str(said["name"])
    kind = type(name.rpartition(".")[2] or "Error", (Exception,), {"__module__": module, "__qualname__": name})
    error: BaseException = kind()
    return error
