"""OpenTelemetry GenAI conventions from 1.37 to the state of 2026: content in attributes of the span or of one details event.

Also reads the attributes that every version since 1.26 has in common (operation, model, parameters, usage, ids), so the older
forms need only add their content. Source: model/gen-ai/{spans,registry,events}.yaml of semantic-conventions(-genai).

Where content may be, in this order: span attribute (JSON text or structured), ``gen_ai.client.inference.operation.details``
log record (structured attributes), an external reference (``…_ref``), which is a gap with an address.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from otelreplay import canonical
from otelreplay import semconv as sc
from otelreplay.dialects import packages as pk
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import CONTENT_FIELDS, Reading, SpanView
from otelreplay.dialects.toolio import answer_in, call_id_of, unwrapped
from otelreplay.dialects.values import (
    call_id_without_name,
    decoded,
    decoded_whole,
    failure_of,
    is_broken,
    is_cut,
    lift_system,
    one_message,
    read_messages,
    read_parts,
    read_tools,
)
from otelreplay.dialects.wire import json_of, request_fields
from otelreplay.events import Inferred, Mark, Message, Missing

ATTRIBUTE_FIELDS: Mapping[str, str] = {
    sc.INPUT_MESSAGES: "request.messages",
    sc.SYSTEM_INSTRUCTIONS: "request.system",
    sc.TOOL_DEFINITIONS: "request.tools",
    sc.OUTPUT_MESSAGES: "response.messages",
    sc.REQUEST_MODEL: "request.model",
    sc.PROVIDER: "request.provider",
    sc.SYSTEM: "request.provider",
    sc.OPENAI_API_TYPE: "request.api",
    sc.RESPONSE_ID: "response.id",
    sc.RESPONSE_MODEL: "response.model",
    sc.FINISH_REASONS: "response.finish_reasons",
    sc.TOOL_ARGUMENTS: "request.arguments",
    sc.TOOL_CALL_ID: "request.call_id",
    sc.TOOL_RESULT: "response.result",
    sc.RETRIEVAL_QUERY: "request.query",
    sc.RETRIEVAL_DOCUMENTS: "response.result",
    sc.MEMORY_QUERY: "request.query",
    sc.MEMORY_RECORDS: "response.result",
}
_ATTRIBUTE_OF = {field: attribute for attribute, field in reversed(list(ATTRIBUTE_FIELDS.items()))}
"""Event field → the attribute that is its own."""
_OF_MODEL = tuple(
    (attribute, field)
    for attribute, field in ATTRIBUTE_FIELDS.items()
    if field in ("request.model", "request.api", "response.id", "response.model")
)
"""Plain values of a model call."""
_TOOLS = "gen_ai.request.tools"
"""Langtrace's name of the tools: a list whose one member is JSON text of a list."""
_NO_PARAMS = ("gen_ai.request.functions.", "gen_ai.request.type", _TOOLS)
"""Of older packages: the tools, spelled out, and the operation."""
_VERSIONS = {"gen_ai.prompt.version": "prompt", "gen_ai.agent.version": "agent"}
_NAMES = {
    "model": (sc.REQUEST_MODEL, sc.RESPONSE_MODEL),
    "embeddings": (sc.REQUEST_MODEL, sc.RESPONSE_MODEL),
    "tool": (sc.TOOL_NAME,),
    "agent": (sc.AGENT_NAME, sc.WORKFLOW_NAME),
    "retrieval": (sc.DATA_SOURCE_ID,),
    "memory": ("gen_ai.memory.store.id",),
}


_UNKNOWN_ERROR = "_OTHER"
"""``error.type`` where no error class is known: what util-genai writes when a stream is abandoned."""
_ONE_REASON = "gen_ai.response.finish_reason"
"""As Semantic Kernel writes it, with the name of Python's enumeration before it."""
_STOP_REASON = "anthropic.message.stop_reason"
"""Where the Anthropic SDK's own spans have the finish reason."""
_CHOICES = "gen_ai.request.choice.count"
_OTHER_POLICY = "change the policy and convert again"
_REFERENCES = ("_ref", ".ref")
_LEFT = "the program stopped reading the stream; what came after was not recorded"
_STOPPED = {"stop", "end_turn", "STOP"}
_EMPTY_REPLY_TOKENS = 8
"""An empty reply costs a few tokens at most; one that cost more was not empty, but not recorded."""


class GenAI:
    """The singleton of this module is :data:`DIALECT`."""

    name = "otel-genai"
    attribute_fields = ATTRIBUTE_FIELDS

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        details: list[Any] = [r for r in view.logs if r.name == sc.INFERENCE_DETAILS] if view.logs else []
        told = [e for e in view.span.events if e.name == sc.INFERENCE_DETAILS] if view.span.events else []
        details += told
        attributes = _with_details(view, details) if details else view.span.attributes
        kind = kind_of(attributes)
        if kind is None:
            return None
        reader = _Reader(view, attributes, intern)
        reader.common(kind)
        getattr(reader, kind if kind in ("tool", "agent", "model", "embeddings") else "other")()
        return Reading(
            dialect=self.name,
            kind=kind,
            name=reader.title(kind),
            fields=reader.fields,
            gaps=tuple(reader.gaps(kind)),
            marks=(*reader.marks, *(reader.removals(kind) if view.span.removed else ())),
            texts=reader.texts,
            maybe_empty=reader.maybe_empty,
            drops_calls=reader.package.drops_calls,
            alternatives=int_of(attributes.get(_CHOICES)) > 1,
            taken=frozenset(reader.taken),
            took_logs=len(details) > len(told),
            took_events=frozenset({*([sc.EXCEPTION_EVENT] if reader.failed else ()), *(e.name for e in told)}),
        )


DIALECT = GenAI()


def kind_of(attributes: Mapping[str, Any]) -> str | None:
    """The boundary that the attributes speak of; None when they are not of this convention."""
    operation = attributes.get(sc.OPERATION)
    if isinstance(operation, str) and operation in sc.KIND_OF_OPERATION:
        return sc.KIND_OF_OPERATION[operation]
    if sc.TOOL_NAME in attributes and not attributes.keys() & {sc.REQUEST_MODEL, sc.OUTPUT_MESSAGES}:
        return "tool"
    if attributes.keys() & {sc.PROVIDER, sc.SYSTEM} and attributes.keys() & {
        sc.REQUEST_MODEL,
        sc.RESPONSE_MODEL,
        sc.RESPONSE_ID,
    }:
        return "model"
    if sc.OUTPUT_MESSAGES in attributes and attributes.keys() & {sc.REQUEST_MODEL, sc.RESPONSE_MODEL}:
        return "model"
    return "context" if operation is not None else None


def _with_details(view: SpanView, details: Iterable[Any]) -> Mapping[str, Any]:
    """The span's attributes; what only its details event has is added, and takes the place of what was cut on the span."""
    out = own = view.span.attributes
    cut = {k for k, v in own.items() if is_cut(v, view.limit, view.span.lengths.get(k)) or is_broken(v)}
    for record in details:
        held = {k: v for k, v in record.attributes.items() if k != sc.EVENT_NAME and (k not in out or k in cut)}
        extra = {k: v for k, v in held.items() if k not in cut or not (is_cut(v, view.limit) or is_broken(v))}
        cut -= extra.keys()
        out = {**out, **extra} if extra else out
    return out


def _ids_without_names(message: Message) -> dict[str, Any]:
    parts = [
        {**p, "id": call_id_without_name(p["id"], str(p.get("name") or ""))} if isinstance(p.get("id"), str) else p
        for p in message["parts"]
    ]
    return {**message, "parts": parts}


def calls_in(messages: Iterable[Message]) -> bool:
    """Does any of the messages ask for a tool?"""
    return any(part.get("type") == "tool_call" for message in messages for part in message["parts"])


_NUMBERS = frozenset(
    {"temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty", "presence_penalty", "choice.count"}
)
"""Parameters that are numbers, also where a package writes all attributes as text."""


def _as_number(value: Any) -> Any:
    """The number that a text is; anything else as it is."""
    if not isinstance(value, str) or not value[-1:].isdecimal():
        return value
    known, inner = canonical.read_json(value)
    return inner if known and isinstance(inner, (int, float)) else value


def int_of(value: Any) -> int:
    """The number, or 0 for what is none."""
    return value if isinstance(value, int) else 0


@lru_cache(maxsize=4096)
def _spread(attribute: str) -> tuple[str, str]:
    """(``params`` or ``usage``, the name in it) of an attribute that is one of many; (``""``, ``""``) of any other."""
    if attribute.startswith(sc.USAGE_PREFIX):
        name = attribute.removeprefix(sc.USAGE_PREFIX)
        return "usage", sc.RENAMED_USAGE.get(name, name)
    if attribute.startswith(sc.REQUEST_PREFIX) and attribute != sc.REQUEST_MODEL and not attribute.startswith(_NO_PARAMS):
        name = attribute.removeprefix(sc.REQUEST_PREFIX)
        return "params", sc.RENAMED_PARAMS.get(name, name)
    return "", ""


class _Reader:
    """Collects the fields of one span."""

    def __init__(self, view: SpanView, attributes: Mapping[str, Any], intern: Interner) -> None:
        self.view, self.attributes, self.intern = view, attributes, intern
        self.fields: dict[str, Any] = {}
        self.taken: set[str] = set()
        self.broken: dict[str, Missing] = {}
        self.marks: list[Mark] = []
        self.maybe_empty = False
        self.lifted = 0
        """Leading system messages that are no longer among the messages."""
        self.texts: dict[str, str] = {}
        self.failed = failure_of(view.span)
        self.package = pk.package_of(view.span)

    def take(self, attribute: str, field: str, value: Any) -> None:
        self.taken.add(attribute)
        self.fields[field] = value

    def simple(self, attribute: str, field: str) -> None:
        value = self.attributes.get(attribute)
        if value not in (None, ""):
            self.take(attribute, field, value)

    def content(self, attribute: str, field: str, read: Any) -> None:
        """A payload attribute: read whole, or a gap that says why it cannot be."""
        if attribute not in self.attributes:
            return
        value = self.attributes[attribute]
        got = read(value)
        if (got is None or got is value) and isinstance(value, str):
            length = self.view.span.lengths.get(attribute, len(value))
            # A package writes JSON whole; only arguments are what a model wrote, who may write half of it.
            if is_cut(value, self.view.limit, length) or (attribute != sc.TOOL_ARGUMENTS and is_broken(value)):
                detail = f"{attribute} was cut after {length} characters"
                self.broken[field] = Missing(field=field, cause="truncated", detail=detail, remedy=pk.LENGTH_LIMIT)
                self.texts[field] = value
                return
        if got is None:
            self.broken[field] = Missing(
                field=field, cause="undecodable", detail=f"{attribute} is not in the form of its convention"
            )
        else:
            self.take(attribute, field, got)
            if isinstance(value, str) and field == "response.result":
                self.texts[field] = value

    def infer(self, field: str, value: Any, *, source: str, rule: str) -> None:
        self.fields[field] = value
        self.marks.append(Inferred(field=field, source=f"{self.view.span.key}:{source}", rule=rule))

    def common(self, kind: str) -> None:
        if self.failed:
            self.fields["error"] = self.failed
            self.taken |= {sc.ERROR_TYPE} & self.attributes.keys()
        versions = {v: self.attributes[k] for k, v in _VERSIONS.items() if k in self.attributes}
        if versions:
            self.fields["versions"] = versions
        if kind != "agent":
            self.simple(sc.AGENT_NAME, "agent")

    def model(self) -> None:
        for attribute in (sc.SYSTEM, sc.PROVIDER):
            self.simple(attribute, "request.provider")
        for attribute, field in _OF_MODEL:
            self.simple(attribute, field)
        self.parameters()
        self.messages("request.messages", "response.messages")
        self.content(sc.TOOL_DEFINITIONS, "request.tools", self.list_of_tools)
        if "request.tools" not in self.fields:
            self.content(_TOOLS, "request.tools", self.list_of_tools)
        self.ending()
        said = self.fields.get("response.messages") or ()
        if self.package.last_call_only and self.attributes.get(sc.OPENAI_API_TYPE) == "responses" and calls_in(said):
            detail = "of several calls in one reply this package records the last alone"
            self.marks.append(Missing(field="response.messages[0].parts", cause="not_carried_by_convention", detail=detail))

    def list_of_tools(self, value: Any) -> list[Any] | None:
        return read_tools(value, self.intern)

    def ending(self) -> None:
        """Finish reasons, and replies that only they tell of: one that was left half-way, one that was empty."""
        given = decoded(self.attributes.get(sc.FINISH_REASONS))
        own = self.attributes.get(_STOP_REASON)
        if given is None and not own and isinstance(one := self.attributes.get(_ONE_REASON), str):
            given = [one.rpartition(".")[2].lower() if one.startswith("FinishReason.") else one]
            self.taken.add(_ONE_REASON)
            self.fields["response.finish_reasons"] = given
        elif given is None and own:
            self.take(_STOP_REASON, "response.finish_reasons", [own])
        elif given is not None:
            self.take(
                sc.FINISH_REASONS, "response.finish_reasons", list(given) if isinstance(given, (list, tuple)) else [given]
            )
        held = self.fields.get("response.messages")
        said = [m["finish_reason"] for m in held or () if m.get("finish_reason")]
        if said and given is None and not own:
            self.infer("response.finish_reasons", said, source=sc.OUTPUT_MESSAGES, rule="finish_reason_from_message")
        reasons = {str(r) for r in self.fields.get("response.finish_reasons") or ()}
        if self.left(held, reasons):
            self.fields.pop("error", None)
            self.failed = None
            self.taken.discard(sc.ERROR_TYPE)
            self.marks.append(
                Missing(field="response.messages[0]" if held else "response.messages", cause="never_ended", detail=_LEFT)
            )
        elif self.was_empty(held, reasons):
            self.maybe_empty = True

    def left(self, held: Any, reasons: set[Any]) -> bool:
        """Did the program stop reading a stream? That is no failure of the model; what was delivered is kept."""
        if self.fields.get("request.params", {}).get("stream") is not True or reasons - {"error"}:
            return False
        return self.attributes.get(sc.ERROR_TYPE) == _UNKNOWN_ERROR or (bool(held) and not reasons and not self.failed)

    def was_empty(self, held: Any, reasons: set[Any]) -> bool:
        """Did a call whose request is recorded end well, and cost next to nothing, without a reply being recorded?"""
        if (
            held is not None
            or self.failed
            or not reasons
            or not reasons <= _STOPPED
            or not self.unexplained("response.messages")
        ):
            return False
        cost = int_of(self.fields.get("response.usage", {}).get("output_tokens"))
        return bool(self.fields.get("request.messages")) and cost <= _EMPTY_REPLY_TOKENS

    def unexplained(self, field: str) -> bool:
        """Is there no sign of the field at all: not cut, not removed, not kept elsewhere?"""
        attribute = _ATTRIBUTE_OF[field]
        elsewhere = any(attribute + suffix in self.attributes for suffix in _REFERENCES)
        return (
            field not in self.broken
            and not elsewhere
            and not self.view.span.removed
            and not self.view.span.dropped_attributes_count
        )

    def parameters(self) -> None:
        params: dict[str, Any] = {}
        usage: dict[str, Any] = {}
        for key, value in self.attributes.items():
            side, name = _spread(key)
            if side:
                self.taken.add(key)
                (usage if side == "usage" else params)[name] = (
                    _as_number(value) if side == "usage" or name in _NUMBERS else value
                )
        if params:
            self.fields["request.params"] = dict(sorted(params.items()))
        if usage:
            self.fields["response.usage"] = dict(sorted(usage.items()))

    def items_in_text(self, request: str, response: str) -> None:
        """Read the items that a package wrote as the text of one message; drop the empty text that stands for calls."""
        texts = [p.get("content") for m in self.fields.get(request, ()) for p in m["parts"]]
        items = json_of(texts[0]) if len(texts) == 1 and isinstance(texts[0], str) else None
        if isinstance(items, list) and items and all(isinstance(i, dict) and ("role" in i or "type" in i) for i in items):
            self.fields[request] = request_fields({"input": items}, self.intern).get("request.messages", self.fields[request])
            for field in ("request.system", "request.tools"):
                detail = "of a request of the Responses API this package records the input alone"
                self.broken[field] = Missing(field=field, cause="not_carried_by_convention", detail=detail)
        said = [p for m in self.fields.get(response, ()) for p in m["parts"]]
        if said == [{"type": "text", "content": ""}]:
            del self.fields[response]

    def messages(self, request: str, response: str) -> None:
        self.content(sc.SYSTEM_INSTRUCTIONS, "request.system", read_parts)
        self.content(sc.INPUT_MESSAGES, request, self.list_of_messages)
        self.content(sc.OUTPUT_MESSAGES, response, self.list_of_messages)
        if self.package.message_a_chunk and len(self.fields.get(response, ())) > 1:
            self.fields[response] = [self.intern.message(m) for m in one_message(self.fields[response])]
        if self.package.items_as_text:
            self.items_in_text(request, response)
        if request in self.fields:
            whole = self.fields[request]
            parts, self.fields[request] = lift_system(whole)
            self.lifted = len(whole) - len(self.fields[request])
            if parts:
                apart = self.fields.get("request.system", [])
                self.fields["request.system"] = apart if apart == parts else [*apart, *parts]
            elif len(whole) > len(self.fields[request]) and "request.system" not in self.fields:
                detail = "the package recorded the system message without its content"
                self.marks.append(
                    Missing(field="request.system", cause="not_carried_by_convention", detail=detail, remedy=pk.CURRENT_OPENAI)
                )

    def list_of_messages(self, value: Any) -> list[Message] | None:
        package = self.package
        found = read_messages(value, self.intern, invented_ids=package.invents_ids, remedy=package.content)
        if package.names_in_ids and found and calls_in(found):
            return [self.intern.message(_ids_without_names(m), tuple(m.marks)) for m in found]
        return found

    def agent(self) -> None:
        self.messages("request.input", "response.output")
        self.parameters()
        config = {"model": self.attributes[sc.REQUEST_MODEL]} if sc.REQUEST_MODEL in self.attributes else {}
        if config:
            self.take(sc.REQUEST_MODEL, "request.config", config)

    def tool(self) -> None:
        self.simple(sc.TOOL_CALL_ID, "request.call_id")
        self.content(sc.TOOL_ARGUMENTS, "request.arguments", lambda v: unwrapped(decoded_whole(v)))
        self.content(sc.TOOL_RESULT, "response.result", decoded_whole)
        told = answer_in(self.fields.get("response.result"))
        if told is not None:
            call, self.fields["response.result"] = told
            del self.texts["response.result"]
        call = (told[0] if told else "") or call_id_of(self.attributes.get(sc.TOOL_ARGUMENTS))
        if call:
            self.fields.setdefault("request.call_id", call)

    def embeddings(self) -> None:
        self.simple(sc.REQUEST_MODEL, "request.model")
        self.simple(sc.RESPONSE_MODEL, "response.model")
        self.parameters()

    def other(self) -> None:
        for attribute, field in ATTRIBUTE_FIELDS.items():
            if field in ("request.query", "response.result") and attribute not in (sc.TOOL_RESULT,):
                self.content(attribute, field, decoded)

    def title(self, kind: str) -> str:
        for attribute in _NAMES.get(kind, ()):
            if self.attributes.get(attribute):
                self.taken.add(attribute)
                return str(self.attributes[attribute])
        return self.view.span.name or str(self.attributes.get(sc.OPERATION) or kind)

    def removals(self, kind: str) -> Iterable[Missing]:
        """What a policy took out of a payload that is otherwise there."""
        for removal in self.view.span.removed:
            attribute = next(
                (a for a in ATTRIBUTE_FIELDS if removal.path.startswith((f"attributes.{a}.", f"attributes.{a}["))), None
            )
            if attribute is None:
                continue
            field, rest = ATTRIBUTE_FIELDS[attribute], removal.path.removeprefix(f"attributes.{attribute}")
            number, bracket, behind = rest[1:].partition("]")
            if attribute == sc.INPUT_MESSAGES and bracket and number.isdecimal():
                at = int(number) - self.lifted
                field, rest = (field, f"[{at}]{behind}") if at >= 0 else ("request.system", "")
            if kind == "agent":
                field = {"request.messages": "request.input", "response.messages": "response.output"}.get(field, field)
            yield Missing(field=field + rest, cause="redacted", detail=f"removed by rule {removal.rule}", remedy=_OTHER_POLICY)

    def gaps(self, kind: str) -> Iterable[Missing]:
        """Why each content field that was not read is not there."""
        for field in CONTENT_FIELDS.get(kind, ()):
            if field in self.broken and field not in self.fields:
                yield self.broken[field]
            elif field not in self.fields and not self.not_sent(field) and not any(m.field == field for m in self.marks):
                yield self.gap(kind, field)

    def not_sent(self, field: str) -> bool:
        """Is its absence beside recorded messages no gap? No system prompt was given, no tool declared, as far as is known."""
        span = self.view.span
        if "request.messages" not in self.fields or span.removed or span.dropped_attributes_count:
            return False
        return (field == "request.system" and self.package.carries_system) or (
            field == "request.tools"
            and not any(k.startswith(sc.TOOL_DEFINITIONS) for k in self.attributes)
            and self.package.carries_tools
        )

    def gap(self, kind: str, field: str) -> Missing:
        span = self.view.span
        if field == "request.system" and "request.messages" in self.broken:
            return self.broken["request.messages"].model_copy(update={"field": field})  # it stood in front of them
        attribute = _ATTRIBUTE_OF.get(field, "")
        removed = next((r for r in span.removed if r.path == f"attributes.{attribute}"), None)
        if removed:
            return Missing(
                field=field,
                cause="redacted",
                detail=f"removed by rule {removed.rule}",
                remedy=_OTHER_POLICY,
            )
        reference = next((self.attributes[attribute + s] for s in _REFERENCES if attribute + s in self.attributes), None)
        if reference is not None:
            return Missing(field=field, cause="external_reference", detail=str(reference), remedy=pk.RESOLVE)
        if not self.view.received:
            return Missing(
                field=field, cause="span_not_received", detail="only log records of this span arrived", remedy=pk.LOST
            )
        if span.dropped_attributes_count:
            n = span.dropped_attributes_count
            return Missing(
                field=field,
                cause="attributes_dropped",
                detail=f"the SDK dropped {n} attributes of this span",
                remedy=pk.COUNT_LIMIT,
            )
        if kind == "model" and field == "response.messages" and self.fields.get("request.messages"):
            return Missing(
                field=field, cause="not_carried_by_convention", detail="this package recorded the request and no reply"
            )
        return _not_captured(self.package, kind, field)


def _not_captured(package: pk.Package, kind: str, field: str) -> Missing:
    if kind == "agent" and not package.carries_agents:
        return Missing(
            field=field, cause="not_carried_by_convention", detail="this package never records what goes into an agent"
        )
    carried = package.carries_tools if field == "request.tools" else package.carries_content
    if field == "request.system" and not package.carries_system:
        return Missing(
            field=field,
            cause="not_carried_by_convention",
            detail="this package never records the system prompt",
            remedy=package.content,
        )
    if kind == "embeddings":
        return Missing(
            field=field,
            cause="not_carried_by_convention",
            detail="no attribute of the convention holds the inputs of embeddings",
        )
    remedy = (package.tools or package.content) if kind == "tool" else package.content
    if field == "request.tools" and not carried:
        return Missing(
            field=field,
            cause="not_carried_by_convention",
            detail="this package never records tool definitions",
            remedy="use opentelemetry-instrumentation-genai-openai or another package that records gen_ai.tool.definitions",
        )
    return Missing(field=field, cause="content_not_captured" if carried else "not_carried_by_convention", remedy=remedy)
