"""OTLP JSON as one document over many lines (pretty printed), as several of them, or as an array of them."""

from __future__ import annotations

from collections.abc import Iterator

from otelreplay.inputs import typed
from otelreplay.inputs.documents import DocumentReader
from otelreplay.inputs.forms.base import HEAD_BYTES, Form, Head, Reading
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.jsonscan import ScanError, Scanner
from otelreplay.inputs.source import Source
from otelreplay.spans.model import Batch

_WHOLE = 32 << 20
"""A larger document is not decoded whole but walked record by record."""


def _sniff(head: Head) -> bool:
    return head.data.lstrip(b"\0").lstrip(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    gather = Gather(reading.name, reading.tally)
    head = source.peek(HEAD_BYTES)
    if zeros := len(head) - len(head.lstrip(b"\0")):
        gather.refuse("byte 0", f"it starts with {zeros} zero bytes, as a crash leaves them")
        source.advance(zeros)
    if source.peek(3) == b"\xef\xbb\xbf":
        source.advance(3)
    if source.ensure(_WHOLE + 1) <= _WHOLE:
        try:
            typed.take_document(source.peek(_WHOLE), gather)
            reading.recognise()
            yield from gather.drain()
            return
        except typed.NotPlainError:
            pass
    scanner = Scanner(source, reading.max_record)
    reader = DocumentReader(scanner, gather, reading.recognise)
    while scanner.peek() != -1:
        start = source.offset
        try:
            yield from reader.documents("")
        except ScanError as error:
            gather.refuse(f"byte {error.at}", f"the document, which starts at byte {start}, is broken: {error.why}")
            _next_document(source)
        yield from gather.drain()


def _next_document(source: Source) -> None:
    """After damage: the next line that starts with a bracket. Inside a pretty printed document every line is indented."""
    while True:
        source.skip_line()
        if source.peek(1) in (b"{", b""):
            return


JSON_DOCUMENT = Form("OTLP JSON", _sniff, _read)
