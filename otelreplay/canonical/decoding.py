"""From the typed encoding back to Python values. Never imports a class that the data names, never runs a constructor of one."""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from otelreplay.canonical.folding import Frame, dict_frame, fold, list_frame
from otelreplay.canonical.leaves import PATHS, Tagged, class_name, unescape
from otelreplay.canonical.plain import RESERVED

Members = dict[str, Any]


def decode(value: Any, *, types: Iterable[type] = ()) -> Any:
    """The value that was encoded; the same object if it holds no typed value. Never raises.

    Instances of classes in ``types`` are rebuilt from their fields, without running ``__init__`` or validation (named time
    zones if ``zoneinfo.ZoneInfo`` is among them); those of other classes, tags of later versions and malformed typed values
    come back as :class:`Tagged`, which encodes to what it came from.
    """
    allowed = {class_name(kind): kind for kind in types}

    def enter(item: Any, _stack: list[Frame]) -> Any:
        if isinstance(item, list):
            return list_frame(item, item, None)
        if not isinstance(item, dict):
            return item
        if RESERVED not in item:
            return dict_frame(item, list(item.items()))
        tag = item[RESERVED]
        members = {name: member for name, member in item.items() if name != RESERVED}
        return Frame(item, list(members.values()), lambda done: _build(tag, dict(zip(members, done, strict=True)), allowed))

    return fold(value, enter)


def _build(tag: Any, members: Members, allowed: Mapping[str, type]) -> Any:
    names, build = _BUILDERS.get(tag, (None, None)) if isinstance(tag, str) else (None, None)
    if build is None or names is None or not names.issuperset(members):
        return Tagged(tag, members)  # a later version may add members: drop none
    try:
        return build(members, allowed)
    except Exception:  # malformed, or the class has changed since
        return Tagged(tag, members)


def _float(members: Members, _: object) -> float:
    return _FLOATS[members["value"]]


_FLOATS: Final = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "-0.0": -0.0}


def _int(members: Members, _: object) -> int:
    text: str = members["value"]
    return int(text, 16) if "x" in text else int(text)


def _items(kind: Callable[[list[Any]], Any]) -> Callable[[Members, object], Any]:
    def build(members: Members, _: object) -> Any:
        items = members["items"]
        if not isinstance(items, list):
            raise TypeError
        return _whole(kind(items), items)

    return build


def _whole(result: Any, items: list[Any]) -> Any:
    """Distinct items must stay distinct; instances that were not rebuilt can be equal where the originals were not."""
    if len(result) != len(items):
        raise ValueError
    return result


def _moment(kind: type[dt.datetime] | type[dt.time]) -> Callable[[Members, Mapping[str, type]], Any]:
    def build(members: Members, allowed: Mapping[str, type]) -> Any:
        value = kind.fromisoformat(members["value"]).replace(fold=members.get("fold", 0))
        odd = _FINE_OFFSET.search(members["value"])
        if odd:
            size = dt.timedelta(hours=int(odd[2]), minutes=int(odd[3]), seconds=int(odd[4]), microseconds=int(odd[5]))
            return value.replace(tzinfo=dt.timezone(-size if odd[1] == "-" else size))
        zone = allowed.get("zoneinfo:ZoneInfo")
        return value.replace(tzinfo=zone(members["zone"])) if zone and "zone" in members else value

    return build


_FINE_OFFSET: Final = re.compile(r"([+-])(\d\d):(\d\d):(\d\d)\.(\d{6})$")
"""An offset from UTC with microseconds; ``fromisoformat`` takes those of less than a second for UTC."""


def _path(members: Members, _: object) -> Any:
    kind = PATHS[members["class"]]
    try:
        return kind(members["value"])
    except NotImplementedError:  # a path of another operating system
        return PATHS["Pure" + members["class"]](members["value"])


def _enum(members: Members, allowed: Mapping[str, type]) -> Any:
    kind: Any = allowed[members["class"]]
    return kind[members["name"]] if members["name"] in kind.__members__ else kind(members["value"])


def _dataclass(members: Members, allowed: Mapping[str, type]) -> Any:
    kind = allowed[members["class"]]
    made: Any = object.__new__(kind)
    for name, value in members["fields"].items():
        object.__setattr__(made, name, value)
    return made


def _namedtuple(members: Members, allowed: Mapping[str, type]) -> Any:
    kind: Any = allowed[members["class"]]
    return tuple.__new__(kind, [members["fields"][name] for name in kind._fields])


def _pydantic(members: Members, allowed: Mapping[str, type]) -> Any:
    kind: Any = allowed[members["class"]]
    values = {**members["fields"], **members.get("extra", {})}
    return kind.model_construct(_fields_set=set(members.get("set", values)), **values)


def _simple(build: Callable[..., Any], *names: str) -> tuple[frozenset[str], Callable[[Members, Mapping[str, type]], Any]]:
    return frozenset(names), lambda members, _: build(*(members[name] for name in names))


_BUILDERS: Final[dict[str, tuple[frozenset[str], Callable[[Members, Mapping[str, type]], Any]]]] = {
    "float": (frozenset({"value"}), _float),
    "int": (frozenset({"value"}), _int),
    "complex": _simple(complex, "real", "imag"),
    "str": _simple(unescape, "escaped"),
    "bytes": _simple(lambda text: base64.b64decode(text, validate=True), "base64"),
    "bytearray": _simple(lambda text: bytearray(base64.b64decode(text, validate=True)), "base64"),
    "tuple": (frozenset({"items"}), _items(tuple)),
    "set": (frozenset({"items"}), _items(set)),
    "frozenset": (frozenset({"items"}), _items(frozenset)),
    "dict": (frozenset({"items"}), _items(dict)),
    "datetime": (frozenset({"value", "fold", "zone"}), _moment(dt.datetime)),
    "date": _simple(dt.date.fromisoformat, "value"),
    "time": (frozenset({"value", "fold", "zone"}), _moment(dt.time)),
    "timedelta": _simple(dt.timedelta, "days", "seconds", "microseconds"),
    "decimal": _simple(Decimal, "value"),
    "uuid": _simple(UUID, "value"),
    "path": (frozenset({"class", "value"}), _path),
    "enum": (frozenset({"class", "name", "value"}), _enum),
    "dataclass": (frozenset({"class", "fields"}), _dataclass),
    "namedtuple": (frozenset({"class", "fields"}), _namedtuple),
    "pydantic": (frozenset({"class", "fields", "extra", "set"}), _pydantic),
}
