"""Answers of an embeddings API. No telemetry holds vectors: they come from a fixture, or from a decorated function's result."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from typing import Any

from otelreplay.providers.fields import Filling, as_dict
from otelreplay.replay.wire import plain


def embeddings_body(
    response: Mapping[str, Any], request: Mapping[str, Any], model: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(body, paths in it that were not recorded).

    ``response["result"]``: one vector, a list of them, or a whole body (``data``), as the provider or an SDK's object has it.
    """
    filling = Filling({"model": model} if model else None)
    result = plain(response.get("result"))
    body: dict[str, Any] = {"object": "list", **(result if isinstance(result, dict) else {})}
    as_text = request.get("encoding_format") == "base64"
    body["data"] = [
        {"object": "embedding", **entry, "index": entry.get("index", n), "embedding": _vector(entry.get("embedding"), as_text)}
        for n, entry in enumerate(_entries(result))
    ]
    if "model" not in body and isinstance(response.get("model"), str):
        body["model"] = response["model"]
    tokens = as_dict(response.get("usage")).get("input_tokens")
    if "usage" not in body and type(tokens) is int:
        body["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
    filling.fill(body, {"model": "unknown", "usage": {"prompt_tokens": 0, "total_tokens": 0}})
    return body, tuple(filling.assumed)


def _entries(result: Any) -> list[dict[str, Any]]:
    listed = result.get("data") if isinstance(result, dict) else result
    if not isinstance(listed, list):
        return []
    if listed and all(isinstance(item, int | float) for item in listed):
        listed = [listed]
    return [item if isinstance(item, dict) else {"embedding": item} for item in listed]


def _vector(value: Any, as_text: bool) -> Any:
    """A vector as it is asked for: numbers, or the base64 text of 32-bit floats. What is neither stays as it is."""
    if as_text and isinstance(value, list):
        try:
            return base64.b64encode(struct.pack(f"<{len(value)}f", *value)).decode()
        except (struct.error, OverflowError):
            return value
    if not as_text and isinstance(value, str):
        try:
            raw = base64.b64decode(value, validate=True)
        except ValueError:
            return value
        return list(struct.unpack(f"<{len(raw) // 4}f", raw)) if len(raw) % 4 == 0 else value
    return value
