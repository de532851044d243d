"""What makes two requests of a kind the same: the table, as data.

A field that is not listed never matters: times, trace and call ids, transport, the response, usage. ``docs/matching-keys.md``
is this table and the encodings in prose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from otelreplay.events import Kind

VERSION: Final = "1"
"""Names this meaning in a cassette's header. A change of any digest is a new version; old cassettes keep theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The components of one kind of request."""

    operation: bool = False
    """The event's name is component ``name``."""
    whole: tuple[str, ...] = ()
    """Fields of the request that are one component each."""
    spread: tuple[str, ...] = ()
    """Fields that are one component for each of their keys."""
    conversation: bool = False
    """``system``, ``messages`` and ``tools``."""
    rest: bool = False
    """Every other field of the request is one component, but for :data:`NEVER`."""


SEMANTICS: Final[dict[Kind, Rule]] = {
    "model": Rule(whole=("model",), spread=("params",), conversation=True),
    "embeddings": Rule(whole=("model", "input", "inputs"), spread=("params",)),
    "tool": Rule(operation=True, spread=("arguments",)),
    "retrieval": Rule(whole=("query",), spread=("params",)),
    "agent": Rule(whole=("input",)),
    "memory": Rule(rest=True),
    "state": Rule(rest=True),
    "clock": Rule(rest=True),
    "random": Rule(rest=True),
    "id": Rule(rest=True),
    "decision": Rule(rest=True),
    "policy": Rule(rest=True),
    "context": Rule(rest=True),
    "human": Rule(rest=True),
    "stop": Rule(rest=True),
}

NEVER: Final = frozenset({"call_id", "api", "provider", "config"})
"""Request fields that are no component under ``rest``."""

TRANSPORT_PARAMS: Final = frozenset(
    {"stream", "stream_options", "timeout", "max_retries", "extra_headers", "extra_query", "extra_body", "headers"}
)
"""Params that say how the answer travels, not what it is."""

PARAM_NAMES: Final = {"max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens", "stop": "stop_sequences"}
"""Spellings of one param."""

PART_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "text": ("content",),
    "reasoning": ("content",),
    "tool_call": ("name", "arguments"),
    "tool_call_response": ("response",),
    "blob": ("modality", "mime_type", "content"),
    "uri": ("modality", "mime_type", "uri"),
    "file": ("modality", "mime_type", "file_id"),
    "server_tool_call": ("name", "server_tool_call"),
    "server_tool_call_response": ("server_tool_call_response",),
    "compaction": ("content",),
}
"""Fields of a message part that matter, for each type; of any other type, all but ``id``."""

TOOL_FIELDS: Final = ("type", "name", "description", "parameters")
"""Fields of a function's definition that matter; of another type of tool, all."""
