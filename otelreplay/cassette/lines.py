"""Bytes to lines, plain or zstd, within bounds: nothing is taken in that was not counted first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import zstandard

from otelreplay.cassette.limits import Limits
from otelreplay.errors import CassetteFormatError, LimitError

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 20
_WINDOW = 1 << 27
"""Largest zstd window: 128 MiB, what ``zstd --long`` makes at most."""


class Readable(Protocol):
    """A source of bytes: an open file, a BytesIO."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        ...


class _Peeked:
    """A stream some of whose bytes were looked at before."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._head, self._stream = head, stream

    def read(self, size: int, /) -> bytes:
        if self._head:
            found, self._head = self._head[:size], self._head[size:]
            return found
        return self._stream.read(size)


def chunks(stream: Readable) -> Iterator[bytes]:
    """The bytes of a plain or zstd stream, decompressed, in pieces of at most 1 MiB. Knows zstd by its magic number."""
    head = b""
    while len(head) < 4 and (more := stream.read(4 - len(head))):
        head += more
    source: Readable = _Peeked(head, stream)
    if head == ZSTD_MAGIC:
        source = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(source, read_across_frames=True)  # type: ignore[arg-type]
    try:
        while chunk := source.read(_CHUNK):
            yield chunk
    except zstandard.ZstdError:
        raise CassetteFormatError(
            "the zstd data is damaged", code="cassette.compression", next_step="get the file again from where it was made"
        ) from None


def lines(stream: Readable, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """(byte offset, line with its newline) of each line; only the last may lack the newline. Raises LimitError."""
    offset, taken, count, held, pieces = 0, 0, 0, 0, list[bytes]()
    for chunk in chunks(stream):
        taken += len(chunk)
        if taken > limits.bytes:
            raise _too_much(f"more than {limits.bytes} bytes", "bytes")
        start = 0
        while (end := chunk.find(b"\n", start) + 1) > 0:
            line = chunk[start:end]
            if pieces:
                line = b"".join((*pieces, line))
                pieces.clear()
                held = 0
            count += 1
            if len(line) > limits.line:
                raise _too_much(f"line {count} has more than {limits.line} bytes", "line")
            if count > limits.lines:
                raise _too_much(f"more than {limits.lines} lines", "lines")
            yield offset, line
            offset, start = offset + len(line), end
        pieces.append(chunk[start:])
        held += len(chunk) - start
        if held > limits.line:
            raise _too_much(f"line {count + 1} has more than {limits.line} bytes", "line")
    if rest := b"".join(pieces):
        yield offset, rest


def _too_much(what: str, limit: str) -> LimitError:
    return LimitError(
        f"the cassette is beyond a limit: {what}",
        code="cassette.too_large",
        next_step=f"if you trust the file, read it with a wider Limits({limit}=...)",
    )
