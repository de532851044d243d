"""A call in a replay: answered from the recording, and never made. Only an agent's own code runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from typing import Any, Self

from otelreplay.boundary import Answer, Call, Interceptor, Raised, ReplayStopped, Returned, Streamed, parent, within
from otelreplay.instrument import attributes as said
from otelreplay.instrument.crossing import Answered, Crossing, Invocation, where


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


def result(answer: Answer) -> Any:
    """What a plain function or a coroutine gives."""
    if isinstance(answer, Raised):
        raise answer.error
    return answer.value if isinstance(answer, Returned) else ReplayedStream(answer)


class ReplayedStream:
    """A stream that a plain function or a coroutine returned: read like a generator, or like an asynchronous one."""

    def __init__(self, answer: Streamed) -> None:
        self._chunks = generator(answer)

    def __iter__(self) -> Iterator[Any]:
        return self._chunks

    def __next__(self) -> Any:
        return next(self._chunks)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Read no further."""
        self._chunks.close()

    async def aclose(self) -> None:
        """Read no further."""
        self._chunks.close()


def generator(answer: Answer) -> Generator[Any, Any, Any]:
    """What a generator function gives: the recorded chunks, then the recorded end."""
    if not isinstance(answer, Streamed):
        return result(answer)
    for n, chunk in enumerate(answer.chunks):
        try:
            value = yield chunk
        except BaseException as error:
            _left(answer, n + 1, error)
            raise
        _sent(answer, n, value)
    _finish(answer)
    return answer.value


async def async_generator(answer: Answer) -> AsyncGenerator[Any, Any]:
    """The same for an asynchronous one."""
    if not isinstance(answer, Streamed):
        result(answer)
        return
    for n, chunk in enumerate(answer.chunks):
        try:
            value = yield chunk
        except BaseException as error:
            _left(answer, n + 1, error)
            raise
        _sent(answer, n, value)
    _finish(answer)


def _sent(answer: Streamed, n: int, value: Any) -> None:
    if answer.on_sent is not None and (value is not None or any(n == at for at, _ in answer.sent)):
        answer.on_sent(n, value)


def _left(answer: Streamed, read: int, error: BaseException) -> None:
    if answer.on_left is not None:
        answer.on_left(read, not isinstance(error, GeneratorExit))


def _finish(answer: Streamed) -> None:
    """The end as recorded; a consumer that reads past one that was never reached is told so, not that it was the end."""
    if answer.end == "raised" and answer.error is not None:
        raise answer.error
    if answer.end == "stopped":
        raise (
            answer.asked_for_more() if answer.asked_for_more else ReplayStopped("more was asked of a stream than was recorded")
        )
