"""Finds the agent by the name that the user gave, and calls it as it was called when it was recorded."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from otelreplay.errors import UsageError

Function = Callable[..., Any]


def named(agent: str) -> tuple[str, str]:
    """(module, function) of ``MODULE:FUNCTION``."""
    module, colon, function = agent.partition(":")
    if not (module and colon and function):
        raise UsageError(
            "this names no function",
            code="replay.agent_name",
            where=agent,
            next_step="write it as module:function, or module:Class.method",
        )
    return module, function


def found(agent: str) -> Function:
    """The function. What its module raises while it is imported is raised as it is.

    A method that needs an instance is bound to ``Class()``.
    """
    name, path = named(agent)
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        raise UsageError(
            f"there is no module {name}",
            code="replay.agent_module",
            where=agent,
            next_step="run this in the folder from which `python -m` would find it",
        ) from None
    held: Any = module
    for part in path.split("."):
        above, held = held, getattr(held, part, None)
        if held is None:
            raise UsageError(
                f"the module has no {path}", code="replay.agent_function", where=agent, next_step="name the decorated function"
            )
        if (
            isinstance(above, type)
            and inspect.isfunction(held)
            and not isinstance(inspect.getattr_static(above, part), staticmethod)
        ):
            held = getattr(above(), part)
    if not callable(held):
        raise UsageError(
            "this cannot be called", code="replay.agent_function", where=agent, next_step="name the decorated function"
        )
    return held  # type: ignore[no-any-return]


def arguments(function: Function, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Recorded arguments, which are by name, as the function takes them.

    A name that the function does not have is passed on all the same: what Python says of it is the true outcome.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [], dict(given)
    rest, positional, keywords = dict(given), list[Any](), dict[str, Any]()
    kinds = [p.kind for p in parameters]
    spread = next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), None)
    hidden = spread is not None or inspect.Parameter.POSITIONAL_ONLY in kinds
    by_place = bool(spread and rest.get(spread))
    for p in parameters:
        if p.kind == p.VAR_KEYWORD:
            keywords |= rest.pop(p.name, {}) if hidden else {}
        elif p.name not in rest:
            continue
        elif p.kind == p.VAR_POSITIONAL:
            positional += rest.pop(p.name)
        elif p.kind == p.POSITIONAL_ONLY or (by_place and p.kind == p.POSITIONAL_OR_KEYWORD):
            positional.append(rest.pop(p.name))
        else:
            keywords[p.name] = rest.pop(p.name)
    return positional, {**keywords, **rest}


def call(function: Function, given: Mapping[str, Any]) -> Any:
    """Call it, to its end: a coroutine is awaited, a generator of either kind is read out, its chunks are the result."""
    positional, keywords = arguments(function, given)
    result = function(*positional, **keywords)
    if inspect.isasyncgen(result) or (isinstance(result, AsyncIterator) and not inspect.isawaitable(result)):
        return asyncio.run(_read_out(result))
    if inspect.isawaitable(result):
        return asyncio.run(_awaited(result))
    if inspect.isgenerator(result) or isinstance(result, Iterator):
        return list(result)
    return result


async def _read_out(result: AsyncIterator[Any]) -> list[Any]:
    return [chunk async for chunk in result]


async def _awaited(result: Any) -> Any:
    return await result
