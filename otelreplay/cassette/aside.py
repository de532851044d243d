"""Lines put aside in a file of the machine's temporary folder that has no name."""

from __future__ import annotations

import os
import tempfile
from threading import RLock
from typing import Final

_LENGTH: Final = 32
"""Bits of a place that hold a length; those above hold an offset."""


class FileAside:
    """An :class:`otelreplay.cassette.held.Aside`. The file is for its owner alone, and gone with this object."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="otelreplay-")  # noqa: SIM115 - as long as this object
        self._size, self._settled = 0, 0
        self.lock = RLock()

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
