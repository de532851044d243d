"""Plain JSON values as bytes and back, by msgspec; by the standard library in a replayed program that does not have msgspec."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

write_compact: Callable[[Any], bytes]
"""Compact UTF-8, keys in their order."""
write_sorted: Callable[[Any], bytes]
"""The same, keys in order of their bytes."""
read: Callable[[bytes | str], Any]
"""Raises a kind of ValueError for what is not JSON, RecursionError for what is too deep."""

try:
    import msgspec
except ImportError:

    def write_compact(value: Any) -> bytes:
        """See above."""
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()

    def write_sorted(value: Any) -> bytes:
        """See above."""
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True).encode()

    read = json.loads
else:
    write_compact = msgspec.json.encode
    write_sorted = msgspec.json.Encoder(order="sorted").encode
    read = msgspec.json.decode
