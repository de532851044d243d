"""Compressed bodies undone, and never more of them in memory than is allowed."""

from __future__ import annotations

import zlib

_GZIP_MAGIC = b"\x1f\x8b"
_STEP = 1 << 20
_PIECE = 64 << 10
"""Bytes that are handed over at one time: what is not used of them is copied, so all at once would cost the square."""
_MEMBERS = 10_000
_WINDOW = {"gzip": 31, "deflate": 15}
ENCODINGS = ("identity", *_WINDOW)
"""Content encodings that are understood. OTLP demands the first two; some exporters offer the third."""


class TooLargeError(Exception):
    """There is more data than the limit allows; ``size`` is how much is known of."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"it has more than {size - 1} bytes when unpacked, {limit} are allowed")


class DamagedError(Exception):
    """The compressed data cannot be read; the message says why."""


def inflate(data: bytes, encoding: str, limit: int) -> bytes:
    """The content of a compressed body. TooLargeError as soon as it exceeds ``limit`` bytes; DamagedError."""
    if encoding == "identity" or not data:
        return data
    parts: list[bytes] = []
    size = at = members = 0
    while at < len(data):  # gzip allows several members one after the other
        members += 1
        if members > _MEMBERS:
            raise DamagedError(f"the {encoding} data has more than {_MEMBERS} members")
        unpack = zlib.decompressobj(_WINDOW[encoding])
        while not unpack.eof:
            piece = data[at : at + _PIECE]
            try:
                part = unpack.decompress(piece, min(_STEP, limit - size + 1))
            except zlib.error:
                raise DamagedError(f"the {encoding} data is damaged") from None
            at += len(piece) - len(unpack.unconsumed_tail) - len(unpack.unused_data)
            size += len(part)
            if size > limit:
                raise TooLargeError(size, limit)
            parts.append(part)
            if not part and at >= len(data) and not unpack.eof:
                raise DamagedError(f"the {encoding} data is cut short")
    return b"".join(parts)


def encoding_of_message(data: bytes) -> str:
    """How a gRPC message is compressed, told by its first bytes: none of these can begin a protobuf message of OTLP.

    gRPC's own decompression is switched off, because not every version of the library bounds what comes out of it.
    """
    if data[:2] == _GZIP_MAGIC:
        return "gzip"
    if data[:1] == b"\x78" and len(data) > 1 and int.from_bytes(data[:2], "big") % 31 == 0:
        return "deflate"
    return "identity"
