"""What a codec offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Value = dict[str, Any]


class EncodeResponse(Protocol):
    """Writes a response body."""

    def __call__(self, response: Value, *, defaults: Mapping[str, Any] | None = None) -> tuple[Value, tuple[str, ...]]:
        """(body, paths in it that the response did not hold). ``defaults`` gives values for such paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """The pure functions between one API's JSON bodies and the GenAI form. None of the decoders ever raises."""

    api: str
    decode_request: Callable[[Any], Value]
    """Body -> model?, params, system?, messages?, tools?, extra?; a key that the body did not hold is absent."""
    decode_response: Callable[[Any], Value]
    """Body -> id?, model?, messages?, finish_reasons? (the provider's words), usage?, extra?."""
    encode_request: Callable[[Value], Value]
    encode_response: EncodeResponse
    decode_message: Callable[[Any], list[Value]]
    """One message, content or item -> the GenAI messages that it is."""
    decode_part: Callable[[Any], Value]
    """One content block -> one part."""
    decode_tool: Callable[[Any], list[Value]]
