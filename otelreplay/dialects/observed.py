"""Tracing SDKs that write a kind, an input and an output on every span, whatever it is of.

    LangWatch   langwatch.span.type = llm | tool | agent | rag | …    langwatch.input, langwatch.output: {"type", "value"}
    Laminar     lmnr.span.type = LLM | TOOL | …                       lmnr.span.input, lmnr.span.output
    Braintrust  braintrust.span_attributes = {"type": llm | …}        braintrust.input_json, .output_json, .metadata
    any other   NAME.span_kind = llm | tool | …                       NAME.input, NAME.output; gen_ai.prompt, gen_ai.completion

The last line stands for SDKs that nobody here has seen: a kind and at least one of input and output, under one name of their
own that is no convention's.

A model's input is a list of messages or a request's body, its output messages, choices or a response's body, of any provider.
Source: what the SDKs document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.toolio import arguments_of
from otelreplay.dialects.values import normal_messages
from otelreplay.dialects.wire import json_of, request_fields, response_fields
from otelreplay.providers import request_codec, response_codec


class _Sdk(NamedTuple):
    kind: str
    input: str
    output: str
    remedy: str


_SDKS: Final = (
    _Sdk(
        "langwatch.span.type", "langwatch.input", "langwatch.output", "leave capture_input and capture_output of LangWatch on"
    ),
    _Sdk(
        "lmnr.span.type", "lmnr.span.input", "lmnr.span.output", "leave ignore_input and ignore_output of Laminar's observe off"
    ),
    _Sdk("braintrust.span_attributes", "braintrust.input_json", "braintrust.output_json", "log input and output to Braintrust"),
)
_KINDS: Final = {
    **dict.fromkeys(("llm", "generation", "chat", "chat_model", "completion"), "model"),
    **dict.fromkeys(("tool", "tool_call", "function"), "tool"),
    "agent": "agent",
    **dict.fromkeys(("rag", "retriever", "retrieval"), "retrieval"),
}
_KIND: Final = re.compile(r"([a-z][a-z0-9-]*)\.(?:(?:span|observation|run|operation)[._])?(?:kind|type)")
"""How an SDK that is not known by name may call its kinds, under a name of its own."""
_INPUTS: Final = ("input", "inputs", "span.input", "input_json", "input.value")
_OUTPUTS: Final = ("output", "outputs", "span.output", "output_json", "output.value")
_REMEDY: Final = "switch the recording of inputs and outputs on in the SDK that wrote the span"
_KNOWN: Final = frozenset(
    {
        *("gen_ai", "openinference", "langfuse", "langsmith", "logfire", "mlflow", "traceloop", "agentops", "ai", "haystack"),
        *("mastra", "mcp", "genkit", "gcp", "spring", "http", "rpc", "db", "messaging", "net", "peer", "llm", "tool", "event"),
        *("error", "exception", "log", "span", "code", "cloud", "host", "process", "service"),
    }
)
"""Names of conventions, which have a reader of their own or are of something else."""
_PROMPT: Final = "gen_ai.prompt"
_COMPLETION: Final = "gen_ai.completion"
_METADATA: Final = "braintrust.metadata"
_OTHERS: Final = frozenset({"model", "provider", "tools", "messages", "stream"})


class Observed:
    """The singleton of this module is :data:`DIALECT`."""

    name = "observed-spans"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        attributes = view.span.attributes
        sdk = next((s for s in _SDKS if s.kind in attributes), None) or _unknown(attributes)
        if sdk is None:
            return None
        told = json_of(attributes[sdk.kind])
        kind = _KINDS.get(str(told.get("type") if isinstance(told, dict) else told).lower())
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=sdk.remedy)
        reader.taken.add(sdk.kind)
        getattr(reader, kind)(sdk)
        at = {"tool": sc.TOOL_NAME, "model": sc.REQUEST_MODEL}.get(kind, sc.AGENT_NAME)
        named = reader.fields.get("request.model") or attributes.get(at)
        if not named and isinstance(told, dict) and kind != "model":
            named = told.get("name")
        return reader.reading(self.name, str(named or view.span.name or kind))


DIALECT = Observed()


def _unknown(attributes: Mapping[str, Any]) -> _Sdk | None:
    """An SDK by its shape alone: a kind that is one of these, beside an input or an output under the same name."""
    for attribute, told in attributes.items():
        named = _KIND.fullmatch(attribute)
        if named is None or named[1] in _KNOWN or not isinstance(told, str) or told.lower() not in _KINDS:
            continue
        model = _KINDS[told.lower()] == "model"
        given = [f"{named[1]}.{n}" for n in _INPUTS] + [_PROMPT] * model
        gave = [f"{named[1]}.{n}" for n in _OUTPUTS] + [_COMPLETION] * model
        there = [next((n for n in names if n in attributes), "") for names in (given, gave)]
        if any(there):
            return _Sdk(attribute, there[0] or given[0], there[1] or gave[0], _REMEDY)
    return None


class _Reader(SpanReader):
    """Collects the fields of one span."""

    def held(self, attribute: str, field: str) -> tuple[bool, Any]:
        """(is it there, the value), out of the envelope that tells its type."""
        there, value = self.payload(attribute, field, is_json=True)
        if not there:
            return False, None
        whole = json_of(value)
        typed = isinstance(whole, dict) and whole.keys() == {"type", "value"} and isinstance(whole["type"], str)
        return True, whole["value"] if typed else whole

    def model(self, sdk: _Sdk) -> None:
        there, asked = self.held(sdk.input, "request.messages")
        body = {"messages": asked} if _are_messages(asked) else asked
        if there and isinstance(body, dict) and request_codec(body) is not None:
            self.taken.add(sdk.input)
            self.give(request_fields(body, self.intern))
        elif there and isinstance(asked, str):
            self.taken.add(sdk.input)
            self.fields["request.messages"] = [self.said("user", asked)]
        self.reply(sdk)
        for attribute, field in ((sc.REQUEST_MODEL, "request.model"), (sc.SYSTEM, "request.provider")):
            self.simple(attribute, field)
        metadata = json_of(self.attributes.get(_METADATA))
        if isinstance(metadata, dict):
            self.give({f"request.{n}": str(metadata[n]) for n in ("model", "provider") if metadata.get(n)})
            if metadata.get("tools") and isinstance(metadata["tools"], list):
                self.give(request_fields({"messages": [], "tools": metadata["tools"]}, self.intern))
            params = {k: v for k, v in metadata.items() if k not in _OTHERS and isinstance(v, (int, float)) and v is not None}
            self.give({"request.params": dict(sorted(params.items()))} if params else {})

    def reply(self, sdk: _Sdk) -> None:
        """What was said: a response's body, choices, messages, or text."""
        there, got = self.held(sdk.output, "response.messages")
        if not there or got in (None, ""):  # of a reply of calls alone, some write its text only
            return
        if isinstance(got, list) and got and all(isinstance(c, dict) and isinstance(c.get("message"), dict) for c in got):
            got = {"choices": got}
        if isinstance(got, dict) and response_codec(got) is not None:
            found = response_fields(got, self.intern)
        elif _are_messages(got) or (isinstance(got, dict) and "role" in got):
            raws = got if isinstance(got, list) else [got]
            found = {"response.messages": [self.intern.message(m) for raw in raws for m in normal_messages(raw)]}
        elif isinstance(got, str):
            found = {"response.messages": [self.said("assistant", got)]}
        else:
            return
        self.taken.add(sdk.output)
        self.give(found)

    def said(self, role: str, text: str) -> Any:
        """A message of nothing but text."""
        return self.intern.message({"role": role, "parts": [{"type": "text", "content": text}]})

    def tool(self, sdk: _Sdk) -> None:
        there, given = self.held(sdk.input, "request.arguments")
        if there:
            self.taken.add(sdk.input)
            self.fields["request.arguments"] = arguments_of(given)
        there, got = self.held(sdk.output, "response.result")
        if there and not self.failed:
            self.taken.add(sdk.output)
            self.result(got)

    def agent(self, sdk: _Sdk) -> None:
        self.pair(sdk, "request.input", "response.output")

    def retrieval(self, sdk: _Sdk) -> None:
        self.pair(sdk, "request.query", "response.result")

    def pair(self, sdk: _Sdk, given: str, gave: str) -> None:
        """Input and output as they are."""
        for attribute, field in ((sdk.input, given), (sdk.output, gave)):
            there, value = self.held(attribute, field)
            if there:
                self.taken.add(attribute)
                self.fields[field] = value


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "role" in m for m in value)
