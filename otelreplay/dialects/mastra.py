"""Mastra: what goes into an agent and comes out of it. Its model calls and tools are in the GenAI conventions.

    mastra.span.type = agent_run     mastra.agent_run.input, mastra.agent_run.output; older: input, output
    mastra.span.type = tool_call | mcp_tool_call, older ones: gen_ai.tool.input | input, gen_ai.tool.output | output

Source: what @mastra/otel-exporter 1.x writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView

_TYPE: Final = "mastra.span.type"
_REMEDY: Final = "leave hideInput and hideOutput of the tracing options off where the agent runs"


class Mastra:
    """The singleton of this module is :data:`DIALECT`."""

    name = "mastra"
    attribute_fields: Mapping[str, str] = {
        "mastra.agent_run.input": "request.input",
        "mastra.agent_run.output": "response.output",
    }

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes, said = view.span.attributes, str(view.span.attributes.get(_TYPE)).lower()
        kind = {"agent_run": "agent", "tool_call": "tool", "mcp_tool_call": "tool"}.get(said)
        if kind is None:
            return None
        reader = SpanReader(view, kind, intern, remedy=_REMEDY)
        own = ("request.input", "response.output") if kind == "agent" else ("request.arguments", "response.result")
        places = (sc.TOOL_ARGUMENTS, "gen_ai.tool.input"), (sc.TOOL_RESULT, "gen_ai.tool.output")
        for field, side, semantic in zip(own, ("input", "output"), places, strict=True):
            names = (*(semantic if kind == "tool" else ()), f"mastra.{said}.{side}", side)
            at = next((n for n in names if n in attributes), None)
            if at is not None:
                reader.value(at, field)
        named = attributes.get(sc.TOOL_NAME if kind == "tool" else sc.AGENT_NAME)
        return reader.reading(self.name, str(named or view.span.name or kind))


DIALECT = Mastra()
