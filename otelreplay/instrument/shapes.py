"""A model call's arguments and results as GenAI messages, recognised by names and shapes that are usual.

Nothing is lost by not being recognised: what maps to no field of the conventions is kept as an argument, and the exact result
beside its messages.
"""

from __future__ import annotations

from typing import Any

from otelreplay import semconv as sc
from otelreplay.instrument.spec import Bound, Spec
from otelreplay.instrument.values import Losses, text

Value = dict[str, Any]


def said(role: str, content: str) -> list[Value]:
    """One message of plain text."""
    return [{"role": role, "parts": [{"type": "text", "content": content}]}]


def put_request(spec: Spec, bound: Bound, attributes: Value, losses: Losses) -> Bound:
    """Put the request into ``attributes``; returns the arguments that it did not take."""
    return bound


def put_response(spec: Spec, value: Any, attributes: Value, losses: Losses) -> str | None:
    """Put the answer into ``attributes``; returns its text where it is one message of plain text."""
    if isinstance(value, str):
        attributes[sc.OUTPUT_MESSAGES] = text(said("assistant", value), "messages", losses)
        return value
    return None


def put_chunks(spec: Spec, chunks: list[Any], attributes: Value, losses: Losses) -> None:
    """Put the answer that the chunks of a stream amount to into ``attributes``."""
    if chunks and all(isinstance(chunk, str) for chunk in chunks):
        put_response(spec, "".join(chunks), attributes, losses)
