"""The body of an export request → a batch, by the readers of ``inputs``: one truth for files and for the wire."""

from __future__ import annotations

import io
from typing import Literal

from otelreplay.errors import LimitError
from otelreplay.inputs import Tally, typed, wire
from otelreplay.inputs.documents import DocumentReader
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.jsonscan import ScanError, Scanner
from otelreplay.inputs.protobuf import take_element
from otelreplay.inputs.signals import Signal, count_records
from otelreplay.inputs.source import Source
from otelreplay.spans import Batch

Form = Literal["protobuf", "json"]
_SMALL = 1 << 20
_EMPTIES = 500_000
_EMPTY_FIELDS = tuple(bytes((number << 3 | wire.LEN, 0)) for number in range(1, 16))
_EMPTY_OBJECTS = (b"{}", b"{ }", b"[]")


class UndecodableError(Exception):
    """The request as a whole cannot be read; the message says why, without quoting it."""


def decode(data: bytes, form: Form, signal: Signal, *, tally: Tally, limit: int) -> Batch:
    """Everything in the body that can be read; what cannot is among its ``rejected``. UndecodableError when nothing can.

    ``limit``: bytes of one record at most.
    """
    gather = Gather("", tally)
    if form == "protobuf":
        _protobuf(data, signal, gather)
    else:
        _json(data, gather, limit)
    return gather.batch()


def _require_substance(data: bytes, empty: tuple[bytes, ...]) -> None:
    """Two bytes that say "a message with nothing in it" become a hundred in memory: a body of those is no trace."""
    if len(data) > _SMALL and sum(map(data.count, empty)) > _EMPTIES:
        raise UndecodableError(f"it has more than {_EMPTIES} empty parts")


def _protobuf(data: bytes, signal: Signal, gather: Gather) -> None:
    _require_substance(data, _EMPTY_FIELDS)
    number = -1
    try:
        for field in wire.walk(data, 0, len(data)):
            if field.number != 1 or field.type != wire.LEN:
                continue
            number += 1
            element = data[field.start : field.end]
            if signal == "metrics":
                gather.tally.note("metrics_skipped", count_records(element))
            elif element:
                take_element(element, f"element {number}", gather, signal=signal)
    except wire.DamageError as damage:
        raise UndecodableError(f"it is no protobuf message: at byte {damage.at} {damage.why}") from None


def _json(data: bytes, gather: Gather, limit: int) -> None:
    if data.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] != b"{":
        raise UndecodableError("it is no JSON object" if data else "it is empty, which is no JSON")
    _require_substance(data, _EMPTY_OBJECTS)
    try:
        return typed.take_document(data, gather)
    except typed.NotPlainError:
        pass
    source = Source(io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")), name="")
    scanner = Scanner(source, limit)
    reader = DocumentReader(scanner, gather, lambda: None)
    parts: list[Batch] = []  # where it is large: one request all the same
    try:
        parts += reader.documents("")
        if scanner.peek() != -1:
            raise UndecodableError("something follows the JSON object")
    except ScanError as error:
        raise UndecodableError(f"it is no JSON: at byte {error.at} {error.why}") from None
    except LimitError as error:
        raise UndecodableError(error.what) from None
    gather.join(parts)
    return None
