"""Which API a request speaks, and what it asks for. Pure: a method, a path and a body in, a value out.

A path is known by how it ends, whatever stands in front of it: SDKs, gateways and deployments put their own there.

    …/chat/completions                            OpenAI chat completions, and all that imitate it
    …/openai/deployments/NAME/chat/completions    the same at Azure: the deployment is the model where the body names none
    …/responses                                   OpenAI responses
    …/embeddings                                  OpenAI embeddings
    …/messages                                    Anthropic messages
    …/models/NAME:generateContent                 Gemini; ``streamGenerateContent`` for a stream, as events with ``?alt=sse``
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import parse_qs, unquote, urlsplit

_ENDINGS: Final = (
    ("/chat/completions", "openai.chat", "model"),
    ("/responses", "openai.responses", "model"),
    ("/embeddings", "openai.embeddings", "embeddings"),
    ("/messages", "anthropic.messages", "model"),
)
_GEMINI: Final = re.compile(r"/models/([^/:]+):(generateContent|streamGenerateContent)$")
_MODELS: Final = re.compile(
    r"/chat/completions$|/(?:v\d+\w*|openai|anthropic|deployments/[^/]+)/(?:responses|embeddings|messages)$"
    r"|/models/[^/:]+:(?:generateContent|streamGenerateContent)$"
)
"""Paths that nothing but a model's API has; ``…/messages`` alone is one of chats and mails too."""
MEANT_FOR: Final = "x-otelreplay-meant-for"
"""Header of a request that was led here: the host it was made for."""
_DEPLOYMENT: Final = re.compile(r"/deployments/([^/]+)/")
_SPEAKS: Final = (("anthropic", "anthropic.messages"), ("/messages", "anthropic.messages"), ("goog", "gemini.generate_content"),
                  ("gemini", "gemini.generate_content"), ("/models/", "gemini.generate_content"))  # fmt: skip
"""Signs of an API in a path or in the names of headers, for errors that its SDK can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that a recording may answer."""

    api: str
    kind: Literal["model", "embeddings"]
    body: Mapping[str, Any] = field(repr=False)
    stream: bool = False
    model: str = ""
    sse: bool = True
    """A stream is read as server-sent events; else (Gemini alone) as one JSON array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFound:
    """A request that is none of a model's."""

    api: str
    """In whose shape it is refused."""
    what: str
    """``GET /v1/models``."""
    unreadable: bool = False
    """It goes to a model, but its body is no JSON object."""


def route(method: str, path: str, headers: Mapping[str, str], body: bytes) -> Asked | NotFound:
    """``path``: with its query; ``headers``: names in lower case."""
    at = urlsplit(path)
    bare = unquote(at.path).rstrip("/")
    gemini = _GEMINI.search(bare)
    known = next(((api, kind) for ending, api, kind in _ENDINGS if bare.endswith(ending)), None)
    if gemini is not None:
        known = ("gemini.generate_content", "model")
    what = f"{method} {bare}"
    if known is None or method != "POST":
        return NotFound(api=known[0] if known else _spoken(bare, headers), what=what)
    api, kind = known
    held = _object(body)
    if held is None:
        return NotFound(api=api, what=what, unreadable=True)
    sse = True
    if gemini is not None:
        stream = gemini[2] == "streamGenerateContent"
        sse = parse_qs(at.query).get("alt") == ["sse"]
        model = gemini[1]
    else:
        stream = held.get("stream") is True
        deployment = _DEPLOYMENT.search(bare)
        named = held.get("model")
        model = named if isinstance(named, str) else deployment[1] if deployment else ""
    return Asked(
        api=api, kind="embeddings" if kind == "embeddings" else "model", body=held, stream=stream, model=model, sse=sse
    )


def is_of_a_model(path: str) -> bool:
    """Whether requests to this path, of whatever host, are requests to a model."""
    return _MODELS.search(unquote(path).rstrip("/")) is not None


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        held = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def _spoken(path: str, headers: Mapping[str, str]) -> str:
    said = " ".join((path.lower(), *headers))
    return next((api for sign, api in _SPEAKS if sign in said), "openai.chat")
