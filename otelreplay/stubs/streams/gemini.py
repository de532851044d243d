"""Gemini's ``streamGenerateContent``: responses that each hold what is new, the last with why it ended and the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from otelreplay.providers.fields import as_dict, as_list
from otelreplay.stubs.streams.cutting import words

Value = dict[str, Any]

_ALWAYS: Final = ("responseId", "modelVersion")


def pieces(body: Value) -> list[Value]:
    """The responses of a stream."""
    base = {key: body[key] for key in _ALWAYS if key in body}
    rest = {key: value for key, value in body.items() if key != "candidates"}
    candidates = [c for n, one in enumerate(as_list(body.get("candidates"))) for c in _candidate(n, one)]
    if not candidates:
        return [{**rest, "candidates": []}] if "candidates" in body else [rest]
    return [*({"candidates": [c], **base} for c in candidates[:-1]), {"candidates": [candidates[-1]], **rest}]


def _candidate(n: int, candidate: Any) -> Iterator[Value]:
    """A candidate in pieces; what is said beside its content comes with the last of them."""
    if not isinstance(candidate, dict):
        return
    content, index = as_dict(candidate.get("content")), {"index": candidate.get("index", n)}
    end = {key: value for key, value in candidate.items() if key != "content"}
    parts = content.get("parts")
    if not isinstance(parts, list):
        yield {"content": candidate.get("content"), **index, **end} if "content" in candidate else {**index, **end}
        return
    about = {key: value for key, value in content.items() if key != "parts"}
    cut = [piece for part in parts for piece in _part(part)]
    for piece in cut[:-1]:
        yield {"content": {"parts": [piece], **about}, **index}
    yield {"content": {"parts": cut[-1:], **about}, **index, **end}


def _part(part: Any) -> list[Any]:
    """A text in pieces, each with what else its part says."""
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return [part]
    return [{**part, "text": piece} for piece in words(part["text"])] or [part]
