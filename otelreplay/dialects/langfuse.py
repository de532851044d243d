"""Langfuse's SDK: ``langfuse.observation.type`` tells it, content is JSON under ``langfuse.observation.input`` and ``.output``.

A generation's input holds messages and tools, its output one message, a list of items of the Responses API (a lone item
without its list), or bare text. A decorated function's input is ``{"args", "kwargs"}``; its output is JSON unless it was text.

What the convention does not hold: the model's name as it was asked for (it keeps the one that answered), the response id, and
params as they were sent: ``model.parameters`` has the defaults of the SDK filled in, so that only what differs from them is
known to be sent.

Source: the OpenTelemetry attributes of Langfuse's documentation, and what SDK 3 to 5 write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.spoken import spoken
from otelreplay.dialects.values import DATED, lift_system
from otelreplay.dialects.wire import json_of, request_fields
from otelreplay.events import Failure
from otelreplay.providers import CODECS, decode_message

TYPE: Final = "langfuse.observation.type"
_AT: Final = "langfuse.observation."
INPUT: Final = f"{_AT}input"
OUTPUT: Final = f"{_AT}output"
_KINDS: Final = {"generation": "model", "embedding": "embeddings", "agent": "agent", "tool": "tool", "retriever": "retrieval"}
_FILLED_IN: Final = {"max_tokens": "Infinity", "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0, "temperature": 1}
"""What the SDK writes for a param that was not given."""
_USAGE: Final = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "input": "input_tokens",
    "output": "output_tokens",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
}
_RESPONSE_IDS: Final = ("resp_", "chatcmpl-")
_REMEDY: Final = (
    "unset LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED, and the capture options of @observe, where the agent runs"
)


class Langfuse:
    """The singleton of this module is :data:`DIALECT`."""

    name = "langfuse"
    attribute_fields: Mapping[str, str] = {f"{_AT}model.name": "response.model", f"{_AT}model.parameters": "request.params"}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        said = view.span.attributes.get(TYPE)
        kind = _KINDS.get(said) if isinstance(said, str) else None
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
        reader.taken.add(TYPE)
        reader.status()
        getattr(reader, kind)()
        named = reader.attributes.get(f"{_AT}model.name") if kind == "model" else None
        return reader.reading(self.name, str(named or view.span.name or kind))


DIALECT = Langfuse()


def _spoken(item: Any) -> Any:
    """A reply of nothing but calls has no role where it was put together from a stream (Langfuse for JavaScript)."""
    bare = isinstance(item, dict) and "role" not in item and isinstance(item.get("tool_calls"), list)
    return {"role": "assistant", **item} if bare else item


class _Reader(SpanReader):
    """Collects the fields of one observation."""

    def status(self) -> None:
        """A failure has no exception event, but a level and a message."""
        if self.attributes.get(f"{_AT}level") == "ERROR" and "error" not in self.fields:
            text = self.attributes.get(f"{_AT}status_message")
            self.fields["error"] = Failure(message=None if text is None else str(text))

    def model(self) -> None:
        there, value = self.payload(INPUT, "request.messages")
        if there:
            self.asked(json_of(value))
        there, value = self.payload(OUTPUT, "response.messages")
        if there:
            self.answered(json_of(value))
        self.facts()

    def asked(self, body: Any) -> None:
        if isinstance(body, list) and all(isinstance(m, dict) for m in body):
            body = {"messages": body} if all("role" in m and "type" not in m for m in body) else {"input": body}
        elif isinstance(body, str):
            said = [self.intern.message(m) for m in spoken(body, "user")]
            system, self.fields["request.messages"] = lift_system(said)
            self.give({"request.system": system} if system else {})
            self.taken.add(INPUT)
            return
        got = request_fields(body, self.intern)
        if got:
            self.taken.add(INPUT)
            self.give(got)

    def answered(self, body: Any) -> None:
        """One message, the items of a reply, or bare text."""
        if body is None or ("error" in self.fields and body in ("", {}, [])):
            return
        if body == "None":  # what Python prints of the text of a reply that only called tools
            return
        if isinstance(body, str):
            body = {"role": "assistant", "content": body}
        items = [_spoken(item) for item in (body if isinstance(body, list) else [body])]
        if not items or not all(isinstance(item, dict) for item in items):
            return
        if all("role" in item and item.get("type") in (None, "message") and "id" not in item for item in items):
            messages = [m for item in items for m in decode_message(item)]
        else:
            messages = CODECS["openai.responses"].decode_response({"output": items}).get("messages", [])
        if messages:
            self.taken.add(OUTPUT)
            self.fields["response.messages"] = [self.intern.message(m) for m in messages]

    def facts(self) -> None:
        self.simple(f"{_AT}model.name", "response.model")
        named = self.attributes.get(f"{_AT}model.name")
        if named and not DATED.search(str(named)):  # a provider's own name of a model has a date, what was asked for seldom
            self.infer({"request.model": named}, f"{_AT}model.name", rule="request_model_from_model_name")
        params = json_of(self.attributes.get(f"{_AT}model.parameters"))
        if isinstance(params, dict):
            sent = {
                sc.RENAMED_PARAMS.get(k, k): v for k, v in params.items() if v is not None and (k, v) not in _FILLED_IN.items()
            }
            if sent:
                self.fields["request.params"] = dict(sorted(sent.items()))
        usage = json_of(self.attributes.get(f"{_AT}usage_details"))
        if isinstance(usage, dict):
            counted = {_USAGE[k]: v for k, v in usage.items() if k in _USAGE and v is not None}
            if counted:
                self.fields["response.usage"] = counted
        self.metadata()

    def metadata(self) -> None:
        """Of the Responses API, instructions stand among the metadata; of a stream, its id and how it ended."""
        reason, told = (json_of(self.attributes.get(f"{_AT}metadata.{n}")) for n in ("finish_reason", "id"))
        if isinstance(reason, str) and reason:
            self.give({"response.finish_reasons": [reason]})
        if isinstance(told, str) and told.startswith(_RESPONSE_IDS):
            self.give({"response.id": told})
        instructions = self.attributes.get(f"{_AT}metadata.instructions")
        if isinstance(instructions, str) and instructions and "request.system" not in self.fields:
            self.fields["request.system"] = [{"type": "text", "content": str(json_of(instructions))}]

    def embeddings(self) -> None:
        self.value(INPUT, "request.inputs")
        self.facts()

    def function(self, field: str) -> None:
        """The arguments of a decorated function: by name; by position where it was called so."""
        self.value(INPUT, field)
        given = self.fields.get(field)
        if isinstance(given, dict) and given.keys() == {"args", "kwargs"} and isinstance(given["kwargs"], dict):
            self.fields[field] = given["kwargs"] if not given["args"] else given

    def tool(self) -> None:
        self.function("request.arguments")
        if "error" not in self.fields:
            self.value(OUTPUT, "response.result")

    def agent(self) -> None:
        self.function("request.input")
        self.value(OUTPUT, "response.output")

    def retrieval(self) -> None:
        self.function("request.query")
        self.value(OUTPUT, "response.result")
