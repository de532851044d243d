"""LlamaIndex's own OpenTelemetry export (llama-index-observability-otel): a span for each method, its events with what it did.

    LLMChatStartEvent         messages, additional_kwargs.{tools, …}, model_dict.{model_name, …}
    LLMChatEndEvent           response.message.{role, blocks, additional_kwargs…}, response.raw.…: the provider's own response
    LLMCompletionStartEvent   prompt      LLMCompletionEndEvent   response.text, response.raw.…
    RetrievalStartEvent       str_or_query_bundle      RetrievalEndEvent   nodes
    EmbeddingStartEvent       model_dict               EmbeddingEndEvent   chunks

A stream has no end event. A tool's span says its call in an attribute, as Python prints it and cut after 200 characters::

    llamaindex.step.input_summary = ToolCall(tool_name='f', tool_kwargs={'a': 1}, tool_id='c1')

Its result is told by the request of the next call. Source: what the package writes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.flattened import nested
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.values import lift_system, read_tools
from otelreplay.dialects.wire import json_of, response_fields
from otelreplay.events import Missing
from otelreplay.providers import read_arguments

_STARTS: Final = {
    "LLMChatStartEvent": "model",
    "LLMCompletionStartEvent": "model",
    "RetrievalStartEvent": "retrieval",
    "EmbeddingStartEvent": "embeddings",
}
_REMEDY: Final = "leave the events of the LlamaIndex dispatcher on where the agent runs"
_STREAMED: Final = "call the model without streaming where its replies must be recorded: a stream has no event of its end"
_INPUT: Final = "llamaindex.step.input_event"
_SUMMARY: Final = "llamaindex.step.input_summary"
_TOOL: Final = re.compile(r"\w*Tool\.a?call")
_NAMED: Final = re.compile(r"ToolCall\(tool_name='((?:[^'\\]|\\.)+)'")
_CUT: Final = "..."


class LlamaIndex:
    """The singleton of this module is :data:`DIALECT`."""

    name = "llamaindex"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        began = next((e for e in view.span.events if _STARTS.get(e.name) and e.attributes.get("class_name") == e.name), None)
        if began is not None:
            return _boundary(view, _STARTS[began.name], began.name.removesuffix("StartEvent"), intern)
        if view.span.attributes.get(_INPUT) == "ToolCall" and _TOOL.fullmatch(view.span.name):
            return _tool(view, intern)
        if any(e.name == "workflow.output" for e in view.span.events):
            name = view.span.name.removesuffix(".run") or "workflow"
            return SpanReader(view, "agent", intern, remedy=_REMEDY).reading(self.name, name)
        return None


DIALECT = LlamaIndex()


def _boundary(view: SpanView, kind: str, what: str, intern: Interner) -> Reading:
    """What the events of a call tell; the last of each name counts."""
    ours = [e for e in view.span.events if e.name.startswith(what) and e.attributes.get("class_name") == e.name]
    held = {name: value for e in ours for name, value in e.attributes.items()}
    # the reader looks at attributes: those of the events stand in for the span's
    told = msgspec.structs.replace(view, span=msgspec.structs.replace(view.span, attributes=held, lengths={}))
    reader = _Reader(told, kind, intern, remedy=_STREAMED if "stream" in view.span.name else _REMEDY)
    getattr(reader, kind)()
    reader.taken = set()
    named = reader.fields.get("request.model") or view.span.name.partition(".")[0] or kind
    got = reader.reading(DIALECT.name, str(named))
    return msgspec.structs.replace(got, took_events=got.took_events | {e.name for e in ours})


class _Reader(SpanReader):
    """Collects the fields of one call from the attributes of its events."""

    def model(self) -> None:
        there, asked = self.payload("messages", "request.messages", is_json=True)
        given = json_of(asked) if there else None
        if isinstance(given, list):
            found = [self.intern.message(_message(m)) for m in given if isinstance(m, dict)]
            parts, self.fields["request.messages"] = lift_system(found)
            if parts:
                self.fields["request.system"] = parts
        elif isinstance(self.attributes.get("prompt"), str):
            there, prompt = self.payload("prompt", "request.messages")
            self.give({"request.messages": [self.said("user", prompt)]} if there else {})
        self.settings()
        self.reply()

    def settings(self) -> None:
        """The model, its tools and its other parameters."""
        tools = json_of(self.payload("additional_kwargs.tools", "request.tools", is_json=True)[1])
        if isinstance(tools, list):
            self.fields["request.tools"] = read_tools(tools, self.intern)
        self.simple("model_dict.model_name", "request.model")
        params = {
            name: json_of(value)
            for prefix in ("additional_kwargs.", "model_dict.")
            for name in ("temperature", "max_tokens", "tool_choice", "parallel_tool_calls", "top_p", "stop")
            if (value := self.attributes.get(prefix + name)) not in (None, "", "null")
        }
        if params:
            self.fields["request.params"] = dict(sorted(params.items()))

    def reply(self) -> None:
        """The provider's own response, else the framework's message."""
        there, _ = self.payload("response.raw.choices", "response.messages", is_json=True)
        raw = (
            _read(nested(self.attributes, "response.raw.")) if there or "response.raw.choices" not in self.attributes else None
        )
        found = response_fields(raw, self.intern) if isinstance(raw, dict) else {}
        self.give(found)
        if "response.messages" in self.fields or "response.messages" in self.broken:
            return
        message = nested(self.attributes, "response.message.")
        if isinstance(message, dict) and self.payload("response.message.blocks", "response.messages", is_json=True)[0]:
            self.fields["response.messages"] = [self.intern.message(_message({"role": "assistant", **message}))]
        elif isinstance(self.attributes.get("response.text"), str):
            there, text = self.payload("response.text", "response.messages")
            self.give({"response.messages": [self.said("assistant", text)]} if there else {})

    def said(self, role: str, text: Any) -> Any:
        """A message of nothing but text."""
        return self.intern.message({"role": role, "parts": [{"type": "text", "content": text}]})

    def retrieval(self) -> None:
        for attribute in ("str_or_query_bundle.query_str", "str_or_query_bundle"):
            if attribute in self.attributes:
                self.value(attribute, "request.query")
        self.value("nodes", "response.result", is_json=True)

    def embeddings(self) -> None:
        self.simple("model_dict.model_name", "request.model")
        self.value("chunks", "request.inputs", is_json=True)


def _read(node: Any, *, number: bool = False) -> Any:
    """A response as it was before its leaves were written as text: what is JSON of more than a word, and numbers of tokens."""
    if isinstance(node, dict):
        return {k: _read(v, number=number or k == "usage") for k, v in node.items() if v != "null"}
    if not isinstance(node, str):
        return [_read(v, number=number) for v in node] if isinstance(node, list) else node
    return json_of(node) if number or node[:1] in ("{", "[") else node


def _message(m: Mapping[str, Any]) -> dict[str, Any]:
    more = json_of(m.get("additional_kwargs"))
    more = more if isinstance(more, dict) else {}
    blocks = json_of(m.get("blocks"))
    blocks = [b for b in blocks if isinstance(b, dict)] if isinstance(blocks, list) else []
    role = str(m.get("role") or "user")
    parts = [p for b in blocks if (p := _part(b)) is not None]
    if role == "tool" or more.get("tool_call_id"):
        call = {"id": more["tool_call_id"]} if more.get("tool_call_id") else {}
        text = "\n".join(str(p["content"]) for p in parts if p.get("type") == "text")
        return {"role": "tool", "parts": [{"type": "tool_call_response", **call, "response": text}]}
    calls = json_of(more.get("tool_calls"))
    if isinstance(calls, list) and not any(p["type"] == "tool_call" for p in parts):
        parts += [_call(c, c["function"]) for c in calls if isinstance(c, dict) and isinstance(c.get("function"), dict)]
    return {"role": role, "parts": parts}


def _part(block: Mapping[str, Any]) -> dict[str, Any] | None:
    kind = block.get("block_type")
    if kind == "text":
        return {"type": "text", "content": block["text"]} if block.get("text") else None
    if kind == "thinking":
        return {"type": "reasoning", "content": block.get("content")}
    if kind == "tool_call":
        called = {"name": block.get("tool_name"), "arguments": block.get("tool_kwargs")}
        return _call({"id": block.get("tool_call_id")}, called)
    return {"type": "generic", "value": dict(block)}


def _call(call: Mapping[str, Any], function: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "tool_call", **({"id": call["id"]} if call.get("id") else {}), "name": function.get("name")}
    return {**made, "arguments": read_arguments(function["arguments"])} if function.get("arguments") is not None else made


def _tool(view: SpanView, intern: Interner) -> Reading | None:
    reader = SpanReader(view, "tool", intern, remedy=_REMEDY)
    summary = view.span.attributes.get(_SUMMARY)
    named = _NAMED.match(summary) if isinstance(summary, str) else None
    if named is None or not isinstance(summary, str):
        return None
    told = _keywords(summary)
    if isinstance(told.get("tool_kwargs"), dict):
        reader.taken.add(_SUMMARY)
        reader.fields["request.arguments"] = told["tool_kwargs"]
    elif summary.endswith(_CUT):
        detail = f"{_SUMMARY} was cut after {len(summary)} characters by the package itself"
        reader.broken["request.arguments"] = Missing(
            field="request.arguments", cause="truncated", detail=detail, remedy=_REMEDY
        )
    if told.get("tool_id"):
        reader.fields["request.call_id"] = str(told["tool_id"])
    return reader.reading(DIALECT.name, str(told.get("tool_name") or named[1]))


def _keywords(printed: str) -> dict[str, Any]:
    """What a printed object was made of; nothing of what was cut."""
    try:
        node = ast.parse(printed, mode="eval").body
        return {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg} if isinstance(node, ast.Call) else {}
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return {}
