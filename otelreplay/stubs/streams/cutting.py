"""Texts cut into pieces that join to them."""

from __future__ import annotations

import re
from typing import Any, Final

_WORDS: Final = re.compile(r"\s*\S+\s*|\s+")
_SLICE: Final = 24
_MOST: Final = 2_000
"""Pieces of one text; a longer one has longer pieces."""


def words(text: str) -> list[str]:
    """A text in its words, each with the white space around it. No piece for no text."""
    found = _WORDS.findall(text)
    return found if len(found) <= _MOST else slices(text)


def slices(text: str) -> list[str]:
    """A text in pieces of equal length: JSON of arguments."""
    size = max(_SLICE, -(-len(text) // _MOST))
    return [text[n : n + size] for n in range(0, len(text), size)]


def by_tokens(text: str, tokens: Any) -> list[tuple[str, list[Any]]]:
    """A text in pieces, each with the log probabilities that belong to it.

    ``tokens``: entries with a ``token`` each. Where they do not join to the text, all of them go with its first piece.
    """
    entries = tokens if isinstance(tokens, list) else []
    said = [entry["token"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("token"), str)]
    if entries and len(said) == len(entries) and "".join(said) == text:
        return [(token, [entry]) for token, entry in zip(said, entries, strict=True)]
    pieces = words(text) or ([""] if entries else [])
    return [(piece, entries if n == 0 else []) for n, piece in enumerate(pieces)]
