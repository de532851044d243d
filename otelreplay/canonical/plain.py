"""Is a value plain JSON already? One pass over it, no recursion, no copies.

Almost every payload is, and then nothing has to be encoded: the pass decides between the fast writers and the careful ones.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from math import copysign, isfinite
from typing import Any, Final

RESERVED: Final = "$otelreplay"
"""The key that marks a typed value; see :mod:`otelreplay.canonical.encoding`."""

MAX_DEPTH: Final = 256
"""Deepest nesting of lists and objects that is kept; what lies deeper is replaced by a ``too_deep`` typed value."""

MAX_CONTAINERS: Final = 1_000_000
"""Most lists and objects of one value. Objects that refer to each other have more paths than members, without end."""

MAX_SAFE: Final = 2**53 - 1
"""Integers up to this size are exact in every JSON reader (RFC 7493)."""

TYPED: Final = 0
"""Holds something that JSON cannot say."""
PLAIN: Final = 1
"""JSON as it stands."""
ROUGH: Final = 2
"""JSON as it stands, but with floats or non-ASCII keys, whose RFC 8785 form needs care."""


_HUGE: Final = sys.float_info.max


def is_unicode(text: str) -> bool:
    """Whether the text holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_plain_float(number: float) -> bool:
    """Whether JSON, and any reader of it, can say this number: finite and not minus zero."""
    return isfinite(number) and (number != 0 or copysign(1.0, number) > 0)


def classify(value: Any) -> int:
    """``PLAIN``, ``ROUGH`` or ``TYPED``. Total, also over cyclic values."""
    return examine(value, 0, MAX_CONTAINERS)[0]


def examine(value: Any, depth: int, room: int) -> tuple[int, int]:
    """The class of a value that stands inside ``depth`` containers, and what it leaves of the room for containers."""
    try:
        return _examine(value, depth, room)
    except RuntimeError:  # another thread changed a container under our hands: the careful path takes snapshots
        return TYPED, room


def _examine(value: Any, depth: int, room: int) -> tuple[int, int]:  # one flat loop: the hottest code of the package
    shape = PLAIN
    waiting: list[Any] = []  # iterators of the containers that we are inside of
    deepest = MAX_DEPTH - depth
    pending: Any = iter((value,))
    while True:
        for item in pending:
            kind = type(item)
            if kind is str:
                if not item.isascii() and not is_unicode(item):
                    return TYPED, room
            elif kind is dict or (kind not in _OTHERS and isinstance(item, dict)):
                if RESERVED in item:
                    return TYPED, room
                for key in item:  # as key_shape does
                    if type(key) is not str:
                        return TYPED, room
                    if not key.isascii():
                        if not is_unicode(key):
                            return TYPED, room
                        shape = ROUGH
                room -= 1
                if room < 0 or len(waiting) >= deepest:
                    return TYPED, room
                waiting.append(pending)
                pending = iter(dict.values(item))
                break
            elif kind is list:
                room -= 1
                if room < 0 or len(waiting) >= deepest:
                    return TYPED, room
                waiting.append(pending)
                pending = iter(item)
                break
            elif kind is int:
                if not -MAX_SAFE <= item <= MAX_SAFE:
                    return TYPED, room
            elif kind is float:
                if not -_HUGE <= item <= _HUGE or (item == 0 and not is_plain_float(item)):
                    return TYPED, room
                shape = ROUGH
            elif item is not None and kind is not bool:
                return TYPED, room
        else:
            if not waiting:
                return shape, room
            pending = waiting.pop()


def is_plain_scalar(item: Any) -> bool:
    """Whether this is a scalar of exactly a JSON type, and one that JSON can say."""
    kind = type(item)
    if kind is str:
        return item.isascii() or is_unicode(item)
    if kind is int:
        return bool(-MAX_SAFE <= item <= MAX_SAFE)
    return item is None or kind is bool or (kind is float and is_plain_float(item))


def key_shape(keys: Iterable[Any]) -> int:
    """What the keys of one dict need: ``TYPED`` if any is no ordinary text or is the reserved key."""
    shape = PLAIN
    for key in keys:
        if type(key) is not str or key == RESERVED:
            return TYPED
        if not key.isascii():
            if not is_unicode(key):
                return TYPED
            shape = ROUGH
    return shape


_OTHERS: Final = frozenset({int, float, bool, type(None), list, tuple, bytes})
