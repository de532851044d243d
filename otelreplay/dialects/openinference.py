"""OpenInference: the convention of Arize's instrumentations, and of what Phoenix collects.

``openinference.span.kind`` tells it and names the boundary. The content of a model call stands twice: as a body under
``input.value`` and ``output.value``, and spelled out under ``llm.input_messages.N.…`` and ``llm.output_messages.N.…``. The body
is taken where it is one of a known API, since it is what the SDK was given; a framework's own serialisation is not, and the
spelled-out form is read then. A tool's arguments are its ``input.value``: ``tool.parameters`` is their schema.

Hidden content is the literal ``__REDACTED__``, or is not there at all. Where one of the two forms is hidden and the other is
not, the other is read.

Source: the specification of OpenInference (semantic conventions), and what its packages write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import HIDDEN, SpanReader
from otelreplay.dialects.flattened import names_below, nested
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.langchain import reply_of, request_of
from otelreplay.dialects.packages import COUNT_LIMIT
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.spelled import NO_ROLE, create_result, spelled_messages
from otelreplay.dialects.toolio import arguments_of, by_name, literal
from otelreplay.dialects.values import DATED, absences, is_json_like, lift_system, read_tools
from otelreplay.dialects.wire import echoed_fields, json_of, request_fields, response_fields
from otelreplay.events import Inferred, Message, Missing
from otelreplay.providers import request_codec
from otelreplay.providers.converse_blocks import is_message

KIND: Final = "openinference.span.kind"
_KINDS: Final = {"LLM": "model", "TOOL": "tool", "AGENT": "agent", "RETRIEVER": "retrieval", "EMBEDDING": "embeddings"}
_OK: Final = 1
"""Status of a span that its package says ended well."""
INPUT: Final = "input.value"
OUTPUT: Final = "output.value"
_USAGE: Final = {
    "llm.token_count.prompt": "input_tokens",
    "llm.token_count.completion": "output_tokens",
    "llm.token_count.prompt_details.cache_read": "cache_read.input_tokens",
    "llm.token_count.prompt_details.cache_write": "cache_write.input_tokens",
    "llm.token_count.completion_details.reasoning": "reasoning.output_tokens",
}
_NOT_PARAMS: Final = frozenset(
    {
        *("model", "messages", "tools", "system", "input", "instructions", "contents", "system_instruction"),
        *("model_name", "_type", "context_window", "is_chat_model", "is_function_calling_model", "system_role"),
    }
)
"""What stands among the parameters and is none: the request's own fields, what a framework knows of a model."""
_PRINTED: Final = re.compile(r"\s*[\w.]+\(|\s*<")
"""What Python prints of an object is no text that a model said."""
_SHOW: Final = (
    "unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and the other OPENINFERENCE_HIDE_... variables where the "
    "agent runs (or the TraceConfig given to the instrumentor)"
)


_RENAMED_KIND: Final = "gen_ai.span.kind"
_OWN_SHAPE: Final = ("input.value", "output.value", "gen_ai.input.messages.", "gen_ai.output.messages.")
"""What tells the convention behind that name of the kind, which others use, too."""
_RENAMED: Final = {
    _RENAMED_KIND: KIND,
    "gen_ai.request.parameters": "llm.invocation_parameters",
    "gen_ai.request.model": "llm.model_name",
    "gen_ai.provider.name": "llm.provider",
    "gen_ai.usage.input_tokens": "llm.token_count.prompt",
    "gen_ai.usage.output_tokens": "llm.token_count.completion",
    "gen_ai.tool.name": "tool.name",
    "gen_ai.tool.parameters": "tool.parameters",
}
_RENAMED_BELOW: Final = {
    "gen_ai.input.messages.": "llm.input_messages.",
    "gen_ai.output.messages.": "llm.output_messages.",
    "gen_ai.tool.definitions.": "llm.tools.",
}


def _name_here(name: str) -> str:
    """The name that the convention has for an attribute which is called otherwise."""
    below = next((prefix for prefix in _RENAMED_BELOW if name.startswith(prefix)), None)
    return _RENAMED.get(name, name) if below is None else _RENAMED_BELOW[below] + name.removeprefix(below)


class OpenInference:
    """The singleton of this module is :data:`DIALECT`."""

    name = "openinference"
    attribute_fields: Mapping[str, str] = {
        "llm.model_name": "response.model",
        "llm.invocation_parameters": "request.params",
        "llm.finish_reason": "response.finish_reasons",
        "llm.request.model_name": "request.model",
        "llm.response.model_name": "response.model",
        "llm.provider": "request.provider",
        "llm.system": "request.provider",
    }

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        said = view.span.attributes.get(KIND)
        if not isinstance(said, str):
            return self._renamed(view, intern)
        kind = _KINDS.get(said.upper())
        if kind is None and said.upper() == "CHAIN" and any(_talks(view.span.attributes.get(a)) for a in (INPUT, OUTPUT)):
            return Reading(dialect=self.name, kind="context", name=view.span.name or "chain", conversation=True)
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=_SHOW)
        reader.taken.add(KIND)
        if kind == "model" and reader.only_prepares():
            name = view.span.name or kind
            return Reading(dialect=self.name, kind="context", name=name, taken=frozenset({KIND}), no_boundary=True)
        getattr(reader, kind)()
        return reader.reading(self.name, reader.title(), drops_text_beside_calls=reader.drops_text)

    def _renamed(self, view: SpanView, intern: Interner) -> Reading | None:
        """The same convention with names that begin with ``gen_ai.`` (the traceAI packages of Future AGI)."""
        attributes = view.span.attributes
        if not isinstance(attributes.get(_RENAMED_KIND), str) or not any(n.startswith(_OWN_SHAPE) for n in attributes):
            return None
        ours = {_name_here(name): name for name in attributes}
        lengths = {here: view.span.lengths[name] for here, name in ours.items() if name in view.span.lengths}
        span = msgspec.structs.replace(view.span, attributes={h: attributes[n] for h, n in ours.items()}, lengths=lengths)
        got = self.read(msgspec.structs.replace(view, span=span), intern)
        return got and msgspec.structs.replace(got, taken=frozenset(ours[name] for name in got.taken if name in ours))


DIALECT = OpenInference()


class _Reader(SpanReader):
    """Collects the fields of one span."""

    converse = False
    """The request is one of Bedrock's Converse API, whose responses name no model: what is named was asked for."""
    drops_text = False
    """The text beside calls stands in the reply only; a history has the calls alone (AutoGen)."""

    def io(self, attribute: str, field: str) -> tuple[bool, Any]:
        """:meth:`payload` of ``input.value`` or ``output.value``."""
        said = self.attributes.get(attribute.removesuffix("value") + "mime_type")
        return self.payload(attribute, field, is_json=said == "application/json")

    def spelled(self, prefix: str, *, but: frozenset[str] = frozenset()) -> Any:
        self.taken |= names_below(self.attributes, prefix) - but
        return nested(self.attributes, prefix)

    def only_prepares(self) -> bool:
        """Is it a step before the call (LlamaIndex)? It ended well, and has no reply, not even a hidden one, and no cost."""
        span = self.view.span
        if span.status_code != _OK or not span.end or span.dropped_attributes_count or span.removed:
            return False
        if any(
            name.startswith(("llm.input_messages.", "llm.output_messages.", "llm.token_count.")) for name in self.attributes
        ):
            return False
        if OUTPUT not in self.attributes:
            sent = json_of(self.attributes.get(INPUT))
            # a whole request was sent, though its stream left no reply
            return not (isinstance(sent, dict) and isinstance(sent.get("model"), str) and request_codec(sent) is not None)
        made = json_of(self.attributes[OUTPUT])  # a request is what it made
        return isinstance(made, dict) and {"messages", "tools"} <= made.keys()

    # -- kinds
    def model(self) -> None:
        there, body = self.io(INPUT, "request.messages")
        given = _body(body) if there else None
        held = given.get("messages") if isinstance(given, dict) else None
        self.converse = isinstance(held, list) and any(is_message(m) for m in held)
        request = request_fields(given, self.intern) or request_of(given, self.intern)
        if request and _shown(request.get("request.messages", ())) and not _of_a_framework(request):
            self.taken.add(INPUT)
            self.give(request)
        there, body = self.io(OUTPUT, "response.messages")
        got = literal(body) if there else None  # traceAI writes what Python prints of it
        response = response_fields(got, self.intern) or reply_of(got, self.intern)
        if response and _shown(response.get("response.messages", ())):
            self.taken.add(OUTPUT)
            self.give(response)
        own = create_result(got)
        if isinstance(got, dict) and own is not None and _shown([own]):
            self.drops_text = True
            self.give({"response.messages": [self.intern.message(own)], "response.finish_reasons": [got["finish_reason"]]})
        self.messages_spelled_out()
        self.reply_in_plain_text()
        self.tools_spelled_out()
        self.parameters()
        self.facts()

    def messages_spelled_out(self) -> None:
        asked = self.spelled("llm.input_messages.")
        if isinstance(asked, list) and asked:
            found = spelled_messages(asked)
            if self.view.span.dropped_attributes_count:
                self.beginning_lost(asked[0], found)
            whole = [self.intern.message(m, absences(m, _SHOW)) for m in found]
            parts, messages = lift_system(whole)
            if "request.messages" not in self.fields and _shown(whole):
                self.fields["request.messages"] = messages
            if parts and "request.system" not in self.fields and _shown([{"parts": parts}]):
                self.fields["request.system"] = parts
        said = self.spelled("llm.output_messages.")
        if isinstance(said, list) and said and "response.messages" not in self.fields:
            replies = [self.intern.message(m) for m in spelled_messages(said)]
            if _shown(replies) and any(m["parts"] for m in replies):
                self.fields["response.messages"] = replies

    def reply_in_plain_text(self) -> None:
        """All that some packages record of a stream is the text of its reply (traceAI)."""
        text = self.attributes.get(OUTPUT)
        if (
            self.failed
            or not isinstance(text, str)
            or not text.strip()
            or {"response.messages"} & (self.fields | self.broken).keys()
        ):
            return
        mime = self.attributes.get(OUTPUT.removesuffix("value") + "mime_type", "text/plain")
        if mime != "text/plain" or text in HIDDEN or is_json_like(text) or _PRINTED.match(text):
            return
        if any(name.startswith("llm.output_messages.") for name in self.attributes):
            return
        self.taken.add(OUTPUT)
        said = [self.intern.message({"role": "assistant", "parts": [{"type": "text", "content": text}]})]
        self.infer({"response.messages": said}, OUTPUT, rule="reply_from_output_text")

    def beginning_lost(self, first: Any, found: list[Message]) -> None:
        """A limit takes the oldest attributes first: the role of a message that is half there, and all messages before it."""
        numbers = [n.split(".")[2] for n in self.attributes if n.startswith("llm.input_messages.")]
        start = min((int(n) for n in numbers if n.isdecimal() and len(n) < 10), default=0)
        inner = first.get("message") if isinstance(first, dict) else None
        if isinstance(inner, dict) and "role" not in inner and inner.keys() <= {"content", "contents"} and found:
            found[0] = Message({**found[0], "role": NO_ROLE})
        if start and "request.messages" not in self.fields:
            detail = f"the first {start} messages were dropped by a limit of the number of attributes"
            self.marks.append(Missing(field="request.messages", cause="attributes_dropped", detail=detail, remedy=COUNT_LIMIT))

    def tools_spelled_out(self) -> None:
        tools = self.spelled("llm.tools.")
        found = [json_of(t.get("tool", {}).get("json_schema")) for t in tools or () if isinstance(t, dict)]
        if found and "request.tools" not in self.fields and all(isinstance(t, dict) for t in found):
            self.fields["request.tools"] = read_tools(found, self.intern)

    def parameters(self) -> None:
        params = json_of(self.attributes.get("llm.invocation_parameters"))
        if not isinstance(params, dict):
            return
        self.taken.add("llm.invocation_parameters")
        instructions = params.get("instructions", params.get("system"))
        if isinstance(instructions, str) and "request.system" not in self.fields and "id" not in params:
            self.fields["request.system"] = [{"type": "text", "content": instructions}]
        if "id" in params or "created_at" in params:  # the response object, of which a framework made parameters
            echoed = echoed_fields(params, self.intern)
            self.infer(echoed, "llm.invocation_parameters", rule="request_from_response_echo")
            return
        for name in ("model", "model_name"):
            if isinstance(params.get(name), str):
                self.give({"request.model": params[name]})
        tools = params.get("tools")
        if isinstance(tools, list) and tools and "request.tools" not in self.fields and all(isinstance(t, dict) for t in tools):
            self.fields["request.tools"] = read_tools(tools, self.intern)  # what is hidden elsewhere may stand here
        kept = {sc.RENAMED_PARAMS.get(k, k): v for k, v in params.items() if k not in _NOT_PARAMS and v is not None}
        if kept:
            self.give({"request.params": dict(sorted(kept.items()))})

    def facts(self) -> None:
        for attribute, field in (("llm.request.model_name", "request.model"), ("llm.response.model_name", "response.model")):
            if self.attributes.get(attribute):
                self.taken.add(attribute)
                self.give({field: self.attributes[attribute]})
        named = self.attributes.get("llm.model_name")
        if named:
            self.taken.add("llm.model_name")
            self.give({"response.model" if OUTPUT in self.attributes or not self.failed else "request.model": named})
            if self.converse or not DATED.search(
                str(named)
            ):  # a provider's own name of a model has a date, what was asked for seldom
                self.infer({"request.model": named}, "llm.model_name", rule="request_model_from_model_name")
        for attribute in ("llm.provider", "llm.system"):
            if self.attributes.get(attribute):
                self.taken.add(attribute)
                self.give({"request.provider": self.attributes[attribute]})
        usage = {name: self.attributes[a] for a, name in _USAGE.items() if a in self.attributes}
        self.taken |= names_below(self.attributes, "llm.token_count.")
        if usage:
            self.give({"response.usage": usage})
        reason = self.attributes.get("llm.finish_reason")
        if reason:
            self.taken.add("llm.finish_reason")
            self.give({"response.finish_reasons": [reason]})

    def tool(self) -> None:
        there, value = self.io(INPUT, "request.arguments")
        if there:
            self.taken.add(INPUT)
            self.fields["request.arguments"] = self.named(arguments_of(value))
        call = self.attributes.get("tool.id") or self.attributes.get("tool_call.id")
        if call:
            self.fields["request.call_id"] = call
        there, value = self.io(OUTPUT, "response.result")
        if there:  # also of a failed one: what its framework made of the failure
            self.taken.add(OUTPUT)
            self.result(value)

    def named(self, given: Any) -> Any:
        """Arguments that were given by position, by the names of the tool's parameters."""
        parameters = json_of(self.attributes.get("tool.parameters"))
        named = by_name(given, list(parameters)) if isinstance(parameters, dict) and "properties" not in parameters else given
        if named is not given:
            source = f"{self.view.span.key}:attributes.tool.parameters"
            self.marks.append(Inferred(field="request.arguments", source=source, rule="arguments_named_by_signature"))
        return named

    def agent(self) -> None:
        for attribute, field in ((INPUT, "request.input"), (OUTPUT, "response.output")):
            there, value = self.io(attribute, field)
            if there:
                self.taken.add(attribute)
                self.fields[field] = json_of(value)

    def retrieval(self) -> None:
        there, value = self.io(INPUT, "request.query")
        if there:
            self.taken.add(INPUT)
            self.fields["request.query"] = json_of(value)
        documents = self.spelled("retrieval.documents.")
        there, value = self.io(OUTPUT, "response.result")
        if isinstance(documents, list):
            self.fields["response.result"] = [d.get("document", d) if isinstance(d, dict) else d for d in documents]
        elif there:
            self.taken.add(OUTPUT)
            self.fields["response.result"] = json_of(value)

    def embeddings(self) -> None:
        for attribute in ("embedding.model_name", "llm.model_name"):
            if self.attributes.get(attribute):
                self.taken.add(attribute)
                self.give({"request.model": self.attributes[attribute]})
        spelled = nested(self.attributes, "embedding.embeddings.")
        held = [e.get("embedding") for e in spelled or () if isinstance(e, dict)]
        texts = [e.get("text") for e in held if isinstance(e, dict)]
        if texts and all(isinstance(t, str) for t in texts):
            self.fields["request.inputs"] = texts
        there, value = self.io(INPUT, "request.inputs")
        body = json_of(value) if there else None
        if there:
            self.give({"request.inputs": body["input"] if isinstance(body, dict) and "input" in body else body})
        self.parameters()

    def title(self) -> str:
        names = {"tool": "tool.name", "agent": "agent.name"}
        for attribute in (names.get(self.kind, ""), "llm.model_name" if self.kind == "model" else ""):
            if self.attributes.get(attribute):
                self.taken.add(attribute)
                return str(self.attributes[attribute])
        return str(self.fields.get("request.model") or self.view.span.name.removesuffix(".__call__") or self.kind)


def _talks(value: Any) -> bool:
    """Is it a JSON object in which messages stand, at its top or one step below?"""
    body = json_of(value) if isinstance(value, str) and value[:1] == "{" and '"messages"' in value else None
    if not isinstance(body, dict):
        return False
    return any(isinstance(inner, dict) and isinstance(inner.get("messages"), list) for inner in (body, *body.values()))


_FRAMEWORK_BLOCKS: Final = ("tool-call", "tool-result")
"""Blocks that no provider's API has: a list of messages that a framework serialised looks like the input of one (BeeAI)."""


def _of_a_framework(request: Mapping[str, Any]) -> bool:
    parts = (p for m in request.get("request.messages", ()) for p in m["parts"] if p.get("type") == "generic")
    return any(isinstance(p.get("value"), dict) and p["value"].get("type") in _FRAMEWORK_BLOCKS for p in parts)


def _body(value: Any) -> Any:
    """A request body; a bare list of items is the input of a Responses call, or the messages of a call of Converse."""
    body = json_of(value)
    if isinstance(body, list) and any(is_message(m) for m in body):
        return {"messages": body}
    if isinstance(body, list) and body and all(isinstance(i, dict) and ("role" in i or "type" in i) for i in body):
        return {"input": body}
    return body


def _shown(messages: Any) -> bool:
    """Is none of the texts the literal that stands for hidden content?"""
    return not any(
        isinstance(part, dict) and (part.get("content") in HIDDEN or part.get("arguments") in HIDDEN)
        for message in messages
        for part in message.get("parts", ())
        if isinstance(part.get("content"), str) or isinstance(part.get("arguments"), str)
    )
