"""Trees of plain values: taken apart into leaves, and put together again around what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from otelreplay.canonical import Tagged
from otelreplay.redaction.encodings import wide_codecs
from otelreplay.redaction.jsontext import Leaf, Path

MAX_DEPTH: Final = 100
"""Deepest nesting that is walked; OTLP itself is read no deeper."""

Judgement = Callable[[Sequence[Leaf]], dict[int, str]]


def redact_value(value: Any, judge: Judgement, *, path: Path = (), too_deep: str) -> Any:
    """``value`` with its leaves judged; the same object where nothing changed. What lies too deep becomes ``too_deep``."""
    found: list[Leaf] = []
    deep = _collect(value, path, found, 0)
    changed = judge(found)
    if not changed and not deep:
        return value
    return _rebuild(value, iter(range(len(found))), changed, 0, too_deep)


def _collect(value: Any, path: Path, found: list[Leaf], depth: int) -> bool:
    """Append the leaves of ``value``; True when something lies too deep."""
    if isinstance(value, str):
        found.append(Leaf(path, value))
    elif isinstance(value, dict):
        if depth >= MAX_DEPTH:
            return True
        deep = False
        for key, item in value.items():
            step = key if isinstance(key, str) else _key_text(key)
            found.append(Leaf((*path, step), step, key=True))
            deep |= _collect(item, (*path, step), found, depth + 1)
        return deep
    elif isinstance(value, Tagged):
        return _collect(dict(value.members), path, found, depth)
    elif isinstance(value, (list, tuple, set, frozenset)):
        if depth >= MAX_DEPTH:
            return True
        deep = False
        for n, item in enumerate(value):
            deep |= _collect(item, (*path, n), found, depth + 1)
        return deep
    elif isinstance(value, (bytes, bytearray)):
        found.append(Leaf(path, _text_of(bytes(value))[0]))
    elif isinstance(value, float):
        found.append(Leaf(path, str(int(value)) if abs(value) < 1e21 and value == int(value) else "", string=False))
    elif isinstance(value, int) and not isinstance(value, bool):
        found.append(Leaf(path, str(value) if -(10**21) < value < 10**21 else "", string=False))
    elif value is not None and not isinstance(value, bool):
        found.append(Leaf(path, str(value)))
    return False


def _rebuild(value: Any, counter: Iterator[int], changed: dict[int, str], depth: int, too_deep: str) -> Any:
    if isinstance(value, dict):
        if depth >= MAX_DEPTH:
            return too_deep
        out: dict[Any, Any] = {}
        for key, item in value.items():
            n = next(counter)
            new_key = _free(changed[n], out) if n in changed else key
            out[new_key] = _rebuild(item, counter, changed, depth + 1, too_deep)
        return out
    if isinstance(value, Tagged):
        members = _rebuild(dict(value.members), counter, changed, depth, too_deep)
        return members if isinstance(members, str) else Tagged(value.tag, members)
    if isinstance(value, (list, tuple, set, frozenset)):
        if depth >= MAX_DEPTH:
            return too_deep
        items = [_rebuild(item, counter, changed, depth + 1, too_deep) for item in value]
        return items if isinstance(value, list) else type(value)(items)
    if value is None or isinstance(value, bool):
        return value
    n = next(counter)
    if n not in changed:
        return value
    if isinstance(value, (bytes, bytearray)):
        return changed[n].encode(_text_of(bytes(value))[1], "replace")
    return changed[n]


def _free(key: str, taken: dict[Any, Any]) -> str:
    """Two keys may become the same placeholder; none of the entries is lost."""
    if key not in taken:
        return key
    n = 2
    while f"{key} {n}" in taken:
        n += 1
    return f"{key} {n}"


def _key_text(key: Any) -> str:
    return _text_of(key)[0] if isinstance(key, bytes) else str(key)


def _text_of(data: bytes) -> tuple[str, str]:
    """Bytes as text, and how to go back. Latin-1 reads anything, and what is looked for is ASCII."""
    try:
        if 0 not in data:
            return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    for codec in wide_codecs(data):
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if sum(c.isascii() for c in text) * 2 >= len(text):
            return text, codec
    return data.decode("latin-1"), "latin-1"
