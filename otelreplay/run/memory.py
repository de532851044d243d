"""Writes into a tuple of constants. CPython alone.

The file that Python was started with is compiled and run in C. The audit event ``exec`` shows its code before it runs, and
nothing lets another be run instead; so the constants of that code are exchanged where they are. It is new, and nobody else
holds it.
"""

from __future__ import annotations

import sys
from typing import Any


def overwrite(held: tuple[Any, ...], new: tuple[Any, ...]) -> None:
    """Make ``held`` hold the items of ``new``, which is as long. Raises RuntimeError where that cannot be done."""
    if sys.implementation.name != "cpython" or len(held) != len(new):
        raise RuntimeError("otelreplay: a tool in the program's own file cannot be replaced in this Python")
    import ctypes

    take, give = ctypes.pythonapi.Py_IncRef, ctypes.pythonapi.Py_DecRef
    take.argtypes = give.argtypes = [ctypes.py_object]
    places = (ctypes.c_void_p * len(held)).from_address(id(held) + tuple.__basicsize__)
    for n, (before, after) in enumerate(zip(held, new, strict=True)):
        if before is not after:
            take(after)
            places[n] = id(after)
            give(before)
    if any(a is not b for a, b in zip(held, new, strict=True)):
        raise RuntimeError("otelreplay: a tool in the program's own file could not be replaced")
