"""Recorded values as a program had them: instances and exceptions of its own classes.

A class that a recording names is only looked up among the modules that are loaded already; nothing is imported because of a
recording, and no constructor or validation of such a class runs. What cannot be found stays a
:class:`otelreplay.canonical.Tagged`, or becomes an exception of a class made up under that name, and is said to be so.

Light: processes that a replay starts import this, also where nothing but the standard library is installed.
"""

from __future__ import annotations

import builtins
import dataclasses
import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from otelreplay import canonical
from otelreplay.canonical import Tagged
from otelreplay.modules import module_name

_REFUSED: Final = ("SystemExit", "KeyboardInterrupt", "GeneratorExit")
_made: dict[str, type[Exception]] = {}


def not_loaded(name: str) -> str:
    """What is assumed where an instance stays as it was recorded. ``name``: ``module:Qualified.Name``."""
    return f"the class {name} is not loaded; its instance is given as its fields"


class Instances:
    """Rebuilds values. ``missing`` collects the names of classes that are not loaded."""

    def __init__(self) -> None:
        self.missing: set[str] = set()

    def value(self, value: Any) -> Any:
        """The value with instances of loaded classes; the same object where there is nothing to rebuild."""
        named = sorted(_classes(value))
        if not named:
            return value
        types = [kind for name in named if (kind := _class(name)) is not None and _is_data(kind)]
        done = canonical.decode(canonical.encode(value), types=types)
        self.missing.update(_classes(done))
        return done

    def raised(self, said: Mapping[str, Any], *, kind: str | None, message: str | None) -> tuple[BaseException, str]:
        """A recorded failure as an exception, and what of it is assumed.

        ``said``: its ``class``, ``args`` and ``fields`` as far as they are known; ``kind`` and ``message``: what every
        convention knows.
        """
        name = str(said.get("class") or kind or "RecordedError")
        args = said.get("args")
        values = tuple(self.value(a) for a in args) if isinstance(args, list | tuple) else None
        found = _exception(name)
        if found is None:
            found = _made_up(name)
            assumed = f"the class {name.rpartition(':')[2]} is not loaded; an exception of that name was made up"
        else:
            assumed = "" if values is not None else "the arguments of the exception were not recorded"
        if values is None:
            values = () if message is None else (message,)
        fields = said.get("fields")
        return _built(found, values, self.value(fields) if isinstance(fields, dict) else {}), assumed


def _class(name: str) -> type | None:
    """``module:Qualified.Name`` among what is loaded."""
    module, _, path = name.partition(":")
    started = module_name("__main__") == module
    found: Any = sys.modules.get(module) or (sys.modules.get("__main__") if started else None)
    for step in path.split("."):
        found = vars(found).get(step) if found is not None and hasattr(found, "__dict__") else None
    return found if isinstance(found, type) else None


def _exception(name: str) -> type[BaseException] | None:
    """A class by ``module:Name``, ``module.Name``, or the name of a built-in."""
    if ":" in name:
        kind = _class(name)
    elif "." in name:
        parts = name.split(".")
        found = (_class(f"{'.'.join(parts[:n])}:{'.'.join(parts[n:])}") for n in range(len(parts) - 1, 0, -1))
        kind = next((k for k in found if k is not None), None)
    else:
        kind = getattr(builtins, name, None)
    if not isinstance(kind, type) or not issubclass(kind, BaseException) or kind.__name__ in _REFUSED:
        return None
    return kind


def _classes(value: Any) -> set[str]:
    """The classes of all instances in a value that were not rebuilt."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Tagged):
            name = item.members.get("class")
            if isinstance(name, str):
                found.add(name)
            waiting += item.members.values()
        elif isinstance(item, dict):
            waiting += [part for pair in item.items() for part in pair]
        elif isinstance(item, list | tuple | set | frozenset):
            waiting += item
    return found


def _is_data(kind: type) -> bool:
    """Only kinds of classes that the encoding writes: no cassette can have an instance of any other made."""
    named_tuple = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return dataclasses.is_dataclass(kind) or issubclass(kind, Enum) or named_tuple or hasattr(kind, "model_construct")


def _made_up(name: str) -> type[Exception]:
    short = name.replace(":", ".").rpartition(".")[2]
    short = short if short.isidentifier() else "RecordedError"
    if short not in _made:
        _made[short] = type(
            short, (Exception,), {"__module__": __name__, "__doc__": "A recorded failure whose class is not loaded here."}
        )
    return _made[short]


def _built(kind: type[BaseException], args: tuple[Any, ...], fields: dict[Any, Any]) -> BaseException:
    """An exception without running a constructor of the program: only those of the built-in class that it is a kind of."""
    base = next(c for c in kind.__mro__ if c.__module__ == "builtins" and issubclass(c, BaseException))
    try:
        error: BaseException = base.__new__(kind, *args)
        base.__init__(error, *args)
    except Exception:  # a built-in that takes other arguments than were recorded
        error = _made_up(kind.__name__)(*args)
    for name, value in fields.items():
        try:
            object.__setattr__(error, name, value)
        except (AttributeError, TypeError):
            continue  # a slot or a property that cannot be set
    return error
