"""What a program is given for a call that a replay answers: a value, an error, or a stream read like the recorded one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from typing import Any, Self

from otelreplay.boundary import Answer, Raised, ReplayStopped, Returned, Streamed


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


def generator(answer: Answer | Callable[[], Answer]) -> Generator[Any, Any, Any]:
    """What a generator function gives: the recorded chunks, then the recorded end. The answer may come when it is read."""
    if callable(answer):
        answer = answer()
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


async def async_generator(answer: Answer | Callable[[], Answer]) -> AsyncGenerator[Any, Any]:
    """The same for an asynchronous one."""
    if callable(answer):
        answer = answer()
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
