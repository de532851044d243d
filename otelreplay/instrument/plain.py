"""Objects of SDKs and programs as plain dicts and lists, for recognising what shape they have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

_DEPTH = 64
_SDKS = ("openai", "anthropic")
"""Their objects hold exactly what was received; fields that were not are unset."""


def plain(value: Any, depth: int = 0) -> Any:
    """The value with pydantic models, dataclasses, tuples and mappings as dicts and lists; what is none of these stays.

    For looking at a shape, never for keeping: the exact value is recorded beside it.
    """
    kind = type(value)
    if kind in (str, int, float, bool, bytes, type(None)) or depth > _DEPTH:
        return value
    if kind is dict:
        return {key: plain(item, depth + 1) for key, item in list(value.items())}
    if isinstance(value, list | tuple) and not hasattr(kind, "_fields"):
        return [plain(item, depth + 1) for item in value]
    dump = getattr(kind, "model_dump", None)
    if callable(dump):
        return plain(_dumped(value, kind), depth + 1)
    if dataclasses.is_dataclass(kind):
        return {field.name: plain(getattr(value, field.name), depth + 1) for field in dataclasses.fields(kind)}
    if isinstance(value, Mapping):
        return {key: plain(item, depth + 1) for key, item in value.items()}
    return value


def _dumped(value: Any, kind: type) -> Any:
    root = kind.__module__.partition(".")[0]
    if root in _SDKS:
        return value.model_dump(mode="json", exclude_unset=True, warnings=False)
    if root == "google":
        return value.model_dump(mode="json", exclude_none=True, warnings=False)
    return value.model_dump()
