"""RFC 8785 (JSON Canonicalization Scheme) bytes of plain JSON values."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any

from otelreplay.canonical.plain import PLAIN, classify
from otelreplay.canonical.plainjson import write_sorted


def write(value: Any) -> bytes:
    """The bytes of a value that holds nothing but what JSON can say (an *encoded* value)."""
    return write_plain(value) if classify(value) == PLAIN else write_rough(value)


def write_plain(value: Any) -> bytes:
    """For values without floats and with ASCII keys: there the sorted output of msgspec is RFC 8785 already (tested)."""
    return write_sorted(value)


def write_rough(value: Any) -> bytes:
    """For every encoded value: keys in the order of their UTF-16 code units, numbers as ECMAScript writes them."""
    out: list[str] = []
    _write(value, out.append)
    return "".join(out).encode()


def _write(value: Any, emit: Any) -> None:
    if isinstance(value, str):
        emit(encode_basestring(value))
    elif isinstance(value, dict):
        opening = "{"
        for key in sorted(value, key=_utf16):
            emit(opening + encode_basestring(key) + ":")
            _write(value[key], emit)
            opening = ","
        emit("{}" if opening == "{" else "}")
    elif isinstance(value, list):
        opening = "["
        for item in value:
            emit(opening)
            _write(item, emit)
            opening = ","
        emit("[]" if opening == "[" else "]")
    elif isinstance(value, float):
        emit(number_text(value))
    else:
        emit(_WORDS[value] if value is None or isinstance(value, bool) else str(value))


_WORDS = {None: "null", True: "true", False: "false"}


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")


def number_text(number: float) -> str:
    """ECMAScript's Number::toString (ECMA-262 §6.1.6.1.20) of a finite number; minus zero is ``0``.

    Both languages print the shortest digits that read back as the number; only the notation differs.
    """
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)  # where the decimal point stands in whole + fraction
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    size = len(digits)
    if size <= point <= 21:
        text = digits + "0" * (point - size)
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        power = point - 1
        text = f"{digits[0]}{'.' if size > 1 else ''}{digits[1:]}e{'+' if power > 0 else '-'}{abs(power)}"
    return text if number > 0 else "-" + text
