"""The values between a stub server and what answers it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from otelreplay import canonical

JSON: Final = "application/json"
SSE: Final = "text/event-stream; charset=utf-8"
NO_RETRY: Final = {"x-should-retry": "false"}
"""The header by which the providers' SDKs are told that an error is final."""


class Asked(Protocol):
    """What must be known of a request to answer it in its provider's shape."""

    @property
    def api(self) -> str:
        """``openai.chat``, ``openai.responses``, ``openai.embeddings``, ``anthropic.messages``, ``gemini.generate_content``."""

    @property
    def stream(self) -> bool:
        """Whether the answer is read piece by piece."""

    @property
    def model(self) -> str:
        """The model that was asked for."""

    @property
    def body(self) -> Mapping[str, Any]:
        """The request's JSON body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One HTTP answer. Either ``body`` or ``chunks`` is sent."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case, ``content-type`` among them; lengths and encodings are the server's."""
    body: bytes = b""
    chunks: tuple[bytes, ...] | None = None
    """For a stream: what is sent piece by piece, framed already."""
    assumed: tuple[str, ...] = ()
    """Paths in the answer whose values are neutral, since nothing was recorded; some with a reason after ``: ``."""


def wire_json(value: Any) -> bytes:
    """A value as the JSON that a provider would send; what JSON cannot say is in its typed form. Never raises."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return canonical.dumps(value)


def json_reply(
    value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None, assumed: Iterable[str] = ()
) -> Reply:
    """An answer in one piece."""
    return Reply(
        status=status, headers={"content-type": JSON, **(headers or {})}, body=wire_json(value), assumed=tuple(assumed)
    )
