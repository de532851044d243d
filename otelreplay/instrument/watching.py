"""Streams of model SDKs that a plain function or a coroutine returns.

The program must get the very object, so nothing can stand around it. Instead the object's class becomes a subclass of its own,
made here, whose steps are seen; ``isinstance`` and everything else of it stay as they are. Where a class does not allow that,
the call ends when it returns, and its result is marked as lost.
"""

from __future__ import annotations

from typing import Any

from otelreplay.instrument.crossing import Crossing, Held

_HELD = "_otelreplay_held"
_classes: dict[type, type] = {}


def watch(crossing: Crossing, made: Any) -> bool:
    """See the chunks of this iterator as they are taken; False if that cannot be."""
    kind = type(made)
    if not (hasattr(kind, "__next__") or hasattr(kind, "__anext__")) or kind.__module__ == "builtins":
        return False
    held = Held(crossing)
    try:
        vars(made)[_HELD] = held
        made.__class__ = _classes.get(kind) or _classes.setdefault(kind, _subclass(kind))
    except Exception:  # no instance attributes, or a layout that cannot be exchanged
        held.let_go()
        getattr(made, "__dict__", {}).pop(_HELD, None)
        return False
    held.crossing = crossing.streaming()
    return True


def _subclass(kind: Any) -> type:
    body: dict[str, Any] = {"__slots__": (), "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    if hasattr(kind, "__next__"):
        body |= {"__next__": _next(kind), "__iter__": lambda self: self}
    if hasattr(kind, "__anext__"):
        body |= {"__anext__": _anext(kind), "__aiter__": lambda self: self}
    if hasattr(kind, "close"):
        body["close"] = _close(kind, asynchronous="__anext__" in body)
    return type(kind.__name__, (kind,), body)


def _next(kind: Any) -> Any:
    def step(self: Any) -> Any:
        crossing = vars(self)[_HELD].crossing
        crossing.enter()
        try:
            chunk = kind.__next__(self)
        except BaseException as error:
            _end(crossing, error, StopIteration)
            raise
        crossing.leave()
        crossing.chunk(chunk)
        return chunk

    return step


def _anext(kind: Any) -> Any:
    async def step(self: Any) -> Any:
        crossing = vars(self)[_HELD].crossing
        crossing.enter()
        try:
            chunk = await kind.__anext__(self)
        except BaseException as error:
            _end(crossing, error, StopAsyncIteration)
            raise
        crossing.leave()
        crossing.chunk(chunk)
        return chunk

    return step


def _close(kind: Any, *, asynchronous: bool) -> Any:
    def close(self: Any) -> Any:
        try:
            return kind.close(self)
        finally:
            vars(self)[_HELD].crossing.stopped()

    async def aclose(self: Any) -> Any:
        try:
            return await kind.close(self)
        finally:
            vars(self)[_HELD].crossing.stopped()

    return aclose if asynchronous else close


def _end(crossing: Crossing, error: BaseException, regular: type[BaseException]) -> None:
    crossing.leave()
    if isinstance(error, regular):
        crossing.returned(None)
    else:
        crossing.raised(error)
