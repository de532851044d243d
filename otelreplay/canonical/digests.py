"""RFC 8785 bytes and digests of every payload value."""

from __future__ import annotations

import hashlib
from typing import Any

from otelreplay.canonical.encoding import encode_canonical
from otelreplay.canonical.plain import PLAIN, TYPED, classify
from otelreplay.canonical.writing import write, write_plain, write_rough


def jcs(value: Any) -> bytes:
    """RFC 8785 bytes: equal for equal values, whatever the order of their keys. Never raises.

    Total over payload values through the typed encoding. As everywhere in JSON, ``4`` and ``4.0`` are one number.
    """
    shape = classify(value)
    if shape == PLAIN:
        return write_plain(value)
    return write(encode_canonical(value)) if shape == TYPED else write_rough(value)


def digest(data: bytes) -> str:
    """``sha256:`` and 64 hex digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest_value(value: Any) -> str:
    """The digest of the value's RFC 8785 bytes."""
    return digest(jcs(value))
