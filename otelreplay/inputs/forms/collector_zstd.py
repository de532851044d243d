"""The Collector's file exporter with ``compression: zstd``: each message (JSON or protobuf) compressed, behind its length.

Source: ``fileexporter``, that writes a four-byte big-endian length before every message once it compresses, in any format.
Such a file starts like the protobuf form, and its content like no OTLP; each message is read as a small file of its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.forms.json_document import JSON_DOCUMENT
from otelreplay.inputs.forms.protobuf import PROTOBUF
from otelreplay.inputs.source import ZSTD, Source
from otelreplay.spans.model import Batch, Rejected

_ALL = 1 << 62


def _sniff(head: Head) -> bool:
    return head.data[4:8] == ZSTD and int.from_bytes(head.data[:4], "big") > len(ZSTD)


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    while prefix := source.peek(8):
        begin, size = source.offset, int.from_bytes(prefix[:4], "big")
        if len(prefix) < 8 or prefix[4:] != ZSTD or size > reading.max_record:
            rest = source.skip(_ALL)
            said = f"no compressed message follows this length; the last {rest} bytes cannot be read"
            yield Batch(rejected=(Rejected(f"{reading.name}: byte {begin}", said),))
            return
        source.advance(4)
        data = source.take(size)
        place = f"{reading.name}: message at byte {begin}"
        yield from _message(data, Reading(place, reading.tally, reading.max_record), reading)
        if len(data) < size:
            yield Batch(rejected=(Rejected(f"{reading.name}: byte {begin}", "the data ends inside this message"),))


def _message(data: bytes, inner: Reading, outer: Reading) -> Iterator[Batch]:
    source = Source(io.BytesIO(data), name=inner.name)
    form = JSON_DOCUMENT if source.peek(1) in (b"{", b"[") else PROTOBUF
    for batch in form.read(source, inner):
        if inner.recognised:
            outer.recognise()
        yield batch
    if inner.recognised:
        outer.recognise()
    if source.damage:
        yield Batch(rejected=(Rejected(inner.name, source.damage),))


COLLECTOR_ZSTD = Form("the Collector's compressed file form", _sniff, _read)
