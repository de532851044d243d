"""Attributes that spell out a nested value: ``llm.input_messages.0.message.role`` is ``[{"message": {"role": …}}]``.

Numbers are list positions and sort as numbers. A position that is not there leaves no hole: what stands behind moves up. A name
of more steps than any payload is nested deep is not taken apart further: its rest is one key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_STEPS = 64


def nested(attributes: Mapping[str, Any], prefix: str) -> Any:
    """What the attributes below ``prefix`` (which ends with a dot) spell out; None where there are none."""
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        if not name.startswith(prefix):
            continue
        at, *path = name[len(prefix) :].split(".", _STEPS)
        node = found
        for step in path:
            inner = node.setdefault(at, {})
            if not isinstance(inner, dict):
                break
            node, at = inner, step
        else:
            node[at] = value
    return _lists(found) if found else None


def names_below(attributes: Mapping[str, Any], *prefixes: str) -> frozenset[str]:
    """The attributes below any of the prefixes."""
    return frozenset(name for name in attributes if name.startswith(prefixes))


def _lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdecimal() and len(key) < 10 for key in node):
        return [_lists(node[key]) for key in sorted(node, key=int)]
    return {key: _lists(value) for key, value in node.items()}
