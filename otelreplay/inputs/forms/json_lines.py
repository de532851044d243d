"""OTLP JSON Lines: one document a line, as the OTLP file exporters and the Collector's file exporter write it.

Traces, logs and metrics may alternate. A line that is broken (a crash, a full disk, a rotation in the middle of a write) gives
what can be read of it and a refusal that names line and byte; zero bytes, as some file systems leave them after a crash, are
passed over in the same way.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from otelreplay.inputs import typed
from otelreplay.inputs.documents import DocumentReader
from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.jsonscan import ScanError, Scanner, loads
from otelreplay.inputs.source import Source
from otelreplay.spans.model import Batch

_WHOLE = 32 << 20
"""A longer line is not taken in whole but walked record by record."""
_ATTEMPTS, _FREE = 8, 4 << 20
"""How often a broken line is looked through for what may be whole in it, and the bytes of a line that are so small a matter."""
_BLANK = b" \t\r\n\0"
_START = re.compile(rb'\{[ \t]*"resource_?(?:[Ss]pans|[Ll]ogs|[Mm]etrics)"')
"""How an OTLP document starts. Inside a JSON string its quotes would be escaped, so in the rest of a broken line it is one."""


def _sniff(head: Head) -> bool:
    text = head.data.lstrip(b"\xef\xbb\xbf").lstrip(_BLANK)
    if not text.startswith(b"{"):
        return bool(_START.search(text, 0, 1 << 16)) and b"\n" in text
    first, newline, rest = text.partition(b"\n")
    if not newline or _is_json(first):
        return True
    # The first line is no document: either it is broken, or this is one document over many lines.
    lines = [line for line in rest.split(b"\n")[:-1] if _START.match(line)]
    return any(_is_json(line) for line in lines) or (head.name.endswith(".jsonl") and bool(_START.match(first)))


def _is_json(line: bytes) -> bool:
    try:
        loads(line.decode("utf-8", "replace"))
    except ValueError:
        return False
    return True


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    gather = Gather(reading.name, reading.tally)
    number = 0
    if source.peek(3) == b"\xef\xbb\xbf":
        source.advance(3)
    while size := source.line_size(_WHOLE):
        number += 1
        if size < 0:
            yield from _walk(source, f"line {number}: ", gather, reading)
            source.skip_line()
        else:
            offset = source.offset
            line = source.take(size)
            try:
                typed.take_document(line, gather)
                reading.recognise()
            except typed.NotPlainError:
                yield from _careful(line, offset, number, gather, reading)
        yield from gather.drain()


def _careful(line: bytes, offset: int, number: int, gather: Gather, reading: Reading) -> Iterator[Batch]:
    """A line that is not plain, perhaps broken: every document that can be found in it."""
    zeros = len(line) - len(line.lstrip(_BLANK))
    if b"\0" in line[:zeros]:
        gather.refuse(
            f"line {number} (byte {offset})", f"it starts with {line[:zeros].count(0)} zero bytes, as a crash leaves them"
        )
    at = zeros
    line = line.rstrip(_BLANK)
    inner = Source(io.BytesIO(line), name=reading.name, start=offset)
    budget = max(_ATTEMPTS * len(line), _FREE)
    while at < len(line):
        inner.skip(at - (inner.offset - offset))
        refused = gather.refused
        yield from _walk(inner, f"line {number}: ", gather, reading)
        if gather.full:
            yield gather.batch()
        # Go on behind what was read: with the next document, if there is one.
        end = inner.offset - offset
        broken = gather.refused > refused
        found = _START.search(line, max(end, at + 1))
        if not found and end < len(line) and not broken:
            gather.refuse(f"line {number} (byte {inner.offset})", "something that is no OTLP follows on the same line")
        budget -= (len(line) if broken else end) - at
        if found and budget < 0:
            gather.refuse(f"line {number} (byte {inner.offset})", "it is broken so often that the rest of it was passed over")
            return
        at = found.start() if found else len(line)


def _walk(source: Source, where: str, gather: Gather, reading: Reading) -> Iterator[Batch]:
    """One document, record by record; a refusal where it breaks off, or where something follows it."""
    scanner = Scanner(source, reading.max_record)
    reader = DocumentReader(scanner, gather, reading.recognise)
    start = source.offset
    try:
        yield from reader.documents(where)
    except ScanError as error:
        gather.refuse(
            f"{where.rstrip(': ')} (byte {error.at})", f"the line, which starts at byte {start}, is broken: {error.why}"
        )


JSON_LINES = Form("OTLP JSON Lines", _sniff, _read)
