"""Values as compact JSON text and back: the form of cassette lines and blobs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from otelreplay.canonical.decoding import decode
from otelreplay.canonical.encoding import Loss, encode, encode_reporting
from otelreplay.canonical.plain import MAX_DEPTH, RESERVED, TYPED, classify
from otelreplay.canonical.plainjson import read, write_compact
from otelreplay.canonical.reading import deeper_than
from otelreplay.errors import CassetteFormatError, LimitError

LINE_DEPTH: Final = MAX_DEPTH + 1
"""Deepest nesting in text: a typed value may stand at the bottom of a value."""

_RESERVED: Final = RESERVED.encode()
_BLANK: Final = b" \t\r\n"


def dumps(value: Any) -> bytes:
    """Compact UTF-8 JSON of the encoded value; key order and number types are kept (``4.0`` stays ``4.0``). Never raises."""
    return write_compact(value if classify(value) != TYPED else encode(value))


def dumps_reporting(value: Any) -> tuple[bytes, tuple[Loss, ...]]:
    """Like :func:`dumps`, with the places where something was lost."""
    if classify(value) != TYPED:
        return write_compact(value), ()
    encoded, losses = encode_reporting(value)
    return write_compact(encoded), losses


def loads(data: bytes | str, *, where: str = "", types: Iterable[type] = ()) -> Any:
    """The value that :func:`dumps` was given; ``types`` as for :func:`decode`.

    Accepts I-JSON (RFC 7493) of bounded depth and nothing else: duplicate keys, trailing text, lone surrogates, NaN and bytes
    that are not UTF-8 are a :class:`CassetteFormatError`, deeper nesting a :class:`LimitError`. Integers are exact.
    """
    raw = _utf8(data, where)
    try:
        value = _parse(raw, where)
        deep = raw.count(b"[") + raw.count(b"{") > LINE_DEPTH and deeper_than(value, LINE_DEPTH)
    except RecursionError:
        deep = True
    if deep:
        what = f"JSON nested deeper than {LINE_DEPTH} levels"
        raise LimitError(what, code="json.depth", where=where, next_step="check where the file comes from")
    return decode(value, types=types) if _RESERVED in raw or b"\\u" in raw else value


def _utf8(data: bytes | str, where: str) -> bytes:
    try:
        if isinstance(data, str):
            return data.encode()
        data.decode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        kind, place = ("Unicode text", "character") if isinstance(data, str) else ("UTF-8", "byte")
        raise _refuse(f"not {kind} at {place} {error.start}", "json.encoding", where) from None
    return data


def _parse(raw: bytes, where: str) -> Any:
    """Plain JSON, strictly.

    Whether text is just what the writer makes of the value it reads as is quick to see; such text can hold no duplicate keys.
    """
    try:
        value = read(raw)
        if write_compact(value) == raw.strip(_BLANK):
            return value
    except ValueError:  # msgspec's errors are kinds of it; the careful reader finds the words
        pass
    try:
        value = json.loads(raw.decode(), object_pairs_hook=_distinct, parse_constant=_no_constant, parse_float=_finite)
        write_compact(value)
    except json.JSONDecodeError as error:
        raise _refuse(f"not JSON at character {error.pos}: {_WHY.get(error.msg, 'malformed')}", "json.syntax", where) from None
    except UnicodeEncodeError:
        raise _refuse("an escape that stands for no character (a lone surrogate)", "json.surrogate", where) from None
    except _RefusedError as refused:
        raise _refuse(refused.args[0], refused.args[1], where) from None
    except ValueError:
        raise _refuse("an integer of more than 4300 digits", "json.number", where) from None
    return value


_WHY: Final = {"Extra data": "more text after the end of the value"}


class _RefusedError(Exception):
    """Well-formed, but not I-JSON."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _RefusedError("an object with the same key twice", "json.duplicate_key")
    return made


def _no_constant(_: str) -> NoReturn:
    raise _RefusedError("NaN or Infinity, which is not JSON", "json.number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _RefusedError("a number beyond the range of a double", "json.number")
    return number


def _refuse(what: str, code: str, where: str) -> CassetteFormatError:
    return CassetteFormatError(what, code=code, where=where, next_step="take an unaltered copy of the file")
