"""Tools of Gemini CLI: the span ``tool_call``, whose "messages" are the request and the response of the tool.

    gen_ai.input.messages = {"callId", "name", "args", …}
    gen_ai.output.messages = {"status", "request", "response": {"error", "responseParts": [{"functionResponse": {…}}]}}

Its model calls (``llm_call``) are in the GenAI conventions and are read by their dialect. Source: what Gemini CLI 0.2x writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.packages import package_of
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.values import call_id_without_name
from otelreplay.dialects.wire import json_of
from otelreplay.events import Failure

_OPERATION: Final = "tool_call"
_CALL_ID: Final = "gen_ai.tool.call_id"


class GeminiCLI:
    """The singleton of this module is :data:`DIALECT`."""

    name = "gemini-cli"
    attribute_fields: Mapping[str, str] = {_CALL_ID: "request.call_id"}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes = view.span.attributes
        if attributes.get(sc.OPERATION) != _OPERATION or sc.TOOL_NAME not in attributes:
            return None
        reader = SpanReader(view, "tool", intern, remedy=package_of(view.span).content)
        name = str(attributes[sc.TOOL_NAME])
        call = attributes.get(_CALL_ID)
        if call:
            reader.taken.add(_CALL_ID)
            reader.fields["request.call_id"] = call_id_without_name(str(call), name)
        given = _body(reader, sc.INPUT_MESSAGES, "request.arguments")
        if "args" in given:
            reader.taken.add(sc.INPUT_MESSAGES)
            reader.fields["request.arguments"] = given["args"]
        response = _body(reader, sc.OUTPUT_MESSAGES, "response.result").get("response")
        if isinstance(response, dict):
            reader.taken.add(sc.OUTPUT_MESSAGES)
            _answer(reader, response)
        return reader.reading(self.name, name)


DIALECT = GeminiCLI()


def _body(reader: SpanReader, attribute: str, field: str) -> dict[str, Any]:
    there, value = reader.payload(attribute, field, is_json=True)
    body = json_of(value) if there else None
    return body if isinstance(body, dict) else {}


def _answer(reader: SpanReader, response: Mapping[str, Any]) -> None:
    parts = response.get("responseParts")
    answers = [p.get("functionResponse") for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []
    found = [a["response"] for a in answers if isinstance(a, dict) and "response" in a]
    if found:
        reader.fields["response.result"] = found[0] if len(found) == 1 else found
    failed = response.get("error")
    if failed and "error" not in reader.fields:
        text = failed.get("message") if isinstance(failed, dict) else failed
        reader.fields["error"] = Failure(message=None if text is None else str(text))
