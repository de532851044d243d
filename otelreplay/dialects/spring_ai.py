"""Spring AI: what its observations say beside the GenAI conventions, in which its chat models are read.

    spring.ai.kind = tool_call     spring.ai.tool.definition.name, .tool.call.id, .tool.call.arguments, .tool.call.result
    spring.ai.kind = chat_client   the agent; what goes in and comes out is on the model's span
    spring.ai.kind = vector_store  db.vector.query.content, db.vector.query.response.documents

Content is written only where it is switched on. Source: what Spring AI 1.x documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView

_KIND: Final = "spring.ai.kind"
_KINDS: Final = {"tool_call": "tool", "chat_client": "agent", "vector_store": "retrieval"}
_TOOL: Final = "spring.ai.tool."
_QUERY: Final = "db.vector.query."
_REMEDY: Final = {
    "tool": "set spring.ai.tools.observations.include-content=true",
    "agent": "set spring.ai.chat.client.observations.log-prompt=true and log-completion=true",
    "retrieval": "set spring.ai.vectorstore.observations.log-query-response=true",
}


class SpringAI:
    """The singleton of this module is :data:`DIALECT`."""

    name = "spring-ai"
    attribute_fields: Mapping[str, str] = {
        f"{_TOOL}call.arguments": "request.arguments",
        f"{_TOOL}call.result": "response.result",
        f"{_QUERY}content": "request.query",
        f"{_QUERY}response.documents": "response.result",
    }

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes = view.span.attributes
        kind = _KINDS.get(str(attributes.get(_KIND)))
        if kind is None or (kind == "retrieval" and attributes.get("db.operation.name", "query") != "query"):
            return None
        reader = SpanReader(view, kind, intern, remedy=_REMEDY[kind])
        reader.taken.add(_KIND)
        name = view.span.name or kind
        if kind == "tool":
            reader.simple(f"{_TOOL}call.id", "request.call_id")
            reader.value(f"{_TOOL}call.arguments", "request.arguments")
            reader.value(f"{_TOOL}call.result", "response.result")
            name = str(attributes.get(f"{_TOOL}definition.name") or name)
        elif kind == "retrieval":
            reader.value(f"{_QUERY}content", "request.query")
            reader.value(f"{_QUERY}response.documents", "response.result")
        return reader.reading(self.name, name)


DIALECT = SpringAI()
