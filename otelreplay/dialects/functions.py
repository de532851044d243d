"""Functions that a tracer wraps without saying what they are: their arguments and what they returned, and no kind.

    OpenLIT     function.args, function.kwargs as Python prints them; what was returned in gen_ai.output.messages
    Logfire     code.function, one attribute a parameter, what was returned in ``return``

Such a span is context. Where a model declared or asked for a tool of that name, it is the tool: ``reconstruct`` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.toolio import literal
from otelreplay.dialects.wire import json_of

_ARGS: Final = "function.args"
_KWARGS: Final = "function.kwargs"
_FUNCTION: Final = "code.function"
_RETURN: Final = "return"
_NOT_PARAMETERS: Final = ("code.", "logfire.", "thread.", "gen_ai.", "otelreplay.")
_OPENLIT: Final = "leave capture_message_content on in openlit.init where the agent runs"
_LOGFIRE: Final = "write @logfire.instrument(record_return=True), so that the results of tools are recorded"


class Functions:
    """The singleton of this module is :data:`DIALECT`."""

    name = "traced-functions"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        span = view.span
        if _ARGS in span.attributes and _KWARGS in span.attributes:
            as_tool = _openlit(view, intern)
        elif span.scope.name == "logfire" and _FUNCTION in span.attributes and sc.OPERATION not in span.attributes:
            as_tool = _logfire(view, intern)
        else:
            return None
        return Reading(dialect=self.name, kind="context", name=as_tool.name, as_tool=as_tool)


DIALECT = Functions()


def _openlit(view: SpanView, intern: Interner) -> Reading:
    reader = SpanReader(view, "tool", intern, remedy=_OPENLIT)
    there, args = reader.payload(_ARGS, "request.arguments")
    also, kwargs = reader.payload(_KWARGS, "request.arguments")
    if there and also:
        reader.taken |= {_ARGS, _KWARGS}
        by_name = literal(kwargs)
        whole = isinstance(by_name, dict) and args == "()"
        reader.fields["request.arguments"] = by_name if whole else {"args": literal(args), "kwargs": by_name}
    there, got = reader.payload(sc.OUTPUT_MESSAGES, "response.result")
    if there:
        reader.taken.add(sc.OUTPUT_MESSAGES)
        reader.result(got)
    return reader.reading(DIALECT.name, view.span.name or "function")


def _logfire(view: SpanView, intern: Interner) -> Reading:
    reader = SpanReader(view, "tool", intern, remedy=_LOGFIRE)
    given = {
        k: json_of(v) if isinstance(v, str) and v[:1] in ("{", "[") else v
        for k, v in view.span.attributes.items()
        if k != _RETURN and not k.startswith(_NOT_PARAMETERS)
    }
    cut = [k for k in given if not reader.payload(k, "request.arguments")[0]]
    if not cut:
        reader.taken |= given.keys()
        reader.fields["request.arguments"] = given
    there, got = reader.payload(_RETURN, "response.result")
    if there:
        reader.taken.add(_RETURN)
        reader.result(got)
    function = str(view.span.attributes[_FUNCTION])
    return reader.reading(DIALECT.name, function.rpartition(".")[2] or "function")
