"""What a stub does when it is called: ask the host, and give the program what its tool gave when it was recorded."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import sys
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Final, get_origin, get_type_hints
from uuid import UUID

from otelreplay import canonical
from otelreplay.boundary import Answer, Returned, parent
from otelreplay.instrument import given
from otelreplay.run import codes, guard, living, remote
from otelreplay.run.named import Known

_DATA: Final = (bool, int, float, str, bytes, Enum, dt.date, dt.time, dt.timedelta, Decimal, UUID, PurePath)


def dispatch(stub: Known, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call of the function gives: a value, a coroutine, a generator of either kind."""
    token, where = parent(), _where()
    if stub.original is not None:
        return living.dispatch(stub, args, kwargs, _message(stub, args, kwargs, token, where))

    def ask() -> Answer:
        return _answer(stub, args, kwargs, token, where)

    if stub.flags & (codes.COROUTINE | codes.ITERABLE_COROUTINE):
        made: Any = _coroutine(ask)
    elif stub.flags & codes.ASYNC_GENERATOR:
        made = given.async_generator(ask)
    elif stub.flags & codes.GENERATOR:
        made = given.generator(ask)
    else:
        return given.result(ask())
    made.__name__, made.__qualname__ = stub.tool.path[-1], stub.qualname
    return made


async def _coroutine(ask: Any) -> Any:
    return given.result(ask())


def _answer(stub: Known, args: tuple[Any, ...], kwargs: dict[str, Any], token: object, where: str) -> Answer:
    reply = remote.ask({"do": "tool", **_message(stub, args, kwargs, token, where)})
    answer = remote.REMOTE.answer(reply)
    return Returned(_as_declared(stub, answer.value, reply["seq"])) if isinstance(answer, Returned) else answer


def _message(stub: Known, args: tuple[Any, ...], kwargs: dict[str, Any], token: object, where: str) -> dict[str, Any]:
    bound = stub.named(args, kwargs)
    return {
        "name": stub.tool.name,
        "function": stub.tool.target,
        "arguments": canonical.encode(bound),
        "defaulted": [name for name, value in bound.items() if _is_default(stub, name, value)],
        "opaque": [name for name, value in bound.items() if not _is_data(value)],
        "parent": remote.number_of(token),
        "where": where,
        "stream": bool(stub.flags & (codes.GENERATOR | codes.ASYNC_GENERATOR)),
    }


def _is_default(stub: Known, name: str, value: Any) -> bool:
    if name not in stub.defaults:
        return False
    default = stub.defaults[name]
    try:
        return value is default or (type(value) is type(default) and bool(value == default))
    except Exception:  # a class of the program's that does not like to be compared
        return False


def _is_data(value: Any) -> bool:
    if value is None or isinstance(value, _DATA):
        return True
    if isinstance(value, dict):
        return all(_is_data(each) for pair in value.items() for each in pair)
    return isinstance(value, list | tuple | set | frozenset) and all(_is_data(each) for each in value)


def _where() -> str:
    """``file.py:12`` of the program's line that led here; of the caller, where no line is the program's own."""
    frame: Any = sys._getframe(3)  # the code of the stub
    frame = first = frame.f_back or frame
    while frame is not None and guard.foreign(frame.f_code.co_filename):
        frame = frame.f_back
    frame = frame or first
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"


# ---- results that were recorded as JSON ------------------------------------------------------------------------------------


def _as_declared(stub: Known, value: Any, seq: int) -> Any:
    """A recorded result in the form that the function says it returns, where telemetry has lost that.

    Telemetry holds JSON: whether it was an object or its text, or which class it was, is not said there.
    """
    declared = _declared(stub)
    made, rule = _made(declared, value)
    if rule:
        remote.assume(seq, "response.result", rule)
    return made


def _declared(stub: Known) -> Any:
    if isinstance(stub.returns, str):
        try:
            return get_type_hints(stub.function).get("return")
        except Exception:  # a name that is only there for type checkers
            return {"str": str, "dict": dict, "list": list}.get(stub.returns.partition("[")[0])
    return stub.returns


def _made(declared: Any, value: Any) -> tuple[Any, str]:
    """(the value, the rule by which it was changed)."""
    kind = get_origin(declared) or declared
    if not isinstance(kind, type) or kind is Any or isinstance(value, kind):
        return value, ""
    if kind is str and isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False), "written as JSON text: the function says that it returns text"
    if isinstance(value, str) and issubclass(kind, dict | list | Mapping):
        read, found = canonical.read_json(value)
        return (
            (found, "read from JSON text: the function says what it returns")
            if read and isinstance(found, kind)
            else (value, "")
        )
    if isinstance(value, dict):
        return _instance(kind, value)
    return value, ""


def _instance(kind: type, value: dict[str, Any]) -> tuple[Any, str]:
    """An instance of a model or dataclass of the program's, of the fields that were recorded."""
    validate = getattr(kind, "model_validate", None)
    rule = f"made an instance of {kind.__qualname__}, which the function says that it returns"
    try:
        if validate is not None:
            return validate(value), rule
        if dataclasses.is_dataclass(kind) and {f.name for f in dataclasses.fields(kind)} >= value.keys():
            return kind(**value), rule
    except Exception:  # what was recorded does not fit: a placeholder, another version
        pass
    return value, ""
