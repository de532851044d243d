"""What a value that JSON cannot say is made of: its tag and its members, themselves values.

The table of tags stands in :mod:`otelreplay.canonical.encoding`.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, Final
from uuid import UUID

from otelreplay.modules import module_name

Parts = tuple[str, dict[str, Any]]

PATHS: Final = {kind.__name__: kind for kind in (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath)}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """A typed value that is not rebuilt: an instance of a class the caller did not allow, or a tag of a later version.

    Encodes to what it was decoded from. ``tag`` is the value of the reserved key, ``members`` the other members, decoded.
    """

    tag: Any
    members: Mapping[str, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tagged) and self.tag == other.tag and dict(self.members) == dict(other.members)

    def __hash__(self) -> int:
        return hash((Tagged, str(self.tag), str(self.members.get("class"))))


class Broken:
    """Stands for a field that could not be read."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind


class Pairs(list[Any]):
    """The items of an odd dict: a level of the encoding that has no level in the value."""


class Pair(list[Any]):
    """Key and value of an odd dict."""

    def label(self) -> str:
        """A name for paths."""
        key = self[0]
        short = type(key) in _SHORT or (type(key) is int and -_LONG < key < _LONG)
        return str(key) if short else class_name(type(key))


def class_name(kind: type) -> str:
    """``module:Qualified.Name``."""
    return f"{module_name(kind.__module__)}:{kind.__qualname__}"


def escape(text: str) -> str:
    r"""Text without lone surrogates: ``\`` doubled, a lone surrogate as ``\uXXXX``."""
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text.replace("\\", "\\\\"))


def unescape(text: str) -> str:
    r"""Inverse of :func:`escape`."""
    return re.sub(r"\\(?:\\|u([0-9a-f]{4}))", lambda found: chr(int(found[1], 16)) if found[1] else "\\", text)


def float_name(number: float) -> str:
    """``nan``, ``inf``, ``-inf`` or ``-0.0``."""
    return repr(float(number))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _moment(value: Any) -> dict[str, Any]:
    members: dict[str, Any] = {"value": value.isoformat()}
    if value.fold:
        members["fold"] = 1
    zone = getattr(value.tzinfo, "key", None)
    if isinstance(zone, str):
        members["zone"] = zone
    return members


def _path(value: PurePath) -> dict[str, Any]:
    kind = next(base for base in type(value).__mro__ if base.__name__ in PATHS and base is PATHS[base.__name__])
    return {"class": kind.__name__, "value": str(value)}


_LEAVES: Final[tuple[tuple[type, str, Callable[[Any], dict[str, Any]]], ...]] = (
    (str, "str", lambda v: {"escaped": escape(v)}),
    (int, "int", lambda v: {"value": _decimal(v)}),
    (float, "float", lambda v: {"value": float_name(v)}),
    (complex, "complex", lambda v: {"real": v.real, "imag": v.imag}),
    (bytes, "bytes", lambda v: {"base64": _base64(v)}),
    (bytearray, "bytearray", lambda v: {"base64": _base64(v)}),
    (memoryview, "bytes", lambda v: {"base64": _base64(v.tobytes())}),
    (tuple, "tuple", lambda v: {"items": list(v)}),
    (set, "set", lambda v: {"items": list(v)}),
    (frozenset, "frozenset", lambda v: {"items": list(v)}),
    (dict, "dict", lambda v: {"items": Pairs(Pair(pair) for pair in list(v.items()))}),
    (dt.datetime, "datetime", _moment),  # before date, which it is a kind of
    (dt.date, "date", lambda v: {"value": v.isoformat()}),
    (dt.time, "time", _moment),
    (dt.timedelta, "timedelta", lambda v: {"days": v.days, "seconds": v.seconds, "microseconds": v.microseconds}),
    (Decimal, "decimal", lambda v: {"value": str(v)}),
    (UUID, "uuid", lambda v: {"value": str(v)}),
    (PurePath, "path", _path),
)


def _decimal(number: int) -> str:
    """Decimal text of any length: ``str`` refuses beyond 4300 digits, so such a number is written in base 16."""
    return str(int(number)) if -_LONG < number < _LONG else hex(number)


_LONG: Final = 10**600
_SHORT: Final = frozenset({str, float, bool, type(None)})


def _field(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except Exception:
        return Broken(type(value))


def instance_parts(value: Any, kind: type) -> Parts | None:
    """Parts of an instance of a class that declares its fields; None for other values. Runs properties of user classes."""
    if kind is Tagged:
        return value.tag, dict(value.members)
    if issubclass(kind, Enum):
        return "enum", {"class": class_name(kind), "name": value.name, "value": value.value}
    names: Any = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and isinstance(names, tuple):
        return "namedtuple", {"class": class_name(kind), "fields": dict(zip(names, value, strict=True))}
    if dataclasses.is_dataclass(kind):
        fields = {field.name: _field(value, field.name) for field in dataclasses.fields(kind)}
        return "dataclass", {"class": class_name(kind), "fields": fields}
    declared = getattr(kind, "__pydantic_fields__", None)
    if isinstance(declared, dict):
        fields = {name: _field(value, name) for name in declared}
        members: dict[str, Any] = {"class": class_name(kind), "fields": fields}
        extra = getattr(value, "__pydantic_extra__", None)
        if extra:
            members["extra"] = dict(extra)
        given = set(getattr(value, "__pydantic_fields_set__", ()))
        if given != {*fields, *(extra or ())}:
            members["set"] = sorted(given)
        return "pydantic", members
    return None


def parts(value: Any) -> Parts | None:
    """Tag and members of a value that is not plain JSON; None if it cannot be encoded. Runs properties of user classes."""
    kind = type(value)
    for base, tag, members in _LEAVES:
        if issubclass(kind, base):
            return tag, members(value)
    return None
