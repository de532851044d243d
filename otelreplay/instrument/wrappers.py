"""The functions that stand in place of the decorated ones, one for each kind of function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from otelreplay.boundary import interceptor
from otelreplay.instrument.spec import Spec
from otelreplay.instrument.tracing import tracer


def wrap(spec: Spec, fn: Callable[..., Any], inner: Any) -> Callable[..., Any]:
    """A function of the same kind as ``inner``, which records each call of ``fn``."""
    if inspect.isasyncgenfunction(inner):
        return fn
    if inspect.isgeneratorfunction(inner):
        return fn
    return _coroutine(spec, fn) if inspect.iscoroutinefunction(inner) else _plain(spec, fn)


def _plain(spec: Spec, fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if tracer() is None and interceptor() is None:
            return fn(*args, **kwargs)
        crossing = _begin(spec, args, kwargs)
        if crossing is None:
            return fn(*args, **kwargs)
        crossing.enter()
        try:
            result = fn(*args, **kwargs)
        except BaseException as error:
            crossing.leave()
            crossing.raised(error)
            raise
        crossing.leave()
        crossing.returned(result)
        return result

    return call


def _coroutine(spec: Spec, fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    async def call(*args: Any, **kwargs: Any) -> Any:
        if tracer() is None and interceptor() is None:
            return await fn(*args, **kwargs)
        crossing = _begin(spec, args, kwargs)
        if crossing is None:
            return await fn(*args, **kwargs)
        crossing.enter()
        try:
            result = await fn(*args, **kwargs)
        except BaseException as error:
            crossing.leave()
            crossing.raised(error)
            raise
        crossing.leave()
        crossing.returned(result)
        return result

    return call


def _begin(spec: Spec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from otelreplay.instrument import recording

    return recording.begin(spec, args, kwargs)
