"""Haystack's own tracing: the spans ``haystack.agent.step.llm`` and ``.tool``, with content only where it was switched on.

A message is ``{role, meta, name, content}`` whose content is a list of ``{text}``, ``{tool_call}``, ``{tool_call_result}``. The
name of the span tells a boundary also where nothing of its content is there. Source: what haystack-ai 2 writes through
opentelemetry-haystack.
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

_LLM: Final = "haystack.agent.step.llm"
_TOOL: Final = "haystack.agent.step.tool"
_RUN: Final = "haystack.agent.run"
_REMEDY: Final = "set HAYSTACK_CONTENT_TRACING_ENABLED=true where the agent runs"
_USAGE: Final = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}


class Haystack:
    """The singleton of this module is :data:`DIALECT`."""

    name = "haystack"
    attribute_fields: Mapping[str, str] = {f"{_TOOL}.input": "request.arguments", f"{_TOOL}.output": "response.result"}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        kind = {_LLM: "model", _TOOL: "tool", _RUN: "agent"}.get(view.span.name)
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
        getattr(reader, kind)()
        named = reader.attributes.get("haystack.tool.name") if kind == "tool" else reader.fields.get("response.model")
        return reader.reading(self.name, str(named or view.span.name))


DIALECT = Haystack()


class _Reader(SpanReader):
    """Collects the fields of one span."""

    def json(self, attribute: str, field: str) -> Any:
        there, value = self.payload(attribute, field, is_json=True)
        return json_of(value) if there else None

    def model(self) -> None:
        given = self.json(f"{_LLM}.input", "request.messages")
        if isinstance(given, dict) and isinstance(given.get("messages"), list):
            self.taken.add(f"{_LLM}.input")
            messages = [self.intern.message(_message(m)) for m in given["messages"] if isinstance(m, dict)]
            parts, self.fields["request.messages"] = lift_system(messages)
            if parts:
                self.fields["request.system"] = parts
            tools = [t.get("data", t) for t in given.get("tools") or () if isinstance(t, dict)]
            if tools:
                self.fields["request.tools"] = [self.intern.value(_definition(t)) for t in tools]
            params = given.get("generation_kwargs")
            if isinstance(params, dict) and params:
                self.fields["request.params"] = dict(sorted(params.items()))
        said = self.json(f"{_LLM}.output", "response.messages")
        replies = said.get("replies") if isinstance(said, dict) else None
        if isinstance(replies, list) and replies and all(isinstance(m, dict) for m in replies):
            self.taken.add(f"{_LLM}.output")
            self.fields["response.messages"] = [self.intern.message(_message(m)) for m in replies]
            self.meta(replies)

    def meta(self, replies: list[dict[str, Any]]) -> None:
        metas = [m["meta"] for m in replies if isinstance(m.get("meta"), dict)]
        reasons = [m["finish_reason"] for m in metas if m.get("finish_reason")]
        if reasons:
            self.fields["response.finish_reasons"] = reasons
        for meta in metas[:1]:
            if meta.get("model"):
                self.fields["response.model"] = meta["model"]
            usage = meta.get("usage")
            counted = {_USAGE[k]: v for k, v in usage.items() if k in _USAGE} if isinstance(usage, dict) else {}
            if counted:
                self.fields["response.usage"] = counted

    def tool(self) -> None:
        self.value(f"{_TOOL}.input", "request.arguments", is_json=True)
        self.value(f"{_TOOL}.output", "response.result", is_json=True)
        result = self.fields.get("response.result")
        if self.attributes.get("haystack.tool.error") is True and "error" not in self.fields:
            text = result.get("error") if isinstance(result, dict) else result
            self.fields["error"] = Failure(message=text if isinstance(text, str) else None)
        self.taken |= {"haystack.tool.name"} & self.attributes.keys()

    def agent(self) -> None:
        self.value("haystack.agent.input", "request.input", is_json=True)
        self.value("haystack.agent.output", "response.output", is_json=True)


def _message(m: Mapping[str, Any]) -> dict[str, Any]:
    content = m.get("content")
    blocks = content if isinstance(content, list) else [] if content is None else [{"text": content}]
    out: dict[str, Any] = {"role": m.get("role"), "parts": [_part(b) for b in blocks]}
    if m.get("name"):
        out["name"] = m["name"]
    return out


def _part(block: Any) -> dict[str, Any]:
    if not isinstance(block, dict):
        return {"type": "text", "content": block}
    call, answer = block.get("tool_call"), block.get("tool_call_result")
    if isinstance(call, dict):
        return {"type": "tool_call", "id": call.get("id"), "name": call.get("tool_name"), "arguments": call.get("arguments")}
    if isinstance(answer, dict):
        origin = answer.get("origin")
        call_id = origin.get("id") if isinstance(origin, dict) else None
        out = {"type": "tool_call_response", **({"id": call_id} if call_id else {})}
        return {**out, "response": answer.get("result")}
    if "text" in block:
        return {"type": "text", "content": block["text"]}
    return {"type": "generic", "value": block}


def _definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", **{k: tool[k] for k in ("name", "description", "parameters") if tool.get(k) is not None}}
