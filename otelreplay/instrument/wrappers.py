"""The functions that stand in place of the decorated ones.

Theory of operation. A wrapper is a plain function in any case. Of a generator or coroutine function it returns a generator or
coroutine that is a real one, and its code carries the flag by which :mod:`inspect` and :mod:`asyncio` know such functions, as
``types.coroutine`` marks one. So what happens at the call happens at the call: arguments that do not fit fail there, a
generator belongs to the place where it was made, and where nothing is recorded or replayed the function's own object is
returned as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from otelreplay.boundary import interceptor
from otelreplay.instrument import streams
from otelreplay.instrument.beginning import begin
from otelreplay.instrument.crossing import Invocation
from otelreplay.instrument.spec import Spec
from otelreplay.instrument.tracing import tracer

Function = Callable[..., Any]

_DRIVERS: tuple[tuple[Callable[[Any], bool], int, Callable[..., Any]], ...] = (
    (inspect.iscoroutinefunction, inspect.CO_COROUTINE, streams.coroutine),
    (inspect.isgeneratorfunction, inspect.CO_GENERATOR, streams.generator),
    (inspect.isasyncgenfunction, inspect.CO_ASYNC_GENERATOR, streams.async_generator),
)


def wrap(spec: Spec, fn: Function, inner: Any) -> Function:
    """A function of the same kind as ``inner`` that records each call of ``fn``, or lets a replay answer it."""
    for is_kind, flag, driver in _DRIVERS:
        if is_kind(inner):
            return _lazy(spec, fn, flag, driver)
    return _plain(spec, fn)


def _plain(spec: Spec, fn: Function) -> Function:
    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if tracer() is None and interceptor() is None:
            return fn(*args, **kwargs)
        return _run(Invocation(spec, fn, args, kwargs))

    return call


def _lazy(spec: Spec, fn: Function, flag: int, driver: Callable[..., Any]) -> Function:
    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if tracer() is None and interceptor() is None:
            return fn(*args, **kwargs)
        invocation = Invocation(spec, fn, args, kwargs)
        try:
            invocation.bound = spec.bind(*args, **kwargs)
        except TypeError:
            return _run(invocation)
        made = driver(invocation)
        made.__name__, made.__qualname__ = call.__name__, call.__qualname__
        return made

    function: Any = call
    function.__code__ = function.__code__.replace(co_flags=function.__code__.co_flags | flag)
    return call


def _run(call: Invocation) -> Any:
    crossing = begin(call)
    if crossing.answer is not None:
        from otelreplay.instrument import playing

        return playing.result(crossing.answer)
    crossing.enter()
    try:
        result = call.run()
    except BaseException as error:
        crossing.leave()
        crossing.raised(error)
        raise
    crossing.leave()
    return streams.finished(crossing, call.spec, result)
