"""Model Context Protocol spans (conventions of 1.39; also the MCP SDK's own spans, which leave most attributes out).

A ``tools/call`` is a tool boundary, told once by the client and once by the server: ``reconstruct`` merges the two. Every other
method (initialize, tools/list, …) is context: what it said is kept, but no agent waits on it as it waits on a tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay import semconv as sc
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.packages import package_of
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.events import Missing

_CALL = "tools/call"


class MCP:
    """The singleton of this module is :data:`DIALECT`."""

    name = "mcp"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, _intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        span = view.span
        method = span.attributes.get(sc.MCP_METHOD)
        if not isinstance(method, str):
            return None
        if method != _CALL:
            return Reading(dialect=self.name, kind="context", name=method, taken=frozenset())
        package = package_of(span)
        cause = "content_not_captured" if package.carries_content else "not_carried_by_convention"
        fields: dict[str, Any] = {}
        gaps = tuple(Missing(field=f, cause=cause, remedy=package.content) for f in ("request.arguments", "response.result"))
        return Reading(dialect=self.name, kind="tool", name=_tool_name(span.name, span.attributes), fields=fields, gaps=gaps)


DIALECT = MCP()


def _tool_name(span_name: str, attributes: Mapping[str, Any]) -> str:
    """``{method} {tool}`` is the form of the span's name; SDKs put words before it."""
    named = attributes.get(sc.TOOL_NAME)
    return str(named) if named else span_name.partition(f"{_CALL} ")[2] or span_name
