"""The Vercel AI SDK, 4 to 6 (and 7 with its legacy telemetry): ``ai.operationId`` tells it.

    ai.generateText / ai.streamText / ai.generateObject / ...     the whole run, an agent's event
      ├ *.doGenerate / *.doStream                                 one call of a model
      └ ai.toolCall                                               one call of a tool

Messages are the SDK's own parts (``tool-call`` with ``input``, ``args`` in version 4; ``tool-result`` with ``output`` or
``result``), and the tools an array of JSON texts. Source: the telemetry page of the AI SDK's documentation, and what it writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.values import lift_system
from otelreplay.dialects.wire import json_of
from otelreplay.providers import read_arguments

OPERATION: Final = "ai.operationId"
_CALLS: Final = (".doGenerate", ".doStream")
_SETTINGS: Final = "ai.settings."
_PARAMS: Final = {
    "temperature": "temperature",
    "maxTokens": "max_tokens",
    "maxOutputTokens": "max_tokens",
    "topP": "top_p",
    "topK": "top_k",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "seed": "seed",
    "stopSequences": "stop_sequences",
}
_USAGE: Final = {
    "ai.usage.inputTokens": "input_tokens",
    "ai.usage.outputTokens": "output_tokens",
    "ai.usage.promptTokens": "input_tokens",
    "ai.usage.completionTokens": "output_tokens",
    "ai.usage.cachedInputTokens": "cache_read.input_tokens",
    "ai.usage.reasoningTokens": "reasoning.output_tokens",
}
_REMEDY: Final = "leave recordInputs and recordOutputs of experimental_telemetry on where the agent runs"


class VercelAI:
    """The singleton of this module is :data:`DIALECT`."""

    name = "vercel-ai"
    attribute_fields: Mapping[str, str] = {
        "ai.model.id": "request.model",
        "ai.model.provider": "request.provider",
        "ai.response.id": "response.id",
        "ai.response.model": "response.model",
        "ai.response.finishReason": "response.finish_reasons",
        "ai.toolCall.args": "request.arguments",
        "ai.toolCall.id": "request.call_id",
        "ai.toolCall.result": "response.result",
    }

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        said = view.span.attributes.get(OPERATION)
        if not isinstance(said, str):
            return None
        if said == "ai.toolCall":
            kind = "tool"
        elif said.startswith("ai.embed"):
            kind = "embeddings"
        else:
            kind = "model" if said.endswith(_CALLS) else "agent"
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
        reader.taken.add(OPERATION)
        getattr(reader, kind)()
        return reader.reading(self.name, reader.title())


DIALECT = VercelAI()


class _Reader(SpanReader):
    """Collects the fields of one span."""

    def title(self) -> str:
        at = {"tool": "ai.toolCall.name", "agent": "ai.telemetry.functionId"}.get(self.kind, "ai.model.id")
        named = self.attributes.get(at)
        if named:
            self.taken.add(at)
        return str(named or self.view.span.name or self.kind)

    def model(self) -> None:
        for attribute, field in VercelAI.attribute_fields.items():
            if attribute.startswith(("ai.model.", "ai.response.")) and field != "response.finish_reasons":
                self.simple(attribute, field)
        there, value = self.payload("ai.prompt.messages", "request.messages", is_json=True)
        messages = json_of(value) if there else None
        if isinstance(messages, list) and all(isinstance(m, dict) for m in messages):
            self.taken.add("ai.prompt.messages")
            parts, self.fields["request.messages"] = lift_system([self.intern.message(_message(m)) for m in messages])
            if parts:
                self.fields["request.system"] = parts
        self.tools()
        self.parameters()
        self.reply()

    def tools(self) -> None:
        tools = json_of(self.attributes.get("ai.prompt.tools"))
        found = [json_of(t) for t in tools] if isinstance(tools, (list, tuple)) else []
        if found and all(isinstance(t, dict) for t in found):
            self.taken.add("ai.prompt.tools")
            self.fields["request.tools"] = [self.intern.value(_tool(t)) for t in found]

    def parameters(self) -> None:
        sent = {}
        for name, value in self.attributes.items():
            if name.startswith(_SETTINGS) and name.removeprefix(_SETTINGS) in _PARAMS and value is not None:
                self.taken.add(name)
                sent[_PARAMS[name.removeprefix(_SETTINGS)]] = value
        if sent:
            self.fields["request.params"] = dict(sorted(sent.items()))

    def reply(self) -> None:
        reason = self.attributes.get("ai.response.finishReason")
        if reason:
            self.taken.add("ai.response.finishReason")
            self.fields["response.finish_reasons"] = [reason]
        usage = {name: self.attributes[a] for a, name in _USAGE.items() if a in self.attributes}
        self.taken |= _USAGE.keys() & self.attributes.keys()
        if usage:
            self.fields["response.usage"] = usage
        parts: list[dict[str, Any]] = []
        for attribute, kind in (("ai.response.reasoning", "reasoning"), ("ai.response.text", "text")):
            there, value = self.payload(attribute, "response.messages")
            if there and isinstance(value, str):
                self.taken.add(attribute)
                parts += [{"type": kind, "content": value}] if value or kind == "text" else []
        there, value = self.payload("ai.response.toolCalls", "response.messages", is_json=True)
        calls = json_of(value) if there else None
        if isinstance(calls, list):
            self.taken.add("ai.response.toolCalls")
            parts = [p for p in parts if p["content"]] + [_call(c) for c in calls if isinstance(c, dict)]
        there, value = self.payload("ai.response.object", "response.messages", is_json=True)
        if there and isinstance(value, str):
            self.taken.add("ai.response.object")
            parts.append({"type": "text", "content": value})
        if (parts or calls is not None) and "response.messages" not in self.broken:
            self.fields["response.messages"] = [self.intern.message({"role": "assistant", "parts": parts})]

    def tool(self) -> None:
        self.simple("ai.toolCall.id", "request.call_id")
        self.value("ai.toolCall.args", "request.arguments", is_json=True)
        if not self.failed:
            self.value("ai.toolCall.result", "response.result", is_json=True)

    def agent(self) -> None:
        self.value("ai.prompt", "request.input", is_json=True)
        there, value = self.payload("ai.response.text", "response.output")
        if there:
            self.taken.add("ai.response.text")
            self.fields["response.output"] = value
        self.simple("ai.response.object", "response.output")

    def embeddings(self) -> None:
        self.simple("ai.model.id", "request.model")
        self.simple("ai.model.provider", "request.provider")
        values = self.attributes.get("ai.values", self.attributes.get("ai.value"))
        if values is not None:
            self.fields["request.inputs"] = (
                [json_of(v) for v in values] if isinstance(values, (list, tuple)) else json_of(values)
            )


def _tool(definition: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": definition.get("type", "function"), "name": definition.get("name")}
    if definition.get("description"):
        out["description"] = definition["description"]
    schema = definition.get("inputSchema", definition.get("parameters"))
    if schema is not None:
        out["parameters"] = schema
    return out


def _message(m: Mapping[str, Any]) -> dict[str, Any]:
    content = m.get("content")
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    return {"role": m.get("role"), "parts": [_part(b) for b in blocks]}


def _part(block: Any) -> dict[str, Any]:
    if not isinstance(block, dict):
        return {"type": "text", "content": block}
    kind = block.get("type")
    if kind in ("text", "reasoning"):
        return {"type": kind, "content": block.get("text")}
    if kind == "tool-call":
        return _call(block)
    if kind == "tool-result":
        out: dict[str, Any] = {"type": "tool_call_response"}
        if block.get("toolCallId"):
            out["id"] = block["toolCallId"]
        if block.get("toolName"):
            out["name"] = block["toolName"]
        given = block.get("output", block.get("result"))
        if isinstance(given, dict) and "value" in given and str(given.get("type")) in _WRAPPERS:
            given = given["value"]
        return {**out, "response": given}
    return {**block, "type": str(kind or "unknown")}


_WRAPPERS: Final = ("json", "text", "error-text", "error-json", "content")


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "tool_call"}
    if call.get("toolCallId"):
        out["id"] = call["toolCallId"]
    out["name"] = call.get("toolName")
    if "input" in call or "args" in call:
        out["arguments"] = read_arguments(call.get("input", call.get("args")))
    return out
