"""How a failed call is said: for every reader of spans, and exactly enough to raise the same kind again."""

from __future__ import annotations

import traceback
from typing import Any

from otelreplay.canonical import class_name, dumps_reporting
from otelreplay.instrument.spec import clean
from otelreplay.instrument.values import Losses, text
from otelreplay.modules import module_name

ERROR = "otelreplay.error"


def error_type(error: BaseException) -> str:
    """``error.type``: the class, with its module unless it is built in."""
    kind = type(error)
    module = module_name(kind.__module__)
    return clean(kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}")


def message(error: BaseException) -> str:
    """The exception's text; its class may fail to give one."""
    try:
        return clean(str(error))
    except Exception:
        return ""


def attributes(error: BaseException, losses: Losses) -> dict[str, Any]:
    """``error.type`` and ``otelreplay.error``: class, arguments, and those instance attributes that are plain values."""
    kind = type(error)
    fields = {}
    for name, value in _instance_attributes(error).items():
        if not dumps_reporting(value)[1] and not isinstance(value, BaseException):
            fields[name] = value
    held: dict[str, Any] = {"class": class_name(kind), "args": [*error.args]}
    if fields:
        held["fields"] = fields
    return {"error.type": error_type(error), ERROR: text(held, "error", losses)}


def _instance_attributes(error: BaseException) -> dict[str, Any]:
    held = getattr(error, "__dict__", None)
    return {name: value for name, value in held.items() if isinstance(name, str)} if isinstance(held, dict) else {}


def event(error: BaseException) -> dict[str, Any]:
    """Attributes of the ``exception`` event."""
    try:
        stack = clean("".join(traceback.format_exception(error)))
    except Exception:  # a class that fails to say what it is
        stack = ""
    return {"exception.type": error_type(error), "exception.message": message(error), "exception.stacktrace": stack}
