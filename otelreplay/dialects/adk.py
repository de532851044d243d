"""Google's Agent Development Kit 1: Gemini bodies in ``gcp.vertex.agent.*`` on the span ``call_llm`` and on tools' spans.

``call_llm`` stands around the span ``generate_content``, which says the same call without content. The request lacks the tools;
tool spans have ``{}`` for the bodies of a model. Call ids (``adk-…``) are the framework's own where the model gives none.
Source: what google-adk 1.x writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.wire import json_of, request_fields, response_fields
from otelreplay.providers import CODECS

_AT: Final = "gcp.vertex.agent."
REQUEST: Final = f"{_AT}llm_request"
RESPONSE: Final = f"{_AT}llm_response"
ARGUMENTS: Final = f"{_AT}tool_call_args"
RESULT: Final = f"{_AT}tool_response"
_REMEDY: Final = "set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true where the agent runs"
_MERGED: Final = "(merged tools)"


class ADK:
    """The singleton of this module is :data:`DIALECT`."""

    name = "google-adk"
    attribute_fields: Mapping[str, str] = {ARGUMENTS: "request.arguments", RESULT: "response.result"}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes = view.span.attributes
        if attributes.get(sc.TOOL_NAME) == _MERGED:  # answers of parallel tools, put together again
            return Reading(dialect=self.name, kind="context", name=_MERGED, no_boundary=True)
        if not attributes.keys() & {REQUEST, ARGUMENTS, RESULT}:
            return None
        name = str(attributes.get(sc.TOOL_NAME) or attributes.get(sc.REQUEST_MODEL) or view.span.name or "call_llm")
        if attributes.keys() & {ARGUMENTS, RESULT} or attributes.get(sc.OPERATION) == "execute_tool":
            reader = SpanReader(view, "tool", intern, remedy=_REMEDY)
            _tool(reader)
        else:
            reader = SpanReader(view, "model", intern, remedy=_REMEDY)
            _model(reader)
        return reader.reading(self.name, name)


DIALECT = ADK()


def _tool(reader: SpanReader) -> None:
    reader.value(ARGUMENTS, "request.arguments", is_json=True)
    if not reader.failed:
        reader.value(RESULT, "response.result", is_json=True)
    reader.taken |= {REQUEST, RESPONSE} & reader.attributes.keys()


def _model(reader: SpanReader) -> None:
    there, value = reader.payload(REQUEST, "request.messages", is_json=True)
    body = json_of(value) if there else None
    if isinstance(body, dict) and body:
        reader.taken.add(REQUEST)
        reader.give(request_fields(_flat(body), reader.intern, CODECS["gemini.generate_content"]))
    there, value = reader.payload(RESPONSE, "response.messages", is_json=True)
    body = json_of(value) if there else None
    if isinstance(body, dict) and body:
        reader.taken.add(RESPONSE)
        said = response_fields(_candidate(body), reader.intern, CODECS["gemini.generate_content"])
        said.pop("response.extra", None)  # fields of the framework's own object
        reader.give(said)
    reader.simple(sc.REQUEST_MODEL, "request.model")


def _flat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The SDK's ``config`` as the wire has it: system instruction and tools beside the contents."""
    config = body.get("config")
    config = dict(config) if isinstance(config, dict) else {}
    out = {k: v for k, v in body.items() if k != "config"}
    for key in ("system_instruction", "tools", "tool_config"):
        if key in config:
            out[key] = config.pop(key)
    if isinstance(out.get("system_instruction"), str):
        out["system_instruction"] = {"parts": [{"text": out["system_instruction"]}]}
    return {**out, "generation_config": {k: v for k, v in config.items() if k not in ("http_options", "labels")}}


def _candidate(body: Mapping[str, Any]) -> dict[str, Any]:
    """The framework's response as the wire's: one candidate."""
    if "candidates" in body or "content" not in body:
        return dict(body)
    candidate = {k: body[k] for k in ("content", "finish_reason") if body.get(k) is not None}
    return {**{k: v for k, v in body.items() if k not in candidate}, "candidates": [candidate]}
