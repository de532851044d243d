"""How protobuf messages lie in a file: one message, or many behind length prefixes. Told by content, never by name.

Source: the Collector's file exporter with ``format: proto`` writes a four-byte big-endian length before each message; the
protobuf libraries' ``writeDelimitedTo`` writes the length as a varint. Each hypothesis is checked against what OTLP looks
like: an envelope whose only field is 1, holding groups whose fields 1, 2 and 3 are length-delimited and fit into each other.
"""

from __future__ import annotations

from typing import Literal

from otelreplay.inputs import wire

Framing = Literal["message", "fixed", "varint"]
_PREFIXED: tuple[Framing, ...] = ("fixed", "varint")
ENVELOPE_TAG = 0x0A
"""Field 1, length-delimited: the first byte of every OTLP message that is not empty."""


def framing(head: bytes) -> Framing | None:
    """How the file that starts with ``head`` is laid out; None when it is not OTLP protobuf.

    A few bytes can be read as either length prefix. Then the one wins whose first message lies within ``head``; if neither
    does, the file is cut or its first message is huge, and the smaller length wins.
    """
    if _plausible_message(head, 0, len(head), whole=False):
        return "message"
    frames = [(kind, *frame) for kind in _PREFIXED if (frame := _first_frame(head, kind)) is not None]
    return min(frames, key=lambda frame: frame[1] if frame[2] > len(head) else 0)[0] if frames else None


def prefix(head: bytes, at: int, kind: Framing) -> tuple[int, int]:
    """A frame's length, and where its message starts; DamageError when the prefix is cut short."""
    if kind == "varint":
        return wire.varint(head, at, len(head))
    if len(head) - at < 4:
        raise wire.DamageError(at, "a length is cut short")
    return int.from_bytes(head[at : at + 4], "big"), at + 4


def _first_frame(head: bytes, kind: Framing) -> tuple[int, int] | None:
    """Length and end of the first frame that is not empty, if it holds an OTLP message as far as ``head`` goes."""
    at = length = 0
    try:
        while not length:
            length, at = prefix(head, at, kind)
    except wire.DamageError:
        return None
    end = at + length
    return (length, end) if _plausible_message(head, at, end, whole=True) else None


def _plausible_message(head: bytes, at: int, end: int, *, whole: bool) -> bool:
    """Check the first element of a message at ``head[at:end]``; with ``whole`` it has to fit into the message."""
    if at >= len(head) or head[at] != ENVELOPE_TAG:
        return False
    try:
        length, start = wire.varint(head, at + 1, len(head))
    except wire.DamageError:
        return False
    stop = start + length
    return (not whole or stop <= end) and length > 0 and _plausible_group(head, start, stop, 0)


def _plausible_group(head: bytes, at: int, end: int, depth: int) -> bool:
    """Check the first field of an element (depth 0) or of a scope group (depth 1), as far as ``head`` goes.

    The first only: if a later one is damaged, the file still is what it is.
    """
    try:
        tag, at = wire.varint(head, at, min(end, len(head)))
        length, start = wire.varint(head, at, min(end, len(head)))
    except wire.DamageError:
        return False
    number, kind = tag >> 3, tag & 7
    if kind != wire.LEN or not 1 <= number <= 3 or start + length > end:
        return False
    return not length or _plausible_content(head, start, start + length, number, depth)


def _plausible_content(head: bytes, start: int, end: int, number: int, depth: int) -> bool:
    if start >= len(head) or number > 2:
        return True
    if number == 2 and depth == 0:
        return _plausible_group(head, start, end, 1)
    number, kind = head[start] >> 3, head[start] & 7
    return 1 <= number <= 16 and kind in (wire.VARINT, wire.I64, wire.LEN, wire.I32)
