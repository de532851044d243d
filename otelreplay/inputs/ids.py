"""Trace and span ids: hex text of any case becomes lower-case hex, everything else is refused with a reason.

Source: opentelemetry-proto, trace.proto (16 and 8 bytes, all-zero is invalid) and the JSON mapping of the specification
(hex, not base64). Reasons never quote the id: a field of the wrong shape may hold anything.
"""

from __future__ import annotations

import re
from typing import Any

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_BASE64_LENGTHS = {32: (22, 24), 16: (11, 12)}


class RefusedError(Exception):
    """Inside this package only: this record cannot be taken in; the message says why, without quoting it."""


def hex_id(text: Any, width: int, what: str) -> str:
    """``text`` as lower-case hex of ``width`` digits (32 or 16); RefusedError when it is not such an id."""
    if not isinstance(text, str) or not text:
        raise RefusedError(f"{what} is missing" if not text else f"{what} is not text")
    try:
        found = bytes.fromhex(text).hex() if len(text) == width else ""
    except ValueError:
        found = ""
    if len(found) != width:
        raise RefusedError(_why_not(text, width, what))
    if not found.strip("0"):
        raise RefusedError(f"{what} is all zero")
    return found


def parent_id(text: Any) -> str:
    """A parent's id; absent, empty and all-zero mean that there is none."""
    if not text or text == "0000000000000000":
        return ""
    return hex_id(text, 16, "parent span id")


def bytes_id(data: bytes, size: int, what: str) -> str:
    """An id of the protobuf form as hex."""
    if len(data) != size:
        if not data:
            raise RefusedError(f"{what} is missing")
        text = " (hex text instead of raw bytes?)" if len(data) == 2 * size else ""
        raise RefusedError(f"{what} has {len(data)} bytes{text}, {size} are required")
    if not any(data):
        raise RefusedError(f"{what} is all zero")
    return data.hex()


def _why_not(text: str, width: int, what: str) -> str:
    if len(text) in _BASE64_LENGTHS[width] and _BASE64.fullmatch(text):
        return f"{what} is base64, not hex: a generic protobuf-to-JSON tool wrote this, not an OTLP exporter"
    if len(text) == width:
        return f"{what} holds something else than hex digits"
    return f"{what} has {len(text)} characters, {width} hex digits are required"
