"""What of a decorated span is content: left out where content capture is off.

Only of spans that our decorators made; other instrumentation has switches of its own. Clocks, random numbers and ids stay, as
do names, models, parameters, usage and the kind of an error: they say what happened, not what was said.
"""

from __future__ import annotations

from typing import Final

import msgspec

from otelreplay import semconv as sc
from otelreplay.spans import Span

_SCOPE: Final = "otelreplay"
_KIND: Final = "otelreplay.kind"
_NO_CONTENT: Final = frozenset({"clock", "random", "id"})
_CONTENT: Final = frozenset({
    sc.INPUT_MESSAGES, sc.OUTPUT_MESSAGES, sc.SYSTEM_INSTRUCTIONS, sc.TOOL_DEFINITIONS, sc.TOOL_ARGUMENTS, sc.TOOL_RESULT,
    sc.RETRIEVAL_QUERY, sc.RETRIEVAL_DOCUMENTS, "otelreplay.arguments", "otelreplay.result", "otelreplay.input",
    "otelreplay.output", "otelreplay.chunks", "otelreplay.sent", "otelreplay.error", "otelreplay.idempotency_key",
})  # fmt: skip
_OF_ERRORS: Final = frozenset({"exception.message", "exception.stacktrace"})


def without_content(span: Span) -> Span:
    """The span as it is recorded when content is not to be."""
    if span.scope.name != _SCOPE or span.attributes.get(_KIND) in _NO_CONTENT:
        return span
    return msgspec.structs.replace(
        span,
        attributes={key: value for key, value in span.attributes.items() if key not in _CONTENT},
        events=tuple(
            msgspec.structs.replace(each, attributes={k: v for k, v in each.attributes.items() if k not in _OF_ERRORS})
            for each in span.events
        ),
        status_message="",
    )
