"""A call in a replay: answered from the recording, and never made. Only an agent's own code runs."""

from __future__ import annotations

import types
from collections.abc import Callable, Generator
from typing import Any

from otelreplay.boundary import Call, Interceptor, parent, within
from otelreplay.instrument import attributes as said
from otelreplay.instrument.crossing import Answered, Crossing, Invocation, where
from otelreplay.instrument.given import ReplayedStream, async_generator, generator, result

__all__ = ["Inside", "ReplayedStream", "async_generator", "begin", "generator", "result", "turn"]


def begin(live: Interceptor, invocation: Invocation) -> Crossing:
    """Ask the replay. What it raises goes through: the program must not go on without an answer."""
    _, attributes, _ = said.before(invocation)
    spec, origin = invocation.spec, invocation.origin
    call = Call(
        kind=spec.kind,
        name=spec.name,
        attributes=attributes,
        parent=parent() if origin is None else origin.parent,
        function=spec.function,
        where=where() if origin is None else origin.where,
        stream=spec.stream,
    )
    return Inside(live, live.enter(call)) if spec.kind == "agent" else Answered(live.call(call))


class Inside(Crossing):
    """An agent whose code runs: the calls inside it have its token as their parent."""

    __slots__ = ("back", "live", "open", "token")

    def __init__(self, live: Interceptor, token: object) -> None:
        self.live, self.token = live, token
        self.back: Callable[[], None] | None = None
        self.open = True

    def enter(self) -> None:
        """See :class:`Crossing`."""
        self.back = within(self.token)

    def leave(self) -> None:
        """See :class:`Crossing`."""
        back, self.back = self.back, None
        if back is not None:
            back()

    def returned(self, value: Any) -> None:
        """See :class:`Crossing`."""
        self._end(value=value)

    def raised(self, error: BaseException) -> None:
        """See :class:`Crossing`."""
        self._end(error=error)

    def stopped(self) -> None:
        """See :class:`Crossing`."""
        self._end()

    def _end(self, *, value: Any = None, error: BaseException | None = None) -> None:
        if self.open:
            self.open = False
            self.live.leave(self.token, value=value, error=error)


@types.coroutine
def turn() -> Generator[None, None, None]:
    """Let the event loop run what else is ready."""
    yield
