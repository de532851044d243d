"""Splits JSON text into values without decoding it, so that a document of any size needs memory for one record only.

Theory of operation. The scanner stands at ``source.pos``. ``members`` and ``elements`` walk one object or array: at each step
the caller has to consume the value in front of it, either by ``raw`` (its bytes) or by walking it in turn. ``raw`` finds the
end of a value by counting brackets outside strings; what is between them is skipped by one regular expression, so the cost is
one step of Python a bracket. A string never holds a raw newline in JSON, so a line that was cut inside a string ends there.

``ScanError`` means that the text cannot go on as JSON; ``at`` is the byte offset in the stream.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Any

from otelreplay.inputs.source import Source

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING_PART = re.compile(rb'[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+')
_NO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")*+')
_SCALAR = re.compile(rb"[^ \t\r\n,\]}]*+")
_QUOTE, _COLON, _COMMA, _BACKSLASH = (ord(each) for each in '":,\\')
_OPEN = b"{["
_LONGEST_SCALAR = 400
"""Digits of the longest number: a double has at most 309 before its point."""
_DEEPEST = 100_000
"""Open brackets. Far more than any record may have; a bound on the time that a hostile file can take."""


class ScanError(Exception):
    """The text is not JSON from byte ``at`` on."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at, self.why = at, why


class TooLargeError(Exception):
    """A value is larger than the limit. It has been passed over; the scan can go on behind it."""


class Scanner:
    """Walks JSON text in ``source``; no value given out is larger than ``limit`` bytes."""

    def __init__(self, source: Source, limit: int) -> None:
        self.source, self.limit = source, limit
        self._dropped = 0

    def peek(self) -> int:
        """The next byte that is not white space, -1 at the end."""
        source = self.source
        while True:
            source.advance(_end(_SPACE, source, 0))
            if source.pos < len(source.buffer):
                return source.buffer[source.pos]
            if not source.more():
                return -1

    def members(self) -> Iterator[str]:
        """The keys of the object in front; the caller consumes the value after each."""
        yield from (key for key in self._walk("{", "}") if isinstance(key, str))

    def elements(self) -> Iterator[int]:
        """The positions of the array in front; the caller consumes each element."""
        yield from (index for index in self._walk("[", "]") if isinstance(index, int))

    def _walk(self, opening: str, closing: str) -> Iterator[str | int]:
        if self.peek() != ord(opening):
            raise self.error(f"{opening} is missing")
        self.source.advance(1)
        index = 0
        while (byte := self.peek()) != ord(closing):
            if index:
                if byte != _COMMA:
                    raise self.error("a comma is missing")
                self.source.advance(1)
            if opening == "[":
                yield index
            else:
                yield self._key()
            index += 1
        self.source.advance(1)

    def _key(self) -> str:
        if self.peek() != _QUOTE:
            raise self.error("a name is missing")
        try:
            key = loads(self.raw().decode("utf-8", "surrogatepass"))
        except ValueError:
            raise self.error("a name is not text") from None
        if self.peek() != _COLON:
            raise self.error("a colon is missing")
        self.source.advance(1)
        return str(key)

    def raw(self) -> bytes:
        """The bytes of the value in front. TooLargeError when they are beyond the limit."""
        byte, self._dropped = self.peek(), 0
        if byte < 0:
            raise self.error("")
        if byte in _OPEN:
            size = self._container()
        elif byte == _QUOTE:
            size = self._string(0)
        else:
            size = self._scalar()
        if not self._dropped:
            return self.source.take(size)
        self.source.advance(size)
        raise TooLargeError(f"it is larger than {self.limit} bytes")

    def error(self, why: str, at: int = 0) -> ScanError:
        """An error ``at`` bytes from here; at the end of the data it says so."""
        ended = self.source.pos + at >= len(self.source.buffer) and not self.source.more()
        return ScanError(self.source.offset + at, "the data ends in the middle of a value" if ended else why)

    def _scalar(self) -> int:
        source = self.source
        while (size := _end(_SCALAR, source, 0)) <= _LONGEST_SCALAR:
            if source.pos + size < len(source.buffer) or not source.more():
                if size:
                    return size
                break
        raise self.error("a value is missing")

    def _container(self) -> int:
        """Where the object or array in front ends, relative to the scanner."""
        source, at, depth = self.source, 0, 0
        while True:
            at = self._trim(_end(_NO_BRACKET, source, at))
            if source.pos + at >= len(source.buffer):
                if not source.more():
                    raise self.error("", at)
                continue
            byte = source.buffer[source.pos + at]
            if byte == _QUOTE:  # a string that goes on beyond the buffer, or is never closed
                at = self._string(at)
                continue
            at += 1
            depth += 1 if byte in _OPEN else -1
            if not depth:
                return at
            if depth > _DEEPEST:
                raise self.error("it is nested beyond all measure", at)

    def _string(self, at: int) -> int:
        """Where the string that opens at ``at`` ends, relative to the scanner."""
        source, at = self.source, at + 1
        while True:
            at = self._trim(_end(_STRING_PART, source, at))
            left = len(source.buffer) - source.pos - at
            if left and source.buffer[source.pos + at] == _QUOTE:
                return at + 1
            if left > 1 or (left and source.buffer[source.pos + at] != _BACKSLASH):
                raise self.error("a string is not closed", at)
            if not source.more():
                raise self.error("", at + left)

    def _trim(self, at: int) -> int:
        """Let go of what lies before ``at`` once it is clear that the value is too large to be given out."""
        if at <= self.limit:
            return at
        self.source.advance(at)
        self._dropped += at
        return 0


def loads(text: str) -> Any:
    """Decode one JSON value exactly: big integers, NaN, lone surrogates and NUL included. ValueError when it is none."""
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _end(pattern: re.Pattern[bytes], source: Source, at: int) -> int:
    """Where ``pattern`` (which also matches nothing) ends when it starts ``at`` bytes from here."""
    found = pattern.match(source.buffer, source.pos + at)
    return found.end() - source.pos if found else at


def _int(text: str) -> int | float:
    return -0.0 if text == "-0" else int(text)


_DECODER = JSONDecoder(strict=False, parse_int=_int)
