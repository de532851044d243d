"""Spans of nobody's convention, read by their shape: bodies of known APIs, and a tool's name beside what it was given and gave.

    any attribute whose JSON is a request of a known API (with its model), and any whose JSON is a response
    tool.name  tool.args | tool.arguments | tool.input | tool.parameters   tool.output | tool.result | tool.response

Only spans on which no known convention stands are read so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.toolio import arguments_of
from otelreplay.dialects.values import is_json_like
from otelreplay.dialects.wire import json_of, request_fields, response_fields
from otelreplay.providers import request_codec, response_codec

_OTHERS: Final = (
    *("gen_ai.", "openinference.", "langfuse.", "langsmith.", "logfire.", "mlflow.", "traceloop.", "agentops.", "ai."),
    *("gcp.vertex.", "haystack.", "mcp.", "otelreplay.", "http.", "rpc.", "db."),
)
"""Beginnings of attributes that belong to a convention."""
_NAMES: Final = ("tool.name", "tool_name", "tool")
_GIVEN: Final = tuple(
    f"tool{s}{n}" for s in "._" for n in ("args", "arguments", "input", "inputs", "parameters", "params", "kwargs")
)
_GOT: Final = tuple(f"tool{s}{n}" for s in "._" for n in ("output", "outputs", "result", "response", "return"))
_IDS: Final = ("tool.call.id", "tool.call_id", "tool_call_id", "tool.id", "tool_call.id")
_REMEDY: Final = "record what goes in and what comes out on the span, under the names of the GenAI conventions"


class Plain:
    """The singleton of this module is :data:`DIALECT`."""

    name = "plain-bodies"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes = view.span.attributes
        if not attributes or any(name.startswith(_OTHERS) for name in attributes):
            return None
        return self.tool(view, intern) or self.model(view, intern)

    def tool(self, view: SpanView, intern: Interner) -> Reading | None:
        """A tool's span, told by a name beside arguments or a result."""
        attributes = view.span.attributes
        named = next((attributes[n] for n in _NAMES if isinstance(attributes.get(n), str) and attributes[n]), None)
        given = next((n for n in _GIVEN if n in attributes), None)
        got = next((n for n in _GOT if n in attributes), None)
        reader = SpanReader(view, "tool", intern, remedy=_REMEDY)
        if named is None or (given is None and got is None):
            return None
        if got is None and view.span.end and not reader.failed:
            return None  # a call that was asked for, not one that ran
        there, value = reader.payload(given, "request.arguments") if given else (False, None)
        if there and given:
            reader.taken.add(given)
            reader.fields["request.arguments"] = arguments_of(value)
        there, value = reader.payload(got, "response.result") if got else (False, None)
        if there and got:
            reader.taken.add(got)
            reader.result(value)
        for attribute in _IDS:
            reader.simple(attribute, "request.call_id")
        return reader.reading(self.name, str(named))

    def model(self, view: SpanView, intern: Interner) -> Reading | None:
        """A model call's span, told by the bodies of a known API."""
        reader = SpanReader(view, "model", intern, remedy=_REMEDY)
        for attribute, value in view.span.attributes.items():
            body = json_of(value) if isinstance(value, str) and is_json_like(value) else value
            if not isinstance(body, dict):
                continue
            if isinstance(body.get("model"), str) and request_codec(body) is not None:
                found = request_fields(body, intern)
            elif response_codec(body) is not None:
                found = response_fields(body, intern)
            else:
                continue
            reader.taken.add(attribute)
            reader.give(found)
        if not reader.fields.keys() & {"request.messages", "response.messages"}:
            return None
        named = reader.fields.get("request.model") or reader.fields.get("response.model")
        return reader.reading(self.name, str(named or view.span.name or "model"))


DIALECT = Plain()
