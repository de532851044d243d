"""Text that was streamed in chunks is one text: what a policy removes may lie across any number of them.

In a list of anything else, two items are judged joined only where neither is a find by itself (``["ann", "bob@x.org"]``
holds one address, not ``annbob@x.org``). Chunks are pieces of one text by what they are, so there the joined text decides
alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from otelreplay.canonical import read_json
from otelreplay.redaction.leaves import cut_back
from otelreplay.redaction.scan import Scanner
from otelreplay.spans import Span

CHUNKS: Final = "otelreplay.chunks"
"""The attribute in which a decorated stream keeps what it gave: JSON text of a list."""

_Step = str | int
_DEEPEST: Final = 32


def joined(span: Span, scanner: Scanner) -> Span:
    """The span, with the texts of its chunks judged as the texts that they are pieces of; the same object where all stay."""
    text = span.attributes.get(CHUNKS)
    known, value = read_json(text) if isinstance(text, str) else (False, None)
    if not known or not isinstance(value, list) or len(value) < 2:
        return span
    new = _judged(value, scanner)
    if new is value:
        return span
    said = json.dumps(new, ensure_ascii=False, separators=(",", ":"))
    return msgspec.structs.replace(span, attributes={**span.attributes, CHUNKS: said})


def _judged(chunks: list[Any], scanner: Scanner) -> list[Any]:
    """Texts at one place of each chunk, joined, are one text."""
    places: dict[tuple[_Step, ...], list[int]] = {}
    texts: list[dict[tuple[_Step, ...], str]] = []
    for n, chunk in enumerate(chunks):
        held = dict(_texts(chunk, ()))
        texts.append(held)
        for place in held:
            places.setdefault(place, []).append(n)
    changed: dict[int, dict[tuple[_Step, ...], str]] = {}
    for place, members in places.items():
        pieces = [texts[n][place] for n in members]
        whole = "".join(pieces)
        if len(members) < 2 or scanner.clean(whole):
            continue
        after = cut_back(pieces, scanner.edits(whole), lambda _: [])
        for n, old, new in zip(members, pieces, after, strict=True):
            if new != old:
                changed.setdefault(n, {})[place] = new
    return [_with(chunk, (), changed[n]) if n in changed else chunk for n, chunk in enumerate(chunks)] if changed else chunks


def _texts(value: Any, path: tuple[_Step, ...]) -> Iterator[tuple[tuple[_Step, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif len(path) < _DEEPEST and isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(inner, (*path, step))


def _with(value: Any, path: tuple[_Step, ...], new: dict[tuple[_Step, ...], str]) -> Any:
    if isinstance(value, str):
        return new.get(path, value)
    if len(path) >= _DEEPEST:
        return value
    if isinstance(value, dict):
        return {step: _with(inner, (*path, step), new) for step, inner in value.items()}
    if isinstance(value, list):
        return [_with(inner, (*path, step), new) for step, inner in enumerate(value)]
    return value
