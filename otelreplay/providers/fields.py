"""Tables that move fields between a provider's body and the GenAI form.

A table is a sequence of ``(wire path, GenAI name)``. Where two wire paths have one name (``max_completion_tokens`` and
``max_tokens``), the first that is present is read, the other stays where it was, and the first is the one that is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Path = tuple[str, ...]
Table = Sequence[tuple[Path, str]]


def take(rest: dict[str, Any], table: Table) -> dict[str, Any]:
    """Move what the table names out of ``rest`` (changed in place; nested dicts are copied, emptied ones go) and return it."""
    found: dict[str, Any] = {}
    for path, name in table:
        if name not in found and _holds(rest, path):
            found[name] = _pop(rest, path)
    return found


def put(body: dict[str, Any], values: Mapping[str, Any], table: Table) -> None:
    """Write ``values`` where the table says; a name that the table does not know is written under itself if that is free."""
    paths: dict[str, Path] = {}
    for path, name in table:
        paths.setdefault(name, path)
    for name, value in values.items():
        if name in paths:
            _set(body, paths[name], value)
        else:
            body.setdefault(name, value)


def _holds(value: Any, path: Path) -> bool:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _pop(rest: dict[str, Any], path: Path) -> Any:
    if len(path) == 1:
        return rest.pop(path[0])
    inner = dict(rest[path[0]])
    value = _pop(inner, path[1:])
    if inner:
        rest[path[0]] = inner
    else:
        del rest[path[0]]
    return value


def _set(body: dict[str, Any], path: Path, value: Any) -> None:
    if len(path) > 1:
        inner = body.get(path[0])
        body[path[0]] = inner = dict(inner) if isinstance(inner, dict) else {}
        _set(inner, path[1:], value)
    else:
        body[path[0]] = value


def as_dict(value: Any) -> dict[str, Any]:
    """A copy of a dict, and an empty one for anything else."""
    return dict(value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The list, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without the entries that are None: fields that the body did not hold."""
    return {key: value for key, value in values.items() if value is not None}


class Filling:
    """Fills what a body needs and the GenAI form never held with neutral values, and remembers which."""

    def __init__(self, defaults: Mapping[str, Any] | None) -> None:
        self._defaults = defaults or {}
        self.assumed: list[str] = []
        """Paths in the body (dots and ``[n]``) of all values that were filled in."""

    def fill(self, body: dict[str, Any], neutral: Mapping[str, Any], *, under: str = "") -> None:
        """Give ``body`` each key of ``neutral`` that it lacks; a default given under the same path is preferred."""
        for key, value in neutral.items():
            if key not in body:
                path = f"{under}.{key}" if under else key
                chosen = self._defaults.get(path, value)
                body[key] = chosen.copy() if isinstance(chosen, dict | list) else chosen
                self.assumed.append(path)
