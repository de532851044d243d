"""Text that was streamed in chunks is one text: what a policy removes may lie across any number of them.

In a list of anything else, two items are judged joined only where neither is a find by itself (``["ann", "bob@x.org"]``
holds one address, not ``annbob@x.org``). Chunks are pieces of one text by what they are, so there the joined text decides
alone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from otelreplay.canonical import RESERVED, read_json
from otelreplay.redaction import jsontext
from otelreplay.redaction.leaves import cut_back
from otelreplay.redaction.scan import Edit, Scanner
from otelreplay.spans import Span

CHUNKS: Final = "otelreplay.chunks"
"""The attribute in which a decorated stream keeps what it gave: JSON text of a list."""

_Step = str | int
_DEEPEST: Final = 32
_BASE64: Final = "base64"
_IN: Final = "\x00"


class _Piece(msgspec.Struct):
    """A stretch of the text of a chunk that is a piece of a longer text."""

    path: jsontext.Path
    text: str
    start: int
    end: int
    quoted: bool


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
    """Texts at one place of each chunk, joined, are one text; so are texts at one place of the JSON that chunks hold."""
    return _joined(_joined(chunks, scanner, _inside), scanner, _whole)


def _joined(chunks: list[Any], scanner: Scanner, pieces_of: Callable[[str], Iterable[_Piece]]) -> list[Any]:
    texts = [dict(_texts(chunk, ())) for chunk in chunks]
    groups: dict[tuple[_Step, ...], list[tuple[int, tuple[_Step, ...], _Piece]]] = {}
    for n, held in enumerate(texts):
        for place, text in held.items():
            for piece in pieces_of(text):
                groups.setdefault((*place, _IN, *piece.path), []).append((n, place, piece))
    edits: dict[int, dict[tuple[_Step, ...], list[Edit]]] = {}
    for members in groups.values():
        pieces = [piece.text for _, _, piece in members]
        whole = "".join(pieces)
        if len(members) < 2 or scanner.clean(whole):
            continue
        after = cut_back(pieces, scanner.edits(whole), lambda _: [])
        for (n, place, piece), new in zip(members, after, strict=True):
            if new != piece.text:
                said = jsontext.quote(new, texts[n][place]) if piece.quoted else new
                edits.setdefault(n, {}).setdefault(place, []).append((piece.start, piece.end, said))
    if not edits:
        return chunks
    changed = {
        n: {place: jsontext.splice(texts[n][place], sorted(todo)) for place, todo in here.items()} for n, here in edits.items()
    }
    return [_with(chunk, (), changed[n]) if n in changed else chunk for n, chunk in enumerate(chunks)]


def _whole(text: str) -> Iterable[_Piece]:
    yield _Piece((), text, 0, len(text), quoted=False)


def _inside(text: str) -> Iterable[_Piece]:
    """The texts of a chunk that is JSON, JSON lines or a server's events; the number of a line is no part of its place."""
    if "{" not in text and "[" not in text:
        return
    found = [(leaf, leaf.path) for leaf in jsontext.leaves(text)] if jsontext.looks_like_json(text) else []
    if not found:
        found = [
            (leaf, leaf.path[2:] if leaf.path[0] == jsontext.STREAM else leaf.path[1:]) for leaf in jsontext.lines(f"{text}\n")
        ]
    for leaf, path in found:
        if leaf.string and not leaf.key:
            yield _Piece(path, leaf.text, leaf.start, leaf.end, quoted=True)


def _texts(value: Any, path: tuple[_Step, ...]) -> Iterator[tuple[tuple[_Step, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif (data := _bytes_of(value)) is not None:
        yield path, data.decode("latin-1")
    elif len(path) < _DEEPEST and isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(inner, (*path, step))


def _with(value: Any, path: tuple[_Step, ...], new: dict[tuple[_Step, ...], str]) -> Any:
    if isinstance(value, str):
        return new.get(path, value)
    if path in new and _bytes_of(value) is not None:
        return {**value, _BASE64: base64.b64encode(new[path].encode("latin-1")).decode()}
    if len(path) >= _DEEPEST:
        return value
    if isinstance(value, dict):
        return {step: _with(inner, (*path, step), new) for step, inner in value.items()}
    if isinstance(value, list):
        return [_with(inner, (*path, step), new) for step, inner in enumerate(value)]
    return value


def _bytes_of(value: Any) -> bytes | None:
    """What typed bytes hold; None for anything else."""
    if not isinstance(value, dict) or value.get(RESERVED) != "bytes" or not isinstance(value.get(_BASE64), str):
        return None
    try:
        return base64.b64decode(value[_BASE64], validate=True)
    except ValueError:
        return None
