"""The one syntax that names a field: in marks, reports, policies, ``--set``.

    field   = "" | first *next          "" is the whole value
    first   = name | index | quoted
    next    = "." name | index | quoted
    name    = 1*(any character but . [ ] " \\ and control characters)
    index   = "[" decimal digits "]"
    quoted  = "[" JSON string "]"       for a key that no name can say: empty, with dots, brackets, quotes, …

``request.messages[2].parts[0].content`` · ``attributes["gen_ai.request.model"].x`` · ``request.arguments[""]``

Every path (a tuple of keys and indexes) has exactly one spelling that :func:`format_path` makes; :func:`parse` also reads a
quoted key that needed no quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from otelreplay.canonical.paths import join
from otelreplay.errors import UsageError

Path = tuple[str | int, ...]

_STEP: Final = re.compile(
    r'(?P<dot>\.)?(?P<name>[^.\[\]"\\\x00-\x1f\x7f\ud800-\udfff]+)|\[(?P<index>0|[1-9][0-9]{0,17})\]|\[(?P<quoted>"(?:[^"\\]|\\.)*+")\]'
)


class Absent:
    """The type of :data:`ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()
"""What :func:`get` gives for a field that is not there; None is a recorded null."""


def parse(field: str) -> Path:
    """The path that a field names. Raises :class:`UsageError` (``field.syntax``) with the position that cannot be read."""
    path: list[str | int] = []
    at = 0
    while at < len(field):
        found = _STEP.match(field, at)
        if found is None or (found["name"] is not None and (found["dot"] is None) != (at == 0)):
            raise _unreadable(at)
        if found["index"] is not None:
            path.append(int(found["index"]))
        elif found["quoted"] is not None:
            try:
                path.append(json.loads(found["quoted"]))
            except ValueError:
                raise _unreadable(at) from None
        else:
            path.append(found["name"])
        at = found.end()
    return tuple(path)


def _unreadable(at: int) -> UsageError:
    what = f"not the name of a field from character {at + 1} on"
    return UsageError(what, code="field.syntax", next_step='write it like request.messages[0].parts[1] or arguments["a.b"]')


def format_path(path: Iterable[str | int]) -> str:
    """The one spelling of a path."""
    return join("", *path)


def under(prefix: str, field: str) -> str:
    """The field that ``field``, relative to ``prefix``, is in full."""
    return f"{prefix}.{field}" if prefix and field and field[0] != "[" else prefix + field


def within(field: str, ancestor: str) -> bool:
    """Whether ``field`` is ``ancestor`` or a part of it (both in the spelling of :func:`format_path`)."""
    return not ancestor or field == ancestor or (field.startswith(ancestor) and field[len(ancestor)] in ".[")


def get(holder: Any, field: str) -> Any:
    """The value of a field of nested dicts, lists and models (an :class:`Event`, say); :data:`ABSENT` if it is not there."""
    value = holder
    for step in parse(field):
        if isinstance(step, int):
            if not isinstance(value, list | tuple) or step >= len(value):
                return ABSENT
            value = value[step]
        elif isinstance(value, Mapping):
            if step not in value:
                return ABSENT
            value = value[step]
        else:
            known = {**getattr(type(value), "model_fields", {}), **(getattr(value, "model_extra", None) or {})}
            if step not in known:
                return ABSENT
            value = getattr(value, step)
    return value


def leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(field, value) of everything that is not a list or a dict, and of empty ones, in order."""
    waiting = [(prefix, value)]
    while waiting:
        field, item = waiting.pop()
        if isinstance(item, dict) and item:
            waiting.extend(
                (join(field, key if isinstance(key, str) else str(key)), child) for key, child in reversed(item.items())
            )
        elif isinstance(item, list | tuple) and item:
            waiting.extend((join(field, n), item[n]) for n in range(len(item) - 1, -1, -1))
        else:
            yield field, item
