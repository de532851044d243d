"""Walks JSON documents of any form, record by record: memory for one record, whatever the size of the document.

Theory of operation. A form says by patterns (``data[].spans[]``, see ``outline``) which values it wants. The walk enters the
containers that lead to them, gives each wanted value out decoded, and passes over everything else unread. When it leaves an
object that it entered, it says so: then whoever holds records until something after them is known can let them go. Documents
may follow each other, with lines between them that are no JSON. A pattern bounds the depth of the walk; a record's own depth is
bounded where it is decoded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from otelreplay.inputs.decoding import decoded
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.jsonscan import ScanError, Scanner, TooLargeError
from otelreplay.inputs.reading import Reading
from otelreplay.inputs.source import Source

_OPEN = (ord("{"), ord("["))


class Item(NamedTuple):
    """One value that was wanted, or (``closed``) the end of an object that was entered."""

    pattern: str
    where: str
    value: Any
    size: int = 0
    closed: bool = False


class Walk:
    """One walk over a source; refusals go to ``gather``."""

    def __init__(
        self, source: Source, reading: Reading, gather: Gather, wanted: Collection[str], *, as_text: Collection[str] = ()
    ) -> None:
        """``as_text``: patterns whose values are given out as the bytes that they are, for who has to hold them."""
        self._as_text = frozenset(as_text)
        self._source, self._gather, self._reading = source, gather, reading
        self._scan = Scanner(source, reading.max_record)
        self._wanted = frozenset(wanted)
        self._entered = frozenset(above for pattern in wanted for above in _above(pattern))
        self._lists = frozenset(p for p in self._wanted | self._entered if p.endswith("[]"))

    def items(self) -> Iterator[Item]:
        """Every wanted value of every document."""
        source = self._source
        source.skip(len(head := source.peek(4096)) - len(head.lstrip(b"\0")))
        if source.peek(3) == b"\xef\xbb\xbf":
            source.advance(3)
        while (byte := self._scan.peek()) != -1:
            if byte not in _OPEN:
                self._gather.tally.note("text_lines")
                source.skip_line()
                continue
            start = source.offset
            try:
                yield from self._value("", "")
            except ScanError as error:
                said = f"the document, which starts at byte {start}, is broken: {error.why}"
                self._gather.refuse(f"byte {error.at}", said)
                yield Item("", "", None, closed=True)
                _next_document(source)

    def _value(self, pattern: str, where: str) -> Iterator[Item]:
        byte = self._scan.peek()
        if byte == ord("[") and f"{pattern}[]" in self._lists:
            for index in self._scan.elements():
                yield from self._value(f"{pattern}[]", f"{where}[{index}]")
        elif pattern in self._wanted:
            yield from self._taken(pattern, where)
        elif byte == ord("{") and pattern in self._entered:
            for key in self._scan.members():
                # A key that nobody asked for stays out of every message.
                inner = f"{pattern}.{key}" if pattern else key
                known = inner in self._wanted or inner in self._entered
                yield from self._value(inner, f"{where}.{key}".lstrip(".") if known else where)
            yield Item(pattern, where, None, closed=True)
        else:
            self._skip()

    def _taken(self, pattern: str, where: str) -> Iterator[Item]:
        at = self._source.offset
        try:
            text = self._scan.raw()
            value = text if pattern in self._as_text else decoded(text, self._gather.tally)
            found = Item(pattern, where or f"byte {at}", value, len(text))
        except (TooLargeError, RefusedError) as refused:
            self._gather.refuse(where or f"byte {at}", str(refused))
            return
        yield found

    def _skip(self) -> None:
        with contextlib.suppress(TooLargeError):
            self._scan.raw()


def _above(pattern: str) -> Iterator[str]:
    """The patterns of the containers that lead to ``pattern``: ``a``, ``a[]`` and the top for ``a[].b``."""
    if pattern:
        yield ""
    for at, char in enumerate(pattern):
        if at and (char == "." or pattern.startswith("[]", at)):
            yield pattern[:at]


def _next_document(source: Source) -> None:
    """After damage: the next line that starts with a bracket. Inside a pretty printed document every line is indented."""
    while True:
        source.skip_line()
        if source.peek(1) in (b"{", b"[", b""):
            return
