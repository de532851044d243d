"""LiteLLM's span ``raw_gen_ai_request``: the provider's body, member by member, as Python prints it.

    llm.PROVIDER.messages = "[{'role': …}]"   llm.PROVIDER.choices = "[{'message': …}]"   llm.PROVIDER.temperature = 0

It stands inside the span ``litellm_request``, whose spelled-out messages have no ids and no calls of earlier turns. Request and
response share one name space: what belongs to a response is told by its name. Source: what litellm 1.8 writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.toolio import literal
from otelreplay.dialects.wire import request_fields, response_fields

_MARK: Final = re.compile(r"llm\.([A-Za-z0-9_\-]+)\.(?:messages|contents|input|choices|candidates|content|output)\Z")
_OF_RESPONSE: Final = frozenset(
    {
        *(
            "id",
            "choices",
            "candidates",
            "content",
            "output",
            "created",
            "created_at",
            "model",
            "object",
            "usage",
            "role",
            "type",
        ),
        *("stop_reason", "stop_sequence", "status", "system_fingerprint", "service_tier", "metadata", "moderation", "error"),
        *("usageMetadata", "modelVersion", "responseId"),
    }
)
_REMEDY: Final = "leave litellm.turn_off_message_logging off where the agent runs"


class LiteLLM:
    """The singleton of this module is :data:`DIALECT`."""

    name = "litellm-raw"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        marked = next((m for m in map(_MARK.match, view.span.attributes) if m), None)
        if marked is None:
            return None
        prefix = f"llm.{marked.group(1)}."
        reader = SpanReader(view, "model", intern, remedy=_REMEDY)
        body = {k.removeprefix(prefix): v for k, v in view.span.attributes.items() if k.startswith(prefix)}
        whole = {k: literal(v) for k, v in body.items() if v not in ("", "{}", "None", None)}
        asked = request_fields({k: v for k, v in whole.items() if k not in _OF_RESPONSE}, intern)
        said = response_fields({k: v for k, v in whole.items() if k in _OF_RESPONSE}, intern)
        if not asked and not said:
            return None
        reader.give(asked)
        reader.give(said)
        reader.taken |= {prefix + k for k in body}
        return reader.reading(self.name, str(said.get("response.model") or marked.group(1)))


DIALECT = LiteLLM()
