"""Coroutines, generators and asynchronous generators that stand around the function's own.

Each stretch of the function's code runs between ``enter`` and ``leave``; while a generator is suspended nothing of it is
current, so its consumer may go on in another task, thread or context, or never. The loops are PEP 380's ``yield from``, spelled
out so that a chunk can be seen on its way.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import partial
from types import AsyncGeneratorType, GeneratorType
from typing import Any

from otelreplay.boundary import interceptor, turns
from otelreplay.instrument import tracing
from otelreplay.instrument.beginning import begin
from otelreplay.instrument.crossing import NOBODY, Crossing, Held, Invocation, Origin, where
from otelreplay.instrument.spec import Spec


def coroutine(call: Invocation) -> Coroutine[Any, Any, Any]:
    """The coroutine of one call."""
    call.origin = None if interceptor() is None else Origin(None, where())
    return _coroutine(call)


def generator(call: Invocation) -> Generator[Any, Any, Any]:
    """The generator of one call."""
    call.origin = _origin()
    return _driven(partial(_start, call))


def async_generator(call: Invocation) -> AsyncGenerator[Any, Any]:
    """The asynchronous generator of one call."""
    call.origin = _origin()
    return _driven_async(partial(_start, call, asynchronous=True))


def finished(crossing: Crossing, spec: Spec, result: Any) -> Any:
    """What a call that returned gives the program. One that returned a stream is not over yet."""
    if isinstance(result, GeneratorType | AsyncGeneratorType):
        return _adopted(crossing, result)
    if spec.kind == "model" and (hasattr(type(result), "__next__") or hasattr(type(result), "__anext__")):
        from otelreplay.instrument.watching import watch

        if watch(crossing, result):
            return result
    crossing.returned(result)
    return result


def _adopted(crossing: Crossing, made: Any) -> Any:
    """A generator around one that a plain function or a coroutine returned: the call lasts until that one ends."""
    held = Held(crossing.streaming())
    driver: Any = (_driven if isinstance(made, GeneratorType) else _driven_async)(lambda: (held.crossing, made))
    driver.__name__, driver.__qualname__ = made.__name__, made.__qualname__
    return driver


def _origin() -> Origin:
    """Where a generator is made; outside of any span that says nothing, and it belongs where it is read."""
    return Origin(tracing.current() or None, "") if interceptor() is None else Origin(None, where())


async def _coroutine(call: Invocation) -> Any:
    crossing = begin(call)
    if crossing.answer is not None:
        from otelreplay.instrument import playing

        for _ in range(turns()):
            await playing.turn()
        return playing.result(crossing.answer)
    crossing.enter()
    try:
        result = await call.run()
    except BaseException as error:
        crossing.leave()
        crossing.raised(error)
        raise
    crossing.leave()
    return finished(crossing, call.spec, result)


def _start(call: Invocation, *, asynchronous: bool = False) -> tuple[Crossing, Any]:
    """The call and the function's own generator, or that of the replay."""
    crossing = begin(call)
    if crossing.answer is not None:
        from otelreplay.instrument import playing

        return NOBODY, (playing.async_generator if asynchronous else playing.generator)(crossing.answer)
    try:
        return crossing, call.run()
    except BaseException as error:
        crossing.raised(error)
        raise


def _driven(start: Callable[[], tuple[Crossing, Any]]) -> Generator[Any, Any, Any]:
    crossing, source = start()
    step, argument = source.send, None
    while True:
        crossing.enter()
        try:
            chunk = step(argument)
        except StopIteration as end:
            crossing.leave()
            crossing.returned(end.value)
            return end.value
        except BaseException as error:
            crossing.leave()
            crossing.raised(error)
            raise
        crossing.leave()
        crossing.chunk(chunk)
        try:
            argument = yield chunk
        except GeneratorExit:
            value = _close(crossing, source)
            if value is not None:  # since Python 3.13 close() gives what the generator returned
                return value
            raise
        except BaseException as thrown:
            step, argument = source.throw, thrown
        else:
            step = source.send
            if argument is not None:
                crossing.sent(argument)


def _close(crossing: Crossing, source: Any) -> Any:
    crossing.enter()
    try:
        value = source.close()
    except BaseException as error:
        crossing.leave()
        crossing.raised(error)
        raise
    crossing.leave()
    crossing.stopped()
    return value


async def _driven_async(start: Callable[[], tuple[Crossing, Any]]) -> AsyncGenerator[Any, Any]:
    crossing, source = start()
    step, argument = source.asend, None
    while True:
        crossing.enter()
        try:
            chunk = await step(argument)
        except StopAsyncIteration:
            crossing.leave()
            crossing.returned(None)
            return
        except GeneratorExit:  # dropped while it waited
            crossing.leave()
            crossing.stopped()
            raise
        except BaseException as error:
            crossing.leave()
            crossing.raised(error)
            raise
        crossing.leave()
        crossing.chunk(chunk)
        try:
            argument = yield chunk
        except GeneratorExit:
            await _aclose(crossing, source)
            raise
        except BaseException as thrown:
            step, argument = source.athrow, thrown
        else:
            step = source.asend
            if argument is not None:
                crossing.sent(argument)


async def _aclose(crossing: Crossing, source: Any) -> None:
    crossing.enter()
    try:
        await source.aclose()
    except BaseException as error:
        crossing.leave()
        crossing.raised(error)
        raise
    crossing.leave()
    crossing.stopped()
