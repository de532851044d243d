"""Lines put aside in a file of the machine's temporary folder that has no name."""

from __future__ import annotations

import os
import tempfile
from threading import RLock
from typing import BinaryIO, Final

LARGE = 32 << 20
"""Bytes of a cassette, written out, from which on its events are held aside."""
_PACKED: Final = 8
"""How many times as large as its compressed form a cassette may well be."""
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_LENGTH: Final = 32
"""Bits of a place that hold a length; those above hold an offset."""


def aside_for(stream: BinaryIO) -> FileAside | None:
    """A place for the lines of this cassette if it is large; None if it is not. ``stream``: can be sought in."""
    here = stream.tell()
    head = stream.read(len(_ZSTD))
    size = stream.seek(0, os.SEEK_END) - here
    stream.seek(here)
    return FileAside() if size * (_PACKED if head == _ZSTD else 1) >= LARGE else None


class FileAside:
    """An :class:`otelreplay.cassette.held.Aside`. The file is for its owner alone, and gone with this object."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="otelreplay-")  # noqa: SIM115 - as long as this object
        self._size, self._settled = 0, 0
        self.lock = RLock()

    def __del__(self) -> None:
        self._file.close()

    def put(self, data: bytes, /) -> int:
        """Its place."""
        self._file.write(data)
        place = self._size << _LENGTH | len(data)
        self._size += len(data)
        return place

    def get(self, place: int, /) -> bytes:
        """What was put there."""
        offset, length = place >> _LENGTH, place & ((1 << _LENGTH) - 1)
        if offset + length > self._settled:
            with self.lock:
                self._file.flush()
                self._settled = self._size
        return os.pread(self._file.fileno(), length, offset)
