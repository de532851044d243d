"""The decorators: ``@tool`` or ``@tool(name=…)`` on a function, a method, a class- or static method, or a callable object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from otelreplay.instrument.spec import Effect, code_of, make
from otelreplay.instrument.wrappers import wrap

F = TypeVar("F")
Key = str | Callable[[Mapping[str, Any]], object]


def _decorated(kind: str, target: Any, name: str | None, options: Mapping[str, Any]) -> Any:
    if isinstance(target, staticmethod | classmethod):
        return type(target)(_decorated(kind, target.__func__, name, options))
    if isinstance(target, type):
        own = vars(target).get("__call__")
        if own is None:
            raise TypeError(f"@{kind} needs something to call: the class {target.__name__} defines no __call__")
        setattr(target, "__call__", _decorated(kind, own, name or target.__name__, options))  # noqa: B010
        return target
    if not callable(target):
        raise TypeError(f"@{kind} needs something to call, not an instance of {type(target).__name__}; options go by name")
    return wrap(make(kind, target, name, options), target, code_of(target))


def _decorator(kind: str, target: Any, name: str | None, options: Mapping[str, Any]) -> Any:
    if target is None:
        return lambda fn: _decorated(kind, fn, name, options)
    return _decorated(kind, target, name, options)


@overload
def agent(target: F, /) -> F: ...
@overload
def agent(*, name: str | None = ..., version: str | None = ...) -> Callable[[F], F]: ...
def agent(target: Any = None, /, *, name: str | None = None, version: str | None = None) -> Any:
    """An agent, or a step of one: the calls inside it are its own. In a replay its code runs.

    ``name``: the agent's name, by default the function's; ``version``: any text that is compared on replay.
    """
    return _decorator("agent", target, name, {"version": version})


@overload
def tool(target: F, /) -> F: ...
@overload
def tool(
    *,
    name: str | None = ...,
    effect: Effect | None = ...,
    idempotency_key: Key | None = ...,
    version: str | None = ...,
) -> Callable[[F], F]: ...
def tool(
    target: Any = None,
    /,
    *,
    name: str | None = None,
    effect: Effect | None = None,
    idempotency_key: Key | None = None,
    version: str | None = None,
) -> Any:
    """A tool: recorded with its arguments and its result, and answered from the recording in a replay.

    ``effect``: what the call does outside: ``read``, ``draft`` or ``write``. ``idempotency_key``: the name of the argument that
    holds the key, or a function from the arguments (a mapping by name) to the key.
    """
    return _decorator("tool", target, name, {"effect": effect, "idempotency_key": idempotency_key, "version": version})


@overload
def model(target: F, /) -> F: ...
@overload
def model(
    *,
    name: str | None = ...,
    provider: str | None = ...,
    request: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = ...,
    response: Callable[[Any], Mapping[str, Any] | str] | None = ...,
    version: str | None = ...,
) -> Callable[[F], F]: ...
def model(
    target: Any = None,
    /,
    *,
    name: str | None = None,
    provider: str | None = None,
    request: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
    response: Callable[[Any], Mapping[str, Any] | str] | None = None,
    version: str | None = None,
) -> Any:
    """A call of a model: arguments and result become messages where their names and shapes are usual.

    ``provider``: the value of ``gen_ai.provider.name``. ``request``: a function from the arguments (a mapping by name) to a
    request body, instead of recognising them; ``response``: one from the result to a response body, for a stream from the list
    of its chunks.
    """
    options = {"provider": provider, "request": request, "response": response, "version": version}
    return _decorator("model", target, name, options)


@overload
def retrieval(target: F, /) -> F: ...
@overload
def retrieval(*, name: str | None = ..., version: str | None = ...) -> Callable[[F], F]: ...
def retrieval(target: Any = None, /, *, name: str | None = None, version: str | None = None) -> Any:
    """A retrieval: the text argument is the query, the result its documents. ``name``: the data source."""
    return _decorator("retrieval", target, name, {"version": version})


@overload
def state(target: F, /) -> F: ...
@overload
def state(*, name: str | None = ..., effect: Effect | None = ..., version: str | None = ...) -> Callable[[F], F]: ...
def state(target: Any = None, /, *, name: str | None = None, effect: Effect | None = None, version: str | None = None) -> Any:
    """State from outside of the agent (a database row, a setting, a file), read or written."""
    return _decorator("state", target, name, {"effect": effect, "version": version})
