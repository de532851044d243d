"""Which keys stand where at the start of a JSON text that need be neither whole nor valid: how one export is told from another.

A path is written as ``data[].spans[].spanID``: keys joined by dots, ``[]`` for "in each element"; the elements of an array at
the top are ``[]``. Since a path says where a key stands, a span that *talks* of another form's keys is not taken for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_TOKEN = re.compile(rb'[ \t\r\n]*+(?:"((?:[^"\\]++|\\.)*+)"([ \t\r\n]*+:)?|([{}\[\]])|[^ \t\r\n"{}\[\]]++)', re.DOTALL)
_MOST_TOKENS = 20_000
_DEEPEST = 5
_OTLP = frozenset(
    f"{before}{signal}"
    for before in ("", "[].")
    for signal in ("resourceSpans", "resourceLogs", "resourceMetrics", "resource_spans", "resource_logs", "resource_metrics")
)
_LISTS = ("", "[]", "spans[]", "data[]", "data.spans[]", "[].spans[]", "traces[].spans[]")
"""Where a list of spans has its spans: each a document of its own, in an array, or inside of an answer."""


def paths(data: bytes) -> frozenset[str]:
    """The paths of all keys near the start of ``data``, down to a few levels; only OTLP's own if it is plain OTLP."""
    found: set[str] = set()
    stack: list[tuple[bool, str]] = []
    at, value = 0, ""
    for _ in range(_MOST_TOKENS):
        token = _TOKEN.match(data, at)
        if token is None:
            break
        at = token.end()
        if (bracket := token[3]) in (b"{", b"["):
            if stack and not stack[-1][0]:
                value = stack[-1][1]
            stack.append((bracket == b"{", value + ("[]" if bracket == b"[" else "")))
        elif bracket:
            del stack[-1:]
            value = ""
        elif token[2] and stack:
            above = stack[-1][1]
            value = f"{above}.{token[1].decode('utf-8', 'replace')}" if above else token[1].decode("utf-8", "replace")
            if len(stack) <= _DEEPEST:
                found.add(value)
                if value in _OTLP:
                    return frozenset({value})
    return frozenset(found)


def is_otlp(found: frozenset[str]) -> bool:
    """Do these paths belong to OTLP JSON as the specification has it?"""
    return not found.isdisjoint(_OTLP)


def place(found: frozenset[str], *keys: str, lists: Iterable[str] = _LISTS) -> str | None:
    """The pattern of the objects that have all of ``keys``, such as ``spans[]``; None when there are none."""
    for pattern in lists:
        if all((f"{pattern}.{key}" if pattern else key) in found for key in keys):
            return pattern
    return None
