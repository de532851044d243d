"""A replay in place of every boundary of decorated code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otelreplay import canonical
from otelreplay.boundary import Answer, Call, End, Raised, ReplayStopped, Returned, Streamed
from otelreplay.replay.answers import Served
from otelreplay.replay.divergence import Diverged
from otelreplay.replay.revive import Reviver, not_loaded
from otelreplay.replay.session import Scope, Session

Message = dict[str, Any]


class ReplayInterceptor:
    """Implements :class:`otelreplay.boundary.Interceptor` over a session.

    ``on_message`` is called the moment something happens, with a JSON object: ``served`` (seq, boundary, operation, origin) or
    ``divergence`` (the shape of ``first_divergence``). What it raises is not caught.
    """

    def __init__(self, session: Session, on_message: Callable[[Message], object] | None = None) -> None:
        self._session = session
        self._tell = on_message if on_message is not None else _nobody
        self._reviver = Reviver()
        session.on_observed = lambda divergence: self._tell({"type": "divergence", **divergence.as_json()})

    def call(self, call: Call, /) -> Answer:
        """The recorded answer. Raises ReplayStopped when there is none."""
        session = self._session
        try:
            served = session.call(session.live_of(call))
        except Diverged as diverged:
            raise self._stop(diverged) from None
        self._tell(
            {"type": "served", "seq": served.seq, "boundary": served.kind, "operation": served.name, "origin": served.origin}
        )
        return self._answer(served, call)

    def enter(self, call: Call, /) -> object:
        """An agent begins."""
        try:
            return self._session.enter(self._session.live_of(call), call=call)
        except Diverged as diverged:
            raise self._stop(diverged) from None

    def leave(self, token: object, /, *, value: Any = None, error: BaseException | None = None) -> None:
        """The agent of that token ended. Raises ReplayStopped when the recorded one ended otherwise."""
        if not isinstance(token, Scope) or isinstance(error, ReplayStopped):
            return
        if error is not None and not isinstance(error, Exception) and self._session.diverged:
            return  # cancelled, closed or interrupted because another branch was stopped: no cause of anything
        said, output = True, value
        if token.call is not None and error is None:
            said, output = self._session.output_of(token.call, canonical.dumps(value).decode())
        try:
            self._session.leave(token, output=output, error=error, said=said)
        except Diverged as diverged:
            raise self._stop(diverged) from error  # the agent's own error: whoever ends the program can show it

    def _answer(self, served: Served, call: Call) -> Answer:
        error = self._error(served)
        if served.chunks is None:
            return Raised(error) if error is not None else Returned(self._value(served, served.value))
        return Streamed(
            chunks=[self._value(served, chunk) for chunk in served.chunks],
            end=_end(served.end),
            value=self._value(served, served.value),
            error=error,
            asked_for_more=lambda: self._stop(self._session.asked_for_more(served, call.where)),
            sent=[(n, self._value(served, value)) for n, value in served.sent],
            on_sent=lambda n, value: self._sent(served, n, value, call),
            on_left=lambda read, thrown: self._session.left(served, read, thrown=thrown),
        )

    def _error(self, served: Served) -> BaseException | None:
        if served.error is None:
            return None
        error, assumed = self._reviver.error(served.event, served.error)
        if assumed:
            self._session.assume(served.seq, "error", assumed)
        return error

    def _value(self, served: Served, value: Any) -> Any:
        known = set(self._reviver.missing)
        done = self._reviver.value(value)
        for name in sorted(self._reviver.missing - known):
            self._session.assume(served.seq, "response", not_loaded(name))
        return done

    def _sent(self, served: Served, index: int, value: Any, call: Call) -> None:
        plain = self._session.sent_of(call, canonical.dumps([[index, value]]).decode())
        try:
            self._session.sent(served, index, plain, call.where)
        except Diverged as diverged:
            raise self._stop(diverged) from None

    def _stop(self, diverged: Diverged) -> ReplayStopped:
        self._tell({"type": "divergence", **diverged.divergence.as_json()})
        return ReplayStopped(str(diverged))


def _end(text: str) -> End:
    return "raised" if text == "raised" else "stopped" if text == "stopped" else "returned"


def _nobody(_message: Message) -> None:
    """Without anybody to tell."""
