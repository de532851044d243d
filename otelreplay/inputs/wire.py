"""The protobuf wire format by hand: where fields stand, without decoding what is in them.

Source: protobuf encoding guide. Used to split what is too large to decode whole, to tell forms apart, and to save what a strict
decoder refuses (text that is not UTF-8, a message cut short): ``record`` turns the bytes of a span or log record into the very
object that OTLP JSON has for it, so that ``records`` is the one place where leniency lives.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.tally import Tally

VARINT, I64, LEN, I32 = 0, 1, 2, 5
_GROUP_START, _GROUP_END = 3, 4


class Field(NamedTuple):
    """One field: its number, wire type, and where its content stands (for VARINT: ``value``)."""

    number: int
    type: int
    start: int
    end: int
    value: int = 0


class DamageError(Exception):
    """The bytes cannot go on as a message from ``at`` on.

    For a length-delimited field that is cut short, ``number`` is the field's and ``content`` where its content starts.
    """

    def __init__(self, at: int, why: str, *, number: int = 0, content: int = 0) -> None:
        super().__init__(why)
        self.at, self.why, self.number, self.content = at, why, number, content


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A base-128 number and where it ends."""
    value = shift = 0
    for index in range(at, min(end, at + 10)):
        byte = data[index]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, index + 1
        shift += 7
    raise DamageError(at, "a number is cut short" if end - at < 10 else "a number is too long")


def walk(data: bytes, at: int, end: int) -> Iterator[Field]:
    """The fields of a message that fills ``data[at:end]``; DamageError at the first that cannot be."""
    while at < end:
        begin = at
        tag, at = varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, stop = varint(data, at, end)
            found = Field(number, kind, at, stop, value)
        elif kind in (I64, I32):
            stop = at + (8 if kind == I64 else 4)
            found = Field(number, kind, at, stop)
        elif kind == LEN:
            length, at = varint(data, at, end)
            stop = at + length
            found = Field(number, kind, at, stop)
        else:
            raise DamageError(begin, "a field has a type that OTLP does not use")
        if not 0 < number < 1 << 29:
            raise DamageError(begin, "a field has an impossible number")
        if stop > end:
            raise DamageError(begin, "a field is cut short", number=number, content=at if kind == LEN else 0)
        yield found
        at = stop


def header(number: int, length: int) -> bytes:
    """Tag and length of a length-delimited field."""
    return _varint_bytes(number << 3 | LEN) + _varint_bytes(length)


def _varint_bytes(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# What the fields of a record are called in OTLP JSON, and how each is written. A dict is a message of its own, a list of one
# dict a repeated one.
_ANY: dict[int, tuple[str, Any]] = {
    1: ("stringValue", "text"),
    2: ("boolValue", "bool"),
    3: ("intValue", "int64"),
    4: ("doubleValue", "double"),
    7: ("bytesValue", "bytes"),
    8: ("stringValueStrindex", "number"),
}
_PAIR: dict[int, tuple[str, Any]] = {1: ("key", "text"), 2: ("value", _ANY), 3: ("keyStrindex", "number")}
_ANY[5] = ("arrayValue", {1: ("values", [_ANY])})
_ANY[6] = ("kvlistValue", {1: ("values", [_PAIR])})
RESOURCE: dict[int, tuple[str, Any]] = {1: ("attributes", [_PAIR]), 2: ("droppedAttributesCount", "number")}
SCOPE: dict[int, tuple[str, Any]] = {1: ("name", "text"), 2: ("version", "text"), 3: ("attributes", [_PAIR])}
SPAN: dict[int, tuple[str, Any]] = {
    1: ("traceId", "hex"),
    2: ("spanId", "hex"),
    3: ("traceState", "text"),
    4: ("parentSpanId", "hex"),
    5: ("name", "text"),
    6: ("kind", "number"),
    7: ("startTimeUnixNano", "fixed"),
    8: ("endTimeUnixNano", "fixed"),
    9: ("attributes", [_PAIR]),
    10: ("droppedAttributesCount", "number"),
    11: (
        "events",
        [
            {
                1: ("timeUnixNano", "fixed"),
                2: ("name", "text"),
                3: ("attributes", [_PAIR]),
                4: ("droppedAttributesCount", "number"),
            }
        ],
    ),
    12: ("droppedEventsCount", "number"),
    13: (
        "links",
        [
            {
                1: ("traceId", "hex"),
                2: ("spanId", "hex"),
                3: ("traceState", "text"),
                4: ("attributes", [_PAIR]),
                5: ("droppedAttributesCount", "number"),
                6: ("flags", "fixed"),
            }
        ],
    ),
    14: ("droppedLinksCount", "number"),
    15: ("status", {2: ("message", "text"), 3: ("code", "number")}),
    16: ("flags", "fixed"),
}
LOG: dict[int, tuple[str, Any]] = {
    1: ("timeUnixNano", "fixed"),
    2: ("severityNumber", "number"),
    3: ("severityText", "text"),
    5: ("body", _ANY),
    6: ("attributes", [_PAIR]),
    7: ("droppedAttributesCount", "number"),
    8: ("flags", "fixed"),
    9: ("traceId", "hex"),
    10: ("spanId", "hex"),
    11: ("observedTimeUnixNano", "fixed"),
    12: ("eventName", "text"),
}
_TYPES = {"number": VARINT, "bool": VARINT, "int64": VARINT, "fixed": (I64, I32), "double": I64}


def record(data: bytes, schema: dict[int, tuple[str, Any]], tally: Tally) -> dict[str, Any]:
    """The message that ``data`` holds as an OTLP JSON object (ids as hex text, bytes as bytes, numbers as numbers)."""
    try:
        return _message(data, 0, len(data), schema, tally)
    except DamageError as damage:
        raise RefusedError(f"its bytes are damaged: {damage.why}") from None
    except RecursionError:
        raise RefusedError("a value is nested too deeply") from None


def _message(data: bytes, at: int, end: int, schema: dict[int, tuple[str, Any]], tally: Tally) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in walk(data, at, end):
        name, kind = schema.get(field.number, ("", None))
        wanted = _TYPES.get(kind, LEN) if isinstance(kind, str) else LEN
        if not name or (field.type not in wanted if isinstance(wanted, tuple) else field.type != wanted):
            continue  # an unknown field, or a known number with another type: ignored, as the format demands
        if schema is _ANY:
            found.clear()  # of several values in one AnyValue the last counts
        if isinstance(kind, list):
            found.setdefault(name, []).append(_message(data, field.start, field.end, kind[0], tally))
        elif isinstance(kind, dict):
            found[name] = _message(data, field.start, field.end, kind, tally)
        else:
            found[name] = _scalar(data, field, kind, tally)
    return found


def _scalar(data: bytes, field: Field, kind: str, tally: Tally) -> Any:
    raw = data[field.start : field.end]
    match kind:
        case "text":
            try:
                return raw.decode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                tally.note("invalid_utf8")
                return raw.decode("utf-8", "replace")
        case "hex":
            return raw.hex()
        case "fixed":
            return int.from_bytes(raw, "little")
        case "double":
            return struct.unpack("<d", raw)[0]
        case "bool":
            return field.value != 0
        case "int64":
            return field.value - (1 << 64) if field.value >> 63 else field.value
        case "number":
            return field.value & 0xFFFFFFFF if field.value >> 63 == 0 else 0
        case _:
            return raw
