"""Logfire's own instrumentations of model SDKs and of the OpenAI Agents SDK, where content is not in GenAI attributes.

    request_data, response_data     JSON: the request body; {"message", "usage"} (chat) or the reply of a stream
    events                          JSON list of messages; a reply of the Responses API stands behind the request
    raw_input, response             JSON of the Agents SDK: the input list, the whole response body
    input, output                   of an agent's function (``Function: {name}``), or messages of a chat call

A stream leaves two spans: the call, without a reply, and a span of no length that tells the reply when it has ended.
``logfire.msg_template`` tells the convention. What version 5 writes is GenAI attributes and is read by their dialect. A value
that was scrubbed is ``[Scrubbed due to '…']`` and never content.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.values import lift_system, normal_messages
from otelreplay.dialects.wire import echoed_fields, json_of, request_fields, response_fields
from otelreplay.events import Failure

TEMPLATE: Final = "logfire.msg_template"
_SCRUBBED: Final = re.compile(r"\[Scrubbed due to '[^']*'\]")
_FUNCTION: Final = "Function: {name}"
_CONTENT: Final = ("request_data", "response_data", "events", "response", "raw_input")
_REMEDY: Final = "let logfire's instrumentation record the content of messages, and keep its scrubbing from removing it"


class Logfire:
    """The singleton of this module is :data:`DIALECT`."""

    name = "logfire"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes = view.span.attributes
        template = attributes.get(TEMPLATE)
        if not isinstance(template, str):
            return None
        if template == _FUNCTION:
            reader = _Reader(view, "tool", intern, remedy=_REMEDY)
            reader.tool()
            return reader.reading(self.name, str(attributes.get("name") or view.span.name or "tool"))
        if sc.REQUEST_MODEL not in attributes or not attributes.keys() & {*_CONTENT, "input"}:
            return None
        name = str(attributes[sc.REQUEST_MODEL] or view.span.name or "model")
        afterwards = attributes.get("logfire.span_type") == "log"
        if sc.INPUT_MESSAGES in attributes:
            return Reading(dialect=self.name, kind="model", name=name, told_afterwards=True) if afterwards else None
        reader = _Reader(view, "model", intern, remedy=_REMEDY)
        reader.model()
        return reader.reading(self.name, name, told_afterwards=afterwards)


DIALECT = Logfire()


class _Reader(SpanReader):
    """Collects the fields of one span."""

    def json(self, attribute: str, field: str) -> Any:
        """The value behind an attribute; None where it is not there, was cut or was scrubbed."""
        there, value = self.payload(attribute, field, is_json=True)
        if not there or (isinstance(value, str) and _SCRUBBED.search(value)):
            return None
        return json_of(value)

    def tool(self) -> None:
        told = self.json("error", "error")
        if isinstance(told, dict):
            inner = told.get("data")
            text = inner.get("error", told.get("message")) if isinstance(inner, dict) else told.get("message")
            self.taken.add("error")
            self.fields["error"] = Failure(message=None if text is None else str(text))
        for attribute, field in (("input", "request.arguments"), ("output", "response.result")):
            value = self.json(attribute, field)
            if value is not None:
                self.taken.add(attribute)
                self.fields[field] = value
        self.taken |= {"name"} & self.attributes.keys()

    def model(self) -> None:
        self.replied()
        self.asked()
        self.taken |= {a for a in ("request_data", "response_data") if a in self.attributes and self.fields}
        settings = self.json("model_settings", "request.params")
        if isinstance(settings, dict):
            sent = {
                k: v
                for k, v in settings.items()
                if v is not None and k in ("temperature", "top_p", "max_tokens", "tool_choice")
            }
            if sent:
                self.give({"request.params": dict(sorted(sent.items()))})

    def asked(self) -> None:
        body = self.json("request_data", "request.messages")
        if isinstance(body, dict):
            self.give(request_fields(body, self.intern))
        raw = self.json("raw_input", "request.messages")
        if isinstance(raw, list):
            self.take_messages(request_fields({"input": raw}, self.intern), "raw_input")
        chat = self.json("input", "request.messages")
        if isinstance(chat, list):
            self.take_messages(request_fields({"messages": chat}, self.intern), "input")
        told = self.json("events", "request.messages")
        if isinstance(told, list):
            self.events([e for e in told if isinstance(e, dict)])

    def take_messages(self, got: Mapping[str, Any], attribute: str) -> None:
        if got:
            self.taken.add(attribute)
            self.give(got)

    def replied(self) -> None:
        body = self.json("response", "response.messages")
        got = response_fields(body, self.intern)
        if got:
            self.take_messages(got, "response")
            self.infer(echoed_fields(body, self.intern), "response", rule="request_from_response_echo")
            if isinstance(body, dict) and isinstance(body.get("instructions"), str):
                self.give({"request.system": [{"type": "text", "content": body["instructions"]}]})
            return
        data = self.json("response_data", "response.messages")
        usage = data.get("usage") if isinstance(data, dict) else None
        if isinstance(usage, dict):
            named = {sc.RENAMED_USAGE.get(k, k): v for k, v in usage.items() if type(v) is int}
            counted = {k: named[k] for k in ("input_tokens", "output_tokens") if k in named}
            self.give({"response.usage": counted} if counted else {})
        message = data.get("message") if isinstance(data, dict) else None
        if isinstance(message, dict):
            self.fields["response.messages"] = [self.intern.message(m) for m in normal_messages(message)]
        elif isinstance(data, dict) and isinstance(data.get("combined_chunk_content"), str):
            said = {"role": "assistant", "parts": [{"type": "text", "content": data["combined_chunk_content"]}]}
            self.fields["response.messages"] = [self.intern.message(said)]
        out = self.json("output", "response.messages")
        if isinstance(out, list) and out and "response.messages" not in self.fields:
            found = [m for item in out if isinstance(item, dict) for m in normal_messages(item)]
            self.take_messages({"response.messages": [self.intern.message(m) for m in found]}, "output")

    def events(self, told: list[dict[str, Any]]) -> None:
        """Messages in the order of the talk. What an assistant says behind the last other message is the reply."""
        names = [str(e.get("event.name")) for e in told]
        choice = [e for e, name in zip(told, names, strict=True) if name == "gen_ai.choice"]
        rest = [e for e, name in zip(told, names, strict=True) if name != "gen_ai.choice"]
        end = len(rest)
        while not choice and end and rest[end - 1].get("event.name") == "gen_ai.assistant.message":
            end -= 1
        replies = choice or rest[end:]
        self.taken.add("events")
        if "request.messages" not in self.fields:
            asked = [self.intern.message(m) for e in rest[:end] for m in _message(e)]
            parts, self.fields["request.messages"] = lift_system(asked)
            if parts:
                self.give({"request.system": parts})
        else:
            said = [p for e in rest[:end] if e.get("role") == "system" for m in _message(e) for p in m["parts"]]
            if said:
                self.give({"request.system": said})
        if replies and "response.messages" not in self.fields:
            self.fields["response.messages"] = [self.intern.message(m) for e in replies for m in _message(e)]


def _message(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    inner = event.get("message")
    body = inner if isinstance(inner, dict) else event
    kept = {k: v for k, v in body.items() if k not in ("event.name", "gen_ai.message.index", "index") and v is not None}
    if kept.get("role") == "tool" and "id" in kept:
        return [
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": kept["id"], "response": kept.get("content", "")}]}
        ]
    return normal_messages(kept)
