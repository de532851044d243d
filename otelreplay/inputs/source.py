"""Bytes in, with a window to look ahead: gzip and zstd undone on the fly, never more than asked for in memory.

Theory of operation. A raw reader hands out pieces of decompressed data, each at most ``PIECE`` bytes whatever the ratio, so a
zip bomb costs time but no memory. ``Source`` keeps the pieces in one buffer; ``pos`` is where the next byte stands. ``more``
only appends, so positions stay valid until ``advance`` moves on. Damage of the compression (cut file, bad checksum) ends the
data instead of raising: what came before it is good and is read, ``damage`` says what happened. (zstd gives whole blocks, so of
damaged zstd data up to 128 KiB before the damage are lost too.)
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import zstandard

from otelreplay.errors import LimitError

PIECE = 1 << 18
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""What a frame of zstd starts with that holds no data: some tools put one in front, with sizes or a seek table."""
_COMPACT_AT = 1 << 20
_PACKED = 1 << 14
_GZIP_STEP = 1 << 12
_ZSTD_STEP = 1 << 7
"""Compressed bytes given to zstd at once: a block of four bytes can hold 128 KiB, so this bounds a piece to 4 MiB."""


class Source:
    """A window over a stream of bytes. ``name`` is only used to say where something is."""

    def __init__(self, raw: BinaryIO, *, name: str, on_bytes: Callable[[int], None] | None = None, start: int = 0) -> None:
        self.name = name
        self.buffer = bytearray()
        self.pos = 0
        self.damage = ""
        self.compression = ""
        self._before = start
        self._pieces = self._open(raw, on_bytes)

    @property
    def offset(self) -> int:
        """Position of the next byte in the (decompressed) stream."""
        return self._before + self.pos

    def more(self) -> bool:
        """Append another piece to the buffer; False at the end."""
        piece = next(self._pieces, b"")
        self.buffer += piece
        return bool(piece)

    def advance(self, count: int) -> None:
        """Move on within the buffer."""
        self.pos += count
        if self.pos >= _COMPACT_AT:
            del self.buffer[: self.pos]
            self._before += self.pos
            self.pos = 0

    def ensure(self, count: int) -> int:
        """Have ``count`` bytes in the buffer if the stream still has them; how many there are, at most ``count``."""
        while (have := len(self.buffer) - self.pos) < count and self.more():
            pass
        return min(have, count)

    def peek(self, count: int) -> bytes:
        """The next bytes, fewer at the end, without moving on."""
        have = self.ensure(count)
        with memoryview(self.buffer) as view:
            return bytes(view[self.pos : self.pos + have])

    def take(self, count: int) -> bytes:
        """The next bytes, fewer at the end."""
        data = self.peek(count)
        self.advance(len(data))
        return data

    def skip(self, count: int) -> int:
        """Drop bytes without keeping them; how many there were."""
        left = count
        while left and (have := self.ensure(min(left, PIECE))):
            self.advance(have)
            left -= have
        return count - left

    def line_size(self, limit: int) -> int:
        """Size of the next line with its newline (at the end of the data perhaps without); -1 when it is above ``limit``."""
        searched = 0
        while True:
            found = self.buffer.find(b"\n", self.pos + searched)
            if found >= 0:
                return size if (size := found + 1 - self.pos) <= limit else -1
            searched = len(self.buffer) - self.pos
            if searched > limit:
                return -1
            if not self.more():
                return searched

    def skip_line(self) -> None:
        """Move on to the start of the next line, or to the end."""
        while True:
            found = self.buffer.find(b"\n", self.pos)
            if found >= 0:
                return self.advance(found + 1 - self.pos)
            self.advance(len(self.buffer) - self.pos)
            if not self.more():
                return None

    def _open(self, raw: BinaryIO, on_bytes: Callable[[int], None] | None) -> Iterator[bytes]:
        counted = _Counted(raw, on_bytes)
        head = counted.read(4)
        while 0 < len(head) < 4 and (further := counted.read(4 - len(head))):
            head += further
        counted.pushed_back = head
        if head.startswith(ZSTD) or _SKIPPABLE.fullmatch(head):
            self.compression = "zstd"
            return self._zstd(counted)
        if head.startswith(GZIP):
            self.compression = "gzip"
            return self._gzip(counted)
        return iter(lambda: counted.read(PIECE), b"")

    def _gzip(self, raw: _Counted) -> Iterator[bytes]:
        while data := raw.read(_PACKED):
            inflate = zlib.decompressobj(wbits=31)
            while not inflate.eof:
                if not data and not (data := raw.read(_PACKED)):
                    self.damage = f"the gzip data is cut short at byte {raw.count} of the compressed file"
                    return
                before = inflate.copy()
                step = data[:_GZIP_STEP]
                try:
                    piece = inflate.decompress(step, PIECE)
                except zlib.error:
                    yield from _until_error(before, step)
                    self.damage = f"the gzip data is damaged before byte {raw.count} of the compressed file"
                    return
                data = inflate.unconsumed_tail + data[_GZIP_STEP:]
                if piece:
                    yield piece
            raw.pushed_back = (inflate.unused_data + data).lstrip(b"\0")  # members may follow each other, padded with zeros

    def _zstd(self, raw: _Counted) -> Iterator[bytes]:
        data = raw.read(_PACKED)
        while data:
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof:
                if not data and not (data := raw.read(_PACKED)):
                    self.damage = f"the zstd data is cut short at byte {raw.count} of the compressed file"
                    return
                try:
                    piece = frame.decompress(data[:_ZSTD_STEP])
                except zstandard.ZstdError as error:
                    self._zstd_failed(raw, error)
                    return
                data = data[_ZSTD_STEP:] if not frame.eof else frame.unused_data + data[_ZSTD_STEP:]
                if piece:
                    yield piece
            data = data or raw.read(_PACKED)

    def _zstd_failed(self, raw: _Counted, error: zstandard.ZstdError) -> None:
        if "memory" in str(error):
            raise LimitError(
                "the zstd data needs a window above 128 MiB",
                code="input.limit",
                where=self.name,
                next_step="compress it again without --long",
            ) from None
        self.damage = f"the zstd data is damaged before byte {raw.count} of the compressed file"


def _until_error(inflate: zlib._Decompress, step: bytes) -> Iterator[bytes]:
    """What a step gives before the byte that zlib refuses."""
    for at in range(len(step)):
        try:
            piece = inflate.decompress(step[at : at + 1])
        except zlib.error:
            return
        if piece:
            yield piece


class _Counted:
    """The raw file: counts what was read, and can have a few bytes put back."""

    def __init__(self, raw: BinaryIO, on_bytes: Callable[[int], None] | None) -> None:
        self._raw, self._on_bytes = raw, on_bytes
        self.count = 0
        self.pushed_back = b""

    def read(self, size: int = -1) -> bytes:
        if self.pushed_back:
            data, self.pushed_back = self.pushed_back, b""
            return data
        data = self._raw.read(size) or b""
        self.count += len(data)
        if data and self._on_bytes is not None:
            self._on_bytes(len(data))
        return data
