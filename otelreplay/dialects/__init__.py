"""One convention a file; the registry says in which order they are asked.

Order matters only where two conventions stand on one span: the first to give a field keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping

from otelreplay.dialects import (
    adk,
    claude_code,
    codex,
    converse,
    decorated,
    entities,
    functions,
    gemini_cli,
    genai,
    genai_events,
    genkit,
    haystack,
    indexed,
    langfuse,
    langsmith,
    litellm,
    llamaindex,
    logfire,
    mastra,
    mcp,
    mlflow,
    observed,
    openinference,
    plain,
    spring_ai,
    vercel_ai,
)
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import CONTENT_FIELDS, Dialect, LogDialect, Logged, Reading, SpanView
from otelreplay.dialects.values import is_broken

__all__ = [
    "CONTENT_FIELDS",
    "DIALECTS",
    "LOG_DIALECTS",
    "Dialect",
    "Interner",
    "LogDialect",
    "Logged",
    "Reading",
    "SpanView",
    "attribute_fields",
    "is_broken",
]

DIALECTS: tuple[Dialect, ...] = (
    decorated.DIALECT,
    openinference.DIALECT,
    langfuse.DIALECT,
    logfire.DIALECT,
    langsmith.DIALECT,
    adk.DIALECT,
    haystack.DIALECT,
    mlflow.DIALECT,
    vercel_ai.DIALECT,
    indexed.DIALECT,
    litellm.DIALECT,
    llamaindex.DIALECT,
    entities.DIALECT,
    converse.DIALECT,
    claude_code.DIALECT,
    codex.DIALECT,
    gemini_cli.DIALECT,
    spring_ai.DIALECT,
    genkit.DIALECT,
    mastra.DIALECT,
    observed.DIALECT,
    genai.DIALECT,
    genai_events.DIALECT,
    mcp.DIALECT,
    functions.DIALECT,
    plain.DIALECT,
)

LOG_DIALECTS: tuple[LogDialect, ...] = (claude_code.LOGS, codex.LOGS)
"""Agents that may report by log records alone."""


def attribute_fields() -> Mapping[str, str]:
    """Attribute name → event field, over all dialects: what ``policy check`` needs to follow an attribute into a replay."""
    return {attribute: field for dialect in reversed(DIALECTS) for attribute, field in dialect.attribute_fields.items()}
