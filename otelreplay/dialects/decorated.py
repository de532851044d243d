"""The spans that otelreplay's own decorators emit: everything that crossed the boundary, exactly as it was.

They are GenAI spans that any backend reads, with a few attributes of the name space ``otelreplay.`` for what the conventions
have no place for. ``otelreplay.kind`` tells them. Payload attributes are JSON text of the typed encoding
(:mod:`otelreplay.canonical`), and here alone such text is decoded: a tuple comes back as a tuple. In a span of anybody else
``$otelreplay`` is user data.

A span of this convention is read whole by this dialect, and no other is asked about it: the GenAI attributes that it repeats
for other backends (an agent's messages, a search's documents) are not read a second time.

Attributes (all optional but the kind):

    otelreplay.kind              the kind of the event
    otelreplay.effect  .idempotency_key  .version         what the decorator was told of the call
    otelreplay.arguments         JSON object: of a model or a search what its GenAI attributes do not hold; all of a ``state``
    otelreplay.result  .output   JSON: the exact value that the function gave (``output``: an agent's)
    otelreplay.input             JSON object: the arguments of an agent
    otelreplay.chunks  .sent  .stream.end                 of a generator: what it gave, what it was sent, how it ended
    otelreplay.error             JSON: ``{"class", "args", "fields"}`` of the exception
    otelreplay.losses            JSON: ``[{"path", "class", "reason"}]``, what could not be encoded
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from otelreplay import canonical
from otelreplay import semconv as sc
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.packages import COUNT_LIMIT, LENGTH_LIMIT, LOST
from otelreplay.dialects.reading import CONTENT_FIELDS, Reading, SpanView
from otelreplay.dialects.values import failure_of, is_broken, is_cut, lift_system, normal_messages, normal_part, read_tools
from otelreplay.errors import OtelReplayError
from otelreplay.events import Effect, Failure, Inferred, Kind, Mark, Message, Missing

KIND: Final = "otelreplay.kind"
EFFECT: Final = "otelreplay.effect"
IDEMPOTENCY_KEY: Final = "otelreplay.idempotency_key"
VERSION: Final = "otelreplay.version"
ARGUMENTS: Final = "otelreplay.arguments"
RESULT: Final = "otelreplay.result"
INPUT: Final = "otelreplay.input"
OUTPUT: Final = "otelreplay.output"
CHUNKS: Final = "otelreplay.chunks"
SENT: Final = "otelreplay.sent"
STREAM_END: Final = "otelreplay.stream.end"
ERROR: Final = "otelreplay.error"
LOSSES: Final = "otelreplay.losses"

ATTRIBUTE_FIELDS: Final[Mapping[str, str]] = {
    sc.INPUT_MESSAGES: "request.messages",
    sc.SYSTEM_INSTRUCTIONS: "request.system",
    sc.TOOL_DEFINITIONS: "request.tools",
    sc.OUTPUT_MESSAGES: "response.messages",
    sc.REQUEST_MODEL: "request.model",
    sc.PROVIDER: "request.provider",
    sc.OPENAI_API_TYPE: "request.api",
    sc.RESPONSE_ID: "response.id",
    sc.RESPONSE_MODEL: "response.model",
    sc.FINISH_REASONS: "response.finish_reasons",
    sc.TOOL_ARGUMENTS: "request.arguments",
    sc.TOOL_CALL_ID: "request.call_id",
    sc.TOOL_RESULT: "response.result",
    sc.RETRIEVAL_QUERY: "request.query",
    sc.RETRIEVAL_DOCUMENTS: "response.result",
    EFFECT: "effect",
    IDEMPOTENCY_KEY: "idempotency_key",
    ARGUMENTS: "request.params",
    INPUT: "request.input",
    OUTPUT: "response.output",
    RESULT: "response.result",
    CHUNKS: "response.chunks",
    SENT: "response.stream",
    ERROR: "error",
}
_PLAIN: Final = (sc.PROVIDER, sc.REQUEST_MODEL, sc.OPENAI_API_TYPE, sc.RESPONSE_ID, sc.RESPONSE_MODEL)
_PAYLOAD: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "tool": ((sc.TOOL_ARGUMENTS, "request.arguments"), (sc.TOOL_RESULT, "response.result")),
    "retrieval": ((RESULT, "response.result"), (sc.RETRIEVAL_DOCUMENTS, "response.result")),
    "model": ((RESULT, "response.result"),),
    "embeddings": ((RESULT, "response.result"),),
    "agent": ((INPUT, "request.input"), (OUTPUT, "response.output")),
}
"""Of each kind: (attribute with typed JSON, field); the first that is there gives the field."""
_OTHER_PAYLOAD: Final = ((ARGUMENTS, "request.arguments"), (RESULT, "response.result"))
_REPEATED: Final = {"agent": (sc.INPUT_MESSAGES, sc.OUTPUT_MESSAGES), "retrieval": (sc.RETRIEVAL_DOCUMENTS,)}
"""Attributes that only say again what another holds exactly."""
_NAMED: Final = {"model": (sc.REQUEST_MODEL, sc.RESPONSE_MODEL), "tool": (sc.TOOL_NAME,), "agent": (sc.AGENT_NAME,),
                 "retrieval": (sc.DATA_SOURCE_ID,)}  # fmt: skip
_CAPTURED: Final = (ARGUMENTS, RESULT, INPUT, OUTPUT, CHUNKS, ERROR, sc.TOOL_ARGUMENTS, sc.TOOL_RESULT, sc.INPUT_MESSAGES,
                    sc.OUTPUT_MESSAGES, sc.RETRIEVAL_QUERY)  # fmt: skip
"""One of these is on every span of which content was captured."""
_KINDS: Final = frozenset(get_args(Kind))
_EFFECTS: Final = frozenset(get_args(Effect))
_SIDES: Final = {"result": "response.", "output": "response.", "chunks": "response.", "sent": "response.stream."}
_UNSURE: Final = "the policy removed it; change the policy and record again"


class Decorated:
    """The singleton of this module is :data:`DIALECT`."""

    name = "otelreplay"
    attribute_fields = ATTRIBUTE_FIELDS

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        kind = view.span.attributes.get(KIND)
        if not isinstance(kind, str) or kind not in _KINDS:
            return None
        reader = _Reader(view, kind, intern)
        reader.everything()
        return Reading(
            dialect=self.name,
            kind=kind,
            name=reader.title(),
            fields=reader.fields,
            gaps=tuple(reader.gaps.values()),
            marks=tuple(reader.marks),
            taken=frozenset(reader.taken),
            took_events=frozenset({sc.EXCEPTION_EVENT} if reader.failed else ()),
            exact=True,
        )


DIALECT = Decorated()


class _Reader:
    """Collects the fields of one span."""

    def __init__(self, view: SpanView, kind: str, intern: Interner) -> None:
        self.view, self.kind, self.intern = view, kind, intern
        self.attributes = view.span.attributes
        self.fields: dict[str, Any] = {}
        self.gaps: dict[str, Missing] = {}
        self.marks: list[Mark] = []
        self.taken = {KIND}
        self.lifted = 0
        self.failed = failure_of(view.span)

    def everything(self) -> None:
        self.common()
        for attribute, field in _PAYLOAD.get(self.kind, _OTHER_PAYLOAD):
            if attribute in self.attributes and field not in self.fields:
                self.payload(attribute, field)
        self.taken |= {a for a in _REPEATED.get(self.kind, ()) if a in self.attributes}
        if self.kind == "model":
            self.model()
        elif self.kind == "embeddings":
            self.embeddings()
        elif self.kind == "tool":
            self.plain(sc.TOOL_CALL_ID, "request.call_id")
        elif self.kind == "retrieval":
            self.query()
            self.arguments()
        self.stream()
        if self.kind == "model":
            self.reply_as_result()
        self.losses()
        self.removals()
        self.absent()

    # -- values
    def plain(self, attribute: str, field: str) -> None:
        value = self.attributes.get(attribute)
        if value not in (None, ""):
            self.taken.add(attribute)
            self.fields[field] = value

    def value(self, attribute: str) -> tuple[bool, Any]:
        """(can it be read, the typed value) of an attribute. Text that a policy put there stands for itself."""
        value = self.attributes[attribute]
        if not isinstance(value, str):
            return True, canonical.decode(value)
        try:
            return True, canonical.loads(value)
        except OtelReplayError:
            known, inner = canonical.read_json(value)
        if known:
            return True, canonical.decode(inner)
        length = self.view.span.lengths.get(attribute, len(value))
        return not (is_cut(value, self.view.limit, length) or is_broken(value)), value

    def payload(self, attribute: str, field: str) -> None:
        readable, value = self.value(attribute)
        if readable:
            self.taken.add(attribute)
            self.fields[field] = value
        else:
            self.cut(attribute, field)

    def cut(self, attribute: str, field: str) -> None:
        length = self.view.span.lengths.get(attribute, len(self.attributes[attribute]))
        detail = f"{attribute} was cut after {length} characters"
        self.gap(Missing(field=field, cause="truncated", detail=detail, remedy=LENGTH_LIMIT))

    def items(self, attribute: str) -> list[Any]:
        """A list of our own; empty for anything else."""
        value = self.value(attribute)[1] if attribute in self.attributes else None
        return value if isinstance(value, list) else []

    # -- fields
    def common(self) -> None:
        if self.failed:
            self.fields["error"] = self.failure(self.failed)
            self.taken |= {sc.ERROR_TYPE} & self.attributes.keys()
        effect = self.attributes.get(EFFECT)
        if isinstance(effect, str) and effect in _EFFECTS:
            self.plain(EFFECT, "effect")
        if isinstance(self.attributes.get(IDEMPOTENCY_KEY), str):
            self.plain(IDEMPOTENCY_KEY, "idempotency_key")
        if VERSION in self.attributes:
            self.taken.add(VERSION)
            self.fields["versions"] = {self.kind: self.attributes[VERSION]}
        if self.kind != "agent":
            self.plain(sc.AGENT_NAME, "agent")

    def failure(self, known: Failure) -> Failure:
        """With the class, the arguments and the fields that it takes to raise it again."""
        if ERROR not in self.attributes:
            return known
        _, held = self.value(ERROR)
        if not isinstance(held, dict):
            return known
        self.taken.add(ERROR)
        more = {k: v for k, v in held.items() if isinstance(k, str) and k not in ("type", "message")}
        return Failure.model_validate({"type": known.type, "message": known.message} | more)

    def model(self) -> None:
        for attribute in _PLAIN:
            self.plain(attribute, ATTRIBUTE_FIELDS[attribute])
        self.spread(sc.REQUEST_PREFIX, "request.params", sc.RENAMED_PARAMS, but=sc.REQUEST_MODEL)
        self.spread(sc.USAGE_PREFIX, "response.usage", sc.RENAMED_USAGE)
        self.arguments()
        self.list_of(sc.SYSTEM_INSTRUCTIONS, "request.system", self.parts)
        self.list_of(sc.INPUT_MESSAGES, "request.messages", self.messages)
        self.list_of(sc.TOOL_DEFINITIONS, "request.tools", lambda value: read_tools(value, self.intern))
        self.list_of(sc.OUTPUT_MESSAGES, "response.messages", self.messages)
        if "request.messages" in self.fields:
            whole = self.fields["request.messages"]
            parts, rest = lift_system(whole)
            self.fields["request.messages"], self.lifted = rest, len(whole) - len(rest)
            if parts:
                self.fields["request.system"] = [*self.fields.get("request.system", ()), *parts]
        reasons = self.attributes.get(sc.FINISH_REASONS)
        if reasons is not None:
            self.taken.add(sc.FINISH_REASONS)
            self.fields["response.finish_reasons"] = list(reasons) if isinstance(reasons, (list, tuple)) else [reasons]

    def embeddings(self) -> None:
        """A request for vectors: what they are of is one argument among the others."""
        self.plain(sc.REQUEST_MODEL, "request.model")
        self.arguments()
        params = dict(self.fields.get("request.params", {}))
        if "input" in params:
            self.fields["request.inputs"] = params.pop("input")
        if params:
            self.fields["request.params"] = params
        else:
            self.fields.pop("request.params", None)

    def spread(self, prefix: str, field: str, renamed: Mapping[str, str], *, but: str = "") -> None:
        names = [a for a in self.attributes if a.startswith(prefix) and a != but]
        if names:
            self.taken.update(names)
            values = {renamed.get(n, n): self.attributes[prefix + n] for n in (a.removeprefix(prefix) for a in names)}
            self.fields[field] = dict(sorted(values.items()))

    def arguments(self) -> None:
        """Arguments of the function that no GenAI attribute holds are params of the request."""
        if ARGUMENTS not in self.attributes:
            return
        readable, value = self.value(ARGUMENTS)
        if readable and isinstance(value, dict):
            self.taken.add(ARGUMENTS)
            if value:
                self.fields["request.params"] = {**self.fields.get("request.params", {}), **value}
        elif not readable:
            self.cut(ARGUMENTS, "request.params")

    def query(self) -> None:
        """What was searched for: the one attribute of payload that is plain text."""
        if sc.RETRIEVAL_QUERY in self.attributes:
            self.taken.add(sc.RETRIEVAL_QUERY)
            self.fields["request.query"] = self.attributes[sc.RETRIEVAL_QUERY]

    def list_of(self, attribute: str, field: str, read: Any) -> None:
        value = self.attributes.get(attribute)
        if value is None:
            return
        got = read(value)
        if got is not None:
            self.taken.add(attribute)
            self.fields[field] = got
        elif isinstance(value, str) and not self.value(attribute)[0]:
            self.cut(attribute, field)
        else:
            detail = f"{attribute} holds no list"
            self.gaps[field] = Missing(field=field, cause="undecodable", detail=detail)

    def messages(self, value: Any) -> list[Message] | None:
        if isinstance(value, str):
            return self.intern.each(value, "typed message", self.message)
        return [m for v in value for m in self.message(v)] if isinstance(value, (list, tuple)) else None

    def message(self, value: Any) -> tuple[Message, ...]:
        exact = canonical.decode(value)
        return tuple(self.intern.message(m, typed=exact is not value) for m in normal_messages(exact))

    def parts(self, value: Any) -> list[dict[str, Any]] | None:
        held = canonical.read_json(value)[1] if isinstance(value, str) else value
        return [normal_part(canonical.decode(p)) for p in held] if isinstance(held, (list, tuple)) else None

    def stream(self) -> None:
        if CHUNKS in self.attributes:
            self.payload(CHUNKS, "response.chunks")
        end = self.attributes.get(STREAM_END)
        if end is None and CHUNKS not in self.attributes:
            return
        chunks = self.fields.get("response.chunks")
        count = len(chunks) if isinstance(chunks, list) else 0
        self.taken |= {STREAM_END, SENT} & self.attributes.keys()
        stream: dict[str, Any] = {"end": end, "chunks": count}
        if sent := self.items(SENT):
            stream["sent"] = sent
        self.fields["response.stream"] = stream
        if end == "stopped":
            detail = f"the program stopped reading after {count} chunks"
            self.marks.append(Missing(field="response.chunks", cause="never_ended", detail=detail))

    def reply_as_result(self) -> None:
        """A function that gives the text of its one reply has no result of its own."""
        messages: list[Message] = self.fields.get("response.messages") or []
        known = self.fields.keys() & {"response.result", "response.stream", "error"} or RESULT in self.attributes
        if known or len(messages) != 1 or any(p.get("type") != "text" for p in messages[0]["parts"]):
            return
        self.fields["response.result"] = "".join(str(p.get("content") or "") for p in messages[0]["parts"])
        source = f"{self.view.span.key}:{sc.OUTPUT_MESSAGES}"
        self.marks.append(Inferred(field="response.result", source=source, rule="result_is_reply_text"))

    # -- what is not there
    def losses(self) -> None:
        """A mark on exactly the leaf that could not be encoded; a gap where a whole attribute was too long for a limit."""
        whole = dict(self.readable())
        for loss in self.items(LOSSES):
            path = loss.get("path") if isinstance(loss, dict) else None
            if not isinstance(path, str):
                continue
            self.taken.add(LOSSES)
            if path in whole:
                detail = f"{path} was left out: {loss.get('size')} characters, where {loss.get('limit')} are allowed"
                self.gap(Missing(field=whole[path], cause="truncated", detail=detail, remedy=LENGTH_LIMIT))
            else:
                detail = f"{loss.get('class')} cannot be encoded: {loss.get('reason')}"
                self.marks.append(Missing(field=self.place(path), cause="undecodable", detail=detail))

    def gap(self, gap: Missing) -> None:
        """Takes the place of the content field that is not there; on any other field it is a mark."""
        if gap.field not in CONTENT_FIELDS.get(self.kind, ()):
            self.marks.append(gap)
        elif gap.field not in self.fields:
            self.gaps[gap.field] = gap

    def place(self, path: str) -> str:
        """The event field of a path that begins with the short name of a side: ``arguments.img``, ``result[0]``."""
        head = path.partition(".")[0].partition("[")[0]
        if head in ("request", "response", "error"):
            return path
        if head == "arguments" and self.kind in ("model", "retrieval"):
            return "request.params" + path[len(head) :]
        if head == "sent":
            return "response.stream." + path
        return _SIDES.get(head, "request.") + path

    def removals(self) -> None:
        """What a policy took out whole."""
        for removal in self.view.span.removed:
            for attribute, field in self.readable():
                whole = f"attributes.{attribute}"
                rest = removal.path.removeprefix(whole)
                if not removal.path.startswith(whole) or rest[:1] not in ("", ".", "["):
                    continue
                if attribute == sc.INPUT_MESSAGES and self.lifted:
                    field, rest = self.shifted(field, rest)
                detail = f"removed by rule {removal.rule}"
                gap = Missing(field=field + rest, cause="redacted", detail=detail, remedy=_UNSURE)
                if rest or field in self.fields:
                    self.marks.append(gap)
                else:
                    self.gap(gap)

    def readable(self) -> Iterator[tuple[str, str]]:
        """(attribute, field) of all payload of this kind."""
        own = dict(_PAYLOAD.get(self.kind, _OTHER_PAYLOAD))
        repeated = _REPEATED.get(self.kind, ())
        yield from own.items()
        yield from ((a, f) for a, f in ATTRIBUTE_FIELDS.items() if a not in own and a not in repeated)

    def shifted(self, field: str, rest: str) -> tuple[str, str]:
        """The place of a message that stood behind a system message before that was lifted."""
        number, bracket, behind = rest[1:].partition("]")
        if not bracket or not number.isdecimal():
            return field, rest
        at = int(number) - self.lifted
        return (field, f"[{at}]{behind}") if at >= 0 else ("request.system", "")

    def absent(self) -> None:
        """Why each content field that is not there is not. A stream and a failure are outcomes without a result."""
        span = self.view.span
        for field in CONTENT_FIELDS.get(self.kind, ()):
            if field in self.fields or field in self.gaps:
                continue
            answer = field.startswith("response")
            if span.dropped_attributes_count:
                detail = f"the SDK dropped {span.dropped_attributes_count} attributes of this span"
                self.gaps[field] = Missing(field=field, cause="attributes_dropped", detail=detail, remedy=COUNT_LIMIT)
            elif not self.view.received:
                detail = "only log records of this span arrived"
                self.gaps[field] = Missing(field=field, cause="span_not_received", detail=detail, remedy=LOST)
            elif answer and not span.end:
                detail = "the call had not returned when the process ended"
                self.gaps[field] = Missing(field=field, cause="never_ended", detail=detail)
            elif not self.explained(field):
                remedy = "set OTELREPLAY_CAPTURE=on, or otelreplay.configure(capture=True), where the agent runs"
                self.gaps[field] = Missing(field=field, cause="content_not_captured", remedy=remedy)

    def explained(self, field: str) -> bool:
        """Is it clear why the field is not there? The function has no such argument, or ended without a result."""
        if field.startswith("request"):
            return not self.attributes.keys().isdisjoint(_CAPTURED)
        return self.failed is not None or not self.fields.keys().isdisjoint(("response.stream", "response.result"))

    def title(self) -> str:
        for attribute in _NAMED.get(self.kind, ()):
            if self.attributes.get(attribute):
                self.taken.add(attribute)
                return str(self.attributes[attribute])
        name = self.view.span.name
        return name.removeprefix("chat " if self.kind == "model" else f"{self.kind} ") or self.kind
