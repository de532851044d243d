"""Decorated functions of OpenLLMetry and AgentOps: a kind, a name, and ``{"args", "kwargs"}`` in JSON.

    traceloop.span.kind = workflow | agent | task | tool     traceloop.entity.{name,input,output}
    agentops.span.kind  = session | agent | operation | task | tool      operation.name, agentops.{KIND}.{input,output}

A workflow or a session is a run of the whole agent. A task is a step of the program and no boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.toolio import call_id_of, unwrapped
from otelreplay.dialects.wire import json_of

_KINDS: Final = {"tool": "tool", "agent": "agent", "workflow": "agent", "session": "agent"}
_NAMES: Final = (sc.TOOL_NAME, "traceloop.entity.name", "operation.name")
_TRACELOOP: Final = "set TRACELOOP_TRACE_CONTENT=true where the agent runs"
_AGENTOPS: Final = "let the decorators of agentops record inputs and outputs where the agent runs"


class Entities:
    """The singleton of this module is :data:`DIALECT`."""

    name = "decorated-entities"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes = view.span.attributes
        for at, remedy in (("traceloop.span.kind", _TRACELOOP), ("agentops.span.kind", _AGENTOPS)):
            said = attributes.get(at)
            kind = _KINDS.get(said) if isinstance(said, str) else None
            if kind is None:
                continue
            reader = SpanReader(view, kind, intern, remedy=remedy)
            reader.taken.add(at)
            prefix = "traceloop.entity." if at.startswith("traceloop") else f"agentops.{said}."
            named = next((attributes[a] for a in _NAMES if attributes.get(a)), view.span.name or kind)
            _read(reader, prefix, str(named))
            return reader.reading(self.name, str(named))
        return None


DIALECT = Entities()


def _read(reader: SpanReader, prefix: str, tool: str) -> None:
    given, got = ("request.arguments", "response.result") if reader.kind == "tool" else ("request.input", "response.output")
    there, value = reader.payload(f"{prefix}input", given, is_json=True)
    around = False
    if there:
        reader.taken.add(f"{prefix}input")
        whole = json_of(value)
        reader.fields[given] = unwrapped(whole, tool if reader.kind == "tool" else "")
        around = isinstance(whole, dict) and "tool_name" in whole and reader.fields[given] is not whole
        if reader.kind == "tool" and call_id_of(value):
            reader.fields["request.call_id"] = call_id_of(value)
    there, value = reader.payload(f"{prefix}output", got) if not reader.failed else (False, None)
    if there and reader.kind == "tool":
        reader.taken.add(f"{prefix}output")
        inner = json_of(value) if around else None
        reader.result(inner["result"] if isinstance(inner, dict) and inner.keys() == {"result"} else value)
    elif there:
        reader.value(f"{prefix}output", got)
