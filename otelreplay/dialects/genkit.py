"""Genkit: every action is a span with its input and output as JSON, whatever the language.

    genkit:type = action | flow | util | promptTemplate | …    genkit:name, genkit:input, genkit:output, genkit:state
    genkit:metadata:subtype (older: genkit:type itself) = model | tool | tool.v2 | flow | retriever | embedder | …
    model   input {"messages": [{"role", "content": [part]}], "config", "tools"}
            output {"message" | "candidates": [{"message"}], "finishReason", "usage": {"inputTokens", …}}
    part    {"text"} | {"toolRequest": {"name", "ref", "input"}} | {"toolResponse": {"name", "ref", "output"}} | {"media"}

Source: what Genkit 1.x writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.values import lift_system
from otelreplay.dialects.wire import json_of
from otelreplay.events import Failure

_INPUT: Final = "genkit:input"
_OUTPUT: Final = "genkit:output"
_TYPE: Final = "genkit:type"
_SUBTYPE: Final = "genkit:metadata:subtype"
_KINDS: Final = {
    "model": "model",
    "background-model": "model",
    "tool": "tool",
    "tool.v2": "tool",
    "flow": "agent",
    "agent": "agent",
    "retriever": "retrieval",
    "embedder": "embeddings",
}
_ROLES: Final = {"model": "assistant"}
_PARAMS: Final = {
    "maxOutputTokens": "max_tokens",
    "topP": "top_p",
    "topK": "top_k",
    "stopSequences": "stop_sequences",
}
_USAGE: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "total_tokens",
    "cachedContentTokens": "cache_read.input_tokens",
    "thoughtsTokens": "reasoning.output_tokens",
}
_REMEDY: Final = "leave the export of inputs and outputs on where the agent runs (disableLoggingInputAndOutput=false)"


class Genkit:
    """The singleton of this module is :data:`DIALECT`."""

    name = "genkit"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes = view.span.attributes
        if _TYPE not in attributes:
            return None
        kind = _KINDS.get(str(attributes.get(_SUBTYPE))) or _KINDS.get(str(attributes[_TYPE]))
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
        reader.taken |= {_TYPE, _SUBTYPE} & attributes.keys()
        getattr(reader, kind)()
        if attributes.get("genkit:state") == "error" and "error" not in reader.fields:
            reader.fields["error"] = Failure(message=view.span.status_message or None)
        return reader.reading(self.name, str(attributes.get("genkit:name") or view.span.name or kind))


DIALECT = Genkit()


class _Reader(SpanReader):
    """Collects the fields of one action."""

    def body(self, attribute: str, field: str) -> dict[str, Any]:
        """The object behind the JSON of an attribute; empty if there is none to be read."""
        there, value = self.payload(attribute, field, is_json=True)
        body = json_of(value) if there else None
        return body if isinstance(body, dict) else {}

    def named(self) -> None:
        """``openai/gpt-5`` is a plugin and the name of a model."""
        plugin, slash, model = str(self.attributes.get("genkit:name") or "").partition("/")
        if slash and model:
            self.taken.add("genkit:name")
            self.give({"request.provider": plugin, "request.model": model})
        else:
            self.simple("genkit:name", "request.model")

    def model(self) -> None:
        self.named()
        asked = self.body(_INPUT, "request.messages")
        if isinstance(asked.get("messages"), list):
            self.taken.add(_INPUT)
            system, messages = lift_system([self.intern.message(m) for m in map(_message, asked["messages"])])
            self.fields["request.messages"] = messages
            self.give({"request.system": system} if system else {})
        tools = [self.intern.value(_tool(t)) for t in asked.get("tools") or () if isinstance(t, dict)]
        self.give({"request.tools": tools} if tools else {})
        config = asked.get("config")
        if isinstance(config, dict):
            params = {_PARAMS.get(k, k): v for k, v in config.items() if v is not None and k not in ("version", "apiKey")}
            self.give({"request.params": dict(sorted(params.items()))} if params else {})
        got = self.body(_OUTPUT, "response.messages")
        choices = got.get("candidates")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else got
        if isinstance(choice.get("message"), dict):
            self.taken.add(_OUTPUT)
            self.fields["response.messages"] = [self.intern.message(_message(choice["message"]))]
        if choice.get("finishReason"):
            self.fields["response.finish_reasons"] = [str(choice["finishReason"])]
        usage = got.get("usage")
        if isinstance(usage, dict):
            counts = {ours: usage[theirs] for theirs, ours in _USAGE.items() if isinstance(usage.get(theirs), (int, float))}
            self.give({"response.usage": counts} if counts else {})

    def tool(self) -> None:
        self.value(_INPUT, "request.arguments", is_json=False)
        self.value(_OUTPUT, "response.result", is_json=False)

    def agent(self) -> None:
        self.value(_INPUT, "request.input")
        self.value(_OUTPUT, "response.output")

    def retrieval(self) -> None:
        self.value(_INPUT, "request.query")
        self.value(_OUTPUT, "response.result")

    def embeddings(self) -> None:
        self.named()
        self.value(_INPUT, "request.inputs")


def _message(message: Any) -> dict[str, Any]:
    held = message if isinstance(message, dict) else {"content": [{"text": message}]}
    content = held.get("content")
    role = str(held.get("role") or "user")
    parts = [_part(p) for p in content] if isinstance(content, list) else [{"type": "text", "content": content}]
    return {"role": _ROLES.get(role, role), "parts": parts}


def _part(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {"type": "text", "content": part}
    if "text" in part:
        return {"type": "text", "content": part["text"]}
    if "reasoning" in part:
        return {"type": "reasoning", "content": part["reasoning"]}
    if isinstance(asked := part.get("toolRequest"), dict):
        given = {"arguments": asked["input"]} if "input" in asked else {"arguments": {}}
        return {"type": "tool_call", **_ref(asked), "name": str(asked.get("name") or ""), **given}
    if isinstance(got := part.get("toolResponse"), dict):
        return {"type": "tool_call_response", **_ref(got), "name": str(got.get("name") or ""), "response": got.get("output")}
    if isinstance(media := part.get("media"), dict) and media.get("url"):
        return {"type": "uri", "uri": media["url"], **({"mime_type": m} if (m := media.get("contentType")) else {})}
    return {"type": "generic", "value": part}


def _ref(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": str(call["ref"])} if call.get("ref") not in (None, "") else {}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    out = {"type": "function", "name": tool.get("name")}
    if tool.get("description"):
        out["description"] = tool["description"]
    if "inputSchema" in tool:
        out["parameters"] = tool["inputSchema"]
    return out
