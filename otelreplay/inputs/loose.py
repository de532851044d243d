"""Values as other exports than OTLP write them: ids, times, kinds and statuses in their many spellings.

What a value can only mean one way is read so; what may mean two things is refused, so that its record is, with the reason.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from calendar import timegm
from datetime import datetime
from decimal import Decimal
from typing import Any

from otelreplay.inputs import records
from otelreplay.inputs.ids import RefusedError, hex_id
from otelreplay.inputs.tally import Tally
from otelreplay.spans.model import Attributes, Resource, Scope

NS, US, MS, S = 1, 1000, 10**6, 10**9
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?[ ]?(?:([Zz]|UTC)|([+-])(\d\d):?(\d\d))?"
)
_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
_HEX = re.compile(r"[0-9a-fA-F]+")
_DASHES = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_LATEST = 2**64 - 1


def any_id(value: Any, width: int, what: str, *, pad: bool = False) -> str:
    """An id as lower-case hex of ``width`` digits, from hex (also ``0x…``), a UUID, base64 or a number.

    ``pad``: ids of old tracers are shorter, and left out their leading zeros. RefusedError when it is none of these.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 16**width:
        return f"{value:0{width}x}"
    if not isinstance(value, str):
        return hex_id(value, width, what)
    text = value.strip().removeprefix("0x").removeprefix("0X")
    if width == 32 and _DASHES.fullmatch(text):
        text = text.replace("-", "")
    if not pad and len(text) in (-(-width // 6) * 4, -(-width * 4 // 6)) and len(text) != width and _BASE64.fullmatch(text):
        text = _unpacked(text, width) or text
    if pad and len(text) < width and _HEX.fullmatch(text):
        text = text.rjust(width, "0")
    return hex_id(text, width, what)


def parent_id(value: Any, *, pad: bool = False) -> str:
    """A parent's id; absent, empty and all-zero mean that there is none."""
    if not parent_id_given(value):
        return ""
    return any_id(value, 16, "parent span id", pad=pad)


def parent_id_given(value: Any) -> bool:
    """Is there anything but zeros, in hex or in base64?"""
    if not isinstance(value, str):
        return value not in (None, 0)
    text = value.removeprefix("0x")
    return bool(text.strip("0")) and not (text.rstrip("=") in ("A" * 11, "A" * 22) and len(text) != 16)


def derived_id(value: Any, width: int, what: str, tally: Tally) -> str:
    """As :func:`any_id`; of a text that is no such id, a digest, since all that an id has to do is to be the same again."""
    try:
        return any_id(value, width, what)
    except RefusedError:
        if not isinstance(value, str) or not value or not value.strip("0"):
            raise
    tally.note("ids_derived")
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:width]


def _unpacked(text: str, width: int) -> str:
    try:
        found = base64.b64decode(text.translate(str.maketrans("-_", "+/")).rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
    except (binascii.Error, ValueError):
        return ""
    return found.hex() if len(found) * 2 == width else ""


def moment(value: Any, what: str, unit: int | None = None) -> int:
    """Nanoseconds since the epoch; 0 when there is no time.

    From a number (in ``unit``, or in the one that makes it a time of our day), decimal text, ISO 8601, or JavaScript's pair of
    seconds and nanoseconds. Exact: no digit that is written is lost.
    """
    if value in (None, ""):
        return 0
    if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
        return _bounded(value[0] * S + value[1], what)
    if isinstance(value, str) and (found := _ISO.fullmatch(value.strip())):
        return _bounded(_iso(found, what), what)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not 0 <= value <= _LATEST:
        raise RefusedError(f"{what} is no time")
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return _bounded(int(exact * (unit or _unit(exact))), what)


def _unit(number: Decimal) -> int:
    """The unit in which a number is a time between the years 1973 and 5138 (for seconds), and so on."""
    for most, unit in ((10**11, S), (10**14, MS), (10**17, US)):
        if number < most:
            return unit
    return NS


def _iso(found: re.Match[str], what: str) -> int:
    year, month, day, hour, minute, second, fraction, _, sign, hours, minutes = found.groups()
    try:
        datetime(int(year), int(month), int(day), int(hour), int(minute), min(int(second), 59))
    except ValueError:
        raise RefusedError(f"{what} is no time") from None
    seconds = timegm((int(year), int(month), int(day), int(hour), int(minute), int(second), 0, 0, 0))
    if sign:
        ahead = int(hours) * 3600 + int(minutes) * 60
        seconds -= ahead if sign == "+" else -ahead
    return seconds * S + int((fraction or "").ljust(9, "0"))


def _bounded(found: int, what: str) -> int:
    if not 0 <= found <= _LATEST:
        raise RefusedError(f"{what} is out of range")
    return found


def plain(value: Any, depth: int = records.MAX_DEPTH) -> Any:
    """A decoded JSON value as it is, once its depth is known to be bounded."""
    waiting, level = [value], depth
    while waiting:
        if not level:
            raise RefusedError(f"a value is nested more than {records.MAX_DEPTH} levels deep")
        level -= 1
        waiting = [
            inner
            for each in waiting
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
    return value


def attributes(value: Any, tally: Tally) -> Attributes:
    """Attributes as an object or as OTLP's list of pairs; a null is an attribute that was not set."""
    if value is None:
        return {}
    if isinstance(value, list):
        return records.attributes(value, tally)
    if not isinstance(value, dict):
        raise RefusedError("the attributes are not an object")
    return {key: plain(item) for key, item in value.items() if item is not None}


def status(value: Any) -> tuple[int, str]:
    """(code, message) of a status as an object, a name or a number."""
    message: Any = ""
    if isinstance(value, dict):
        message = value.get("message") or value.get("description") or value.get("status_message") or ""
        code = value.get("code", value.get("status_code", value.get("statusCode")))
    else:
        code = value
    if isinstance(code, str):
        code = records.STATUSES.get(code.removeprefix("StatusCode.").removeprefix("STATUS_CODE_").upper(), 0)
    return (code if type(code) is int and 0 <= code <= 2 else 0), message if isinstance(message, str) else ""


def kind(value: Any, *, first: int = 0) -> int:
    """The kind of a span as OTLP's number. ``first``: the number that INTERNAL has where kinds are numbers, less one."""
    if isinstance(value, str):
        return records.KINDS.get(value.removeprefix("SpanKind.").removeprefix("SPAN_KIND_").upper(), 0)
    return value + first if type(value) is int and 0 <= value <= 5 - first else 0


def resource(value: Any, tally: Tally) -> Resource:
    """A resource as an object with ``attributes``, or as the attributes themselves."""
    if not isinstance(value, dict):
        return Resource()
    inner = next((value[name] for name in ("attributes", "_attributes", "_syncAttributes") if name in value), value)
    return Resource(attributes(inner, tally))


def scope(value: Any, tally: Tally) -> Scope:
    """An instrumentation scope: an object, or its name."""
    if isinstance(value, str):
        return Scope(name=value)
    if not isinstance(value, dict):
        return Scope()
    name, version, url, other = (
        found if isinstance(found := value.get(key), str) else "" for key in ("name", "version", "schema_url", "schemaUrl")
    )
    return Scope(name, version, attributes(value.get("attributes"), tally), url or other)


def dumped(value: Any) -> str:
    """JSON text of a value, as an SDK puts it into an attribute; a text stays what it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
