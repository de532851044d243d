"""Messages spelled out by number: ``gen_ai.prompt.N.…`` and ``gen_ai.completion.N.…``.

OpenLLMetry wrote so until 0.5x, AgentOps and LiteLLM still do. The rest of a call (model, params, usage, ids) stands in the
attributes of the GenAI conventions and is read by their dialect.

    gen_ai.prompt.N.{role,content,tool_call_id}   .tool_calls.M.{id,name,arguments}
    gen_ai.completion.N.{role,content,finish_reason}   .tool_calls.M.…   .function_call.{name,arguments}
    llm.request.functions.N.{name,description,parameters}   (or gen_ai.request.functions.N)

A completion with a ``function_call`` is one call of a reply and not an alternative to the one before it (LiteLLM).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.flattened import names_below, nested
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.values import decoded, lift_system, normal_messages
from otelreplay.dialects.wire import json_of
from otelreplay.providers import read_arguments
from otelreplay.providers.converse_blocks import are_blocks, parts_of

PROMPT: Final = "gen_ai.prompt."
COMPLETION: Final = "gen_ai.completion."
_FUNCTIONS: Final = ("llm.request.functions.", "gen_ai.request.functions.")
_REMEDY: Final = "set TRACELOOP_TRACE_CONTENT=true (or the content switch of your SDK) where the agent runs"


class Indexed:
    """The singleton of this module is :data:`DIALECT`."""

    name = "indexed-messages"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        if not any(name.startswith((PROMPT, COMPLETION)) for name in view.span.attributes):
            return None
        reader = _Reader(view, "model", intern, remedy=_REMEDY)
        reader.everything()
        named = reader.attributes.get("gen_ai.request.model") or reader.attributes.get("gen_ai.response.model")
        return reader.reading(self.name, str(named or view.span.name or "model"))


DIALECT = Indexed()


_SPEAKERS: Final = ("system", "user", "assistant")


class _Reader(SpanReader):
    """Collects the fields of one span."""

    def everything(self) -> None:
        asked = nested(self.attributes, PROMPT)
        if isinstance(asked, list):
            self.taken |= names_below(self.attributes, PROMPT)
            messages = [self.intern.message(m) for raw in asked if isinstance(raw, dict) for m in _message(raw, "user")]
            parts, self.fields["request.messages"] = lift_system(messages)
            if parts:
                self.fields["request.system"] = parts
            if self.whole(sc.INPUT_MESSAGES):
                del self.fields["request.messages"]
        said = nested(self.attributes, COMPLETION)
        if isinstance(said, list):
            self.taken |= names_below(self.attributes, COMPLETION)
            self.replies([raw for raw in said if isinstance(raw, dict)])
            if self.whole(sc.OUTPUT_MESSAGES):
                self.fields.pop("response.messages", None)
        self.tools()
        if self.attributes.get("llm.is_streaming") is True or self.attributes.get("gen_ai.is_streaming") is True:
            self.taken |= {"llm.is_streaming", "gen_ai.is_streaming"} & self.attributes.keys()

    def whole(self, attribute: str) -> bool:
        """Do the messages stand in the newer attribute as well? It holds more: here calls of the Responses API are lost.

        Unless there is nothing in them (LiteLLM, of a reply of calls alone).
        """
        given = decoded(self.attributes.get(attribute))
        return isinstance(given, (list, tuple)) and any(not isinstance(m, dict) or m.get("parts") != [] for m in given)

    def replies(self, said: list[dict[str, Any]]) -> None:
        reasons = [raw["finish_reason"] for raw in said if raw.get("finish_reason")]
        if len(said) > 1 and all("function_call" in raw for raw in said):
            said = [{"role": "assistant", "calls": [raw["function_call"] for raw in said]}]
            reasons = reasons[:1]
        messages = [m for raw in said for m in _message({k: v for k, v in raw.items() if k != "finish_reason"}, "assistant")]
        if any(m["parts"] for m in messages):
            self.fields["response.messages"] = [self.intern.message(m) for m in messages]
        if reasons:
            self.fields["response.finish_reasons"] = reasons

    def tools(self) -> None:
        for prefix in _FUNCTIONS:
            found = nested(self.attributes, prefix)
            if isinstance(found, list) and all(isinstance(f, dict) for f in found):
                self.taken |= names_below(self.attributes, prefix)
                self.fields["request.tools"] = [self.intern.value(_tool(f)) for f in found]


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "function", "name": function.get("name")}
    if function.get("description"):
        out["description"] = function["description"]
    schema = function.get("parameters", function.get("input_schema"))
    if schema is not None:
        out["parameters"] = json_of(schema)
    return out


def _message(raw: Mapping[str, Any], role: str) -> Iterable[dict[str, Any]]:
    if "content" not in raw and "role" not in raw:  # the role in place of "content": watsonx, Replicate and others
        said = next((r for r in _SPEAKERS if isinstance(raw.get(r), str)), None)
        raw = {**raw, "role": said, "content": raw[said]} if said else raw
    role = str(raw.get("role") or role)
    content = raw.get("content")
    call = raw.get("tool_call_id")
    if role == "tool" or call:
        part: dict[str, Any] = {"type": "tool_call_response", **({"id": call} if call else {})}
        return [{"role": "tool", "parts": [{**part, "response": content} if content is not None else part]}]
    blocks = decoded(content) if isinstance(content, str) and content[:2] in ("[{", '{"') else content
    typed = isinstance(blocks, list) and all(isinstance(b, dict) and "type" in b for b in blocks)
    if are_blocks(blocks):
        return [{"role": role, "parts": parts_of(blocks)}]
    whole = normal_messages({"role": role, "content": blocks if typed else content}) if content not in (None, "") else []
    calls = raw.get("tool_calls") or raw.get("calls") or [c for c in (raw.get("function_call"),) if c]
    made = [_call(c) for c in calls if isinstance(c, dict)] if isinstance(calls, list) else []
    if not whole:
        return [{"role": role, "parts": made or ([{"type": "text", "content": ""}] if content == "" else [])}]
    last = whole[-1]
    known = {p.get("id") for p in last["parts"] if p.get("type") == "tool_call"}
    return [*whole[:-1], {**last, "parts": [*last["parts"], *(c for c in made if not c.get("id") or c["id"] not in known)]}]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "tool_call", **({"id": call["id"]} if call.get("id") else {})}
    out["name"] = call.get("name")
    if "arguments" in call:
        out["arguments"] = read_arguments(call["arguments"])
    return out
