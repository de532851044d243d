"""A tool that really runs in a replay (``--live-tool``): the host agrees to the call before, and is told what it gave after.

While it runs, the Python hooks let through what it does, in the same thread and in the tasks that it starts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextvars import ContextVar
from typing import Any, Final

from otelreplay import canonical
from otelreplay.run import codes, guard, remote
from otelreplay.run.named import Known

_running: Final[ContextVar[bool]] = ContextVar("otelreplay.live", default=False)
guard.allowed[:] = [_running.get]


def dispatch(stub: Known, args: tuple[Any, ...], kwargs: dict[str, Any], message: dict[str, Any]) -> Any:
    """What a call of the function gives: a value, a coroutine, a generator of either kind."""
    if stub.flags & (codes.COROUTINE | codes.ITERABLE_COROUTINE):
        return _coroutine(stub, args, kwargs, message)
    if stub.flags & codes.ASYNC_GENERATOR:
        return _async_generator(stub, args, kwargs, message)
    if stub.flags & codes.GENERATOR:
        return _generator(stub, args, kwargs, message)
    with _Call(message) as call:
        return call.gave(stub.original(*args, **kwargs))


class _Call:
    """One call: asked for when it begins, told of when it ends. What runs in it may go live."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.number = remote.ask({"do": "live", **message})["live"]
        self.said: dict[str, Any] = {}

    def __enter__(self) -> _Call:
        self.back = _running.set(True)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            _running.reset(self.back)
        except ValueError:  # a generator that ends in another context
            _running.set(False)
        remote.ask({"do": "lived", "live": self.number, **self.said})

    def gave(self, value: Any) -> Any:
        """The call gave this."""
        self.said = {"returned": canonical.encode(value)}
        return value


async def _coroutine(stub: Known, args: tuple[Any, ...], kwargs: dict[str, Any], message: dict[str, Any]) -> Any:
    with _Call(message) as call:
        return call.gave(await stub.original(*args, **kwargs))


def _generator(stub: Known, args: tuple[Any, ...], kwargs: dict[str, Any], message: dict[str, Any]) -> Generator[Any, Any, Any]:
    with _Call(message) as call:
        chunks: list[Any] = []
        for chunk in stub.original(*args, **kwargs):
            call.gave([*chunks, chunk])
            chunks.append(chunk)
            yield chunk


async def _async_generator(
    stub: Known, args: tuple[Any, ...], kwargs: dict[str, Any], message: dict[str, Any]
) -> AsyncGenerator[Any, Any]:
    with _Call(message) as call:
        chunks: list[Any] = []
        async for chunk in stub.original(*args, **kwargs):
            call.gave([*chunks, chunk])
            chunks.append(chunk)
            yield chunk
