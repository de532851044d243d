"""The spool's own form on disk: the records of one trace as bytes, and back. Read only by the process that wrote it.

A frame is one tag byte and zstd-compressed data: ``M`` msgpack, ``J`` canonical JSON for what msgpack cannot say (lone
surrogates, integers beyond 64 bits). Resources and scopes stand once a frame; records refer to them by number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec
import zstandard

from otelreplay import canonical
from otelreplay.spans.model import LogRecord, Resource, Scope, Span

_LEVEL = 1
_GROUPS = ("resource", "scope")
_Item = TypeVar("_Item", Resource, Scope)
_Record = TypeVar("_Record", Span, LogRecord)


class _Rows(Generic[_Record]):
    """Turns records of one kind into rows, their fields in the order of the model, with numbers for resource and scope."""

    def __init__(self, kind: type[_Record]) -> None:
        fields = [(each.name, int if each.name in _GROUPS else each.type) for each in msgspec.structs.fields(kind)]
        names = [name for name, _ in fields]
        self.type = msgspec.defstruct(f"{kind.__name__}Row", fields, array_like=True)
        self._make: Callable[..., _Record] = kind
        self._values = attrgetter(*names)
        self._resource, self._scope = (names.index(name) for name in _GROUPS)

    def row(self, record: _Record, resource: int, scope: int) -> list[Any]:
        values = list(self._values(record))
        values[self._resource], values[self._scope] = resource, scope
        return values

    def record(self, row: Any, resources: list[Resource], scopes: list[Scope]) -> _Record:
        values = list(self._values(row))
        values[self._resource] = resources[values[self._resource]]
        values[self._scope] = scopes[values[self._scope]]
        return self._make(*values)


_SPANS, _LOGS = _Rows(Span), _Rows(LogRecord)
_Frame = tuple[list[Resource], list[Scope], list[_SPANS.type], list[_LOGS.type]]  # type: ignore[name-defined]


class Codec:
    """Packs and unpacks frames. Equal resources and scopes come back as one object, over all frames of one codec."""

    def __init__(self) -> None:
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(_Frame).decode
        self._compress = zstandard.ZstdCompressor(level=_LEVEL).compress
        self._decompress = zstandard.ZstdDecompressor().decompress
        self._shared: dict[bytes, Resource | Scope] = {}

    def pack(self, spans: Sequence[Span], logs: Sequence[LogRecord]) -> bytes:
        """The records as one frame."""
        resources: list[Resource] = []
        scopes: list[Scope] = []
        seen: dict[int, int] = {}
        frame = (
            resources,
            scopes,
            [_SPANS.row(each, _number(each.resource, resources, seen), _number(each.scope, scopes, seen)) for each in spans],
            [_LOGS.row(each, _number(each.resource, resources, seen), _number(each.scope, scopes, seen)) for each in logs],
        )
        try:
            return b"M" + self._compress(self._encode(frame))
        except (UnicodeEncodeError, OverflowError):
            return b"J" + self._compress(canonical.dumps(msgspec.to_builtins(frame, builtin_types=(bytes,))))

    def unpack(self, data: bytes) -> tuple[list[Span], list[LogRecord]]:
        """The records of a frame."""
        content = self._decompress(data[1:])
        if data[:1] == b"M":
            resources, scopes, spans, logs = self._decode(content)
        else:
            resources, scopes, spans, logs = msgspec.convert(canonical.loads(content), _Frame)
        resources, scopes = [self._same(each) for each in resources], [self._same(each) for each in scopes]
        return (
            [_SPANS.record(row, resources, scopes) for row in spans],
            [_LOGS.record(row, resources, scopes) for row in logs],
        )

    def _same(self, value: _Item) -> _Item:
        try:
            key = type(value).__name__.encode() + self._encode(value)
        except (UnicodeEncodeError, OverflowError):
            return value
        known = self._shared.setdefault(key, value)
        return known if isinstance(known, type(value)) else value


def _number(value: _Item, listed: list[_Item], seen: dict[int, int]) -> int:
    """The number of ``value`` in ``listed``, by identity; the caller's records keep the objects alive, so ids are unique."""
    number = seen.get(id(value))
    if number is None:
        number = seen[id(value)] = len(listed)
        listed.append(value)
    return number
