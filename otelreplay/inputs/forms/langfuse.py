"""Langfuse exports: a trace with its observations, or a list of observations (the UI's export, the API's answer).

Source: Langfuse's API types and the OpenTelemetry mapping of its server. An observation becomes a span in the attributes that
Langfuse's own SDK writes (``langfuse.observation.*``). Where it came in over OpenTelemetry, its metadata hold the attributes,
resource and scope of the original span, and those are put back as well: then another convention may say more of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otelreplay.errors import LimitError
from otelreplay.inputs import loose, outline, records
from otelreplay.inputs.decoding import decoded
from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.jsonscan import loads
from otelreplay.inputs.source import Source
from otelreplay.inputs.spans import refuse
from otelreplay.inputs.walking import Item, Walk
from otelreplay.spans.model import Attributes, Batch, Span

_AT = "langfuse.observation."
_LISTS = ("observations[]", "[]", "data[]", "", "[].observations[]")
_COPY = "trace.observations[]"
"""The observations inside of a trace: without their content where the same stand beside it too."""
_OVERHEAD = 400
_MEMBERS = {
    "level": "level",
    "statusMessage": "status_message",
    "input": "input",
    "output": "output",
    "model": "model.name",
    "modelParameters": "model.parameters",
    "completionStartTime": "completion_start_time",
    "promptName": "prompt.name",
    "promptVersion": "prompt.version",
}
_CONTENT = ("input", "output")
_TOLD = frozenset({"openinference.span.kind", "gen_ai.operation.name", "ai.operationId", "traceloop.span.kind"})
"""Attributes by which another convention tells what a span is."""
_PUT_BACK = ("attributes", "resourceAttributes", "scope")


def _place(paths: frozenset[str]) -> str | None:
    for keys in (("traceId", "type", "startTime"), ("traceId", "parentObservationId"), ("trace_id", "parent_observation_id")):
        if (found := outline.place(paths, *keys, lists=(*_LISTS, _COPY))) is not None:
            return found
    of_trace = outline.place(paths, "id", lists=("trace",)) is not None and "observations" in paths
    return "observations[]" if of_trace or "trace.projectId" in paths else None


def _sniff(head: Head) -> bool:
    return _place(head.paths) is not None


class _Trace:
    """What is known of the trace that a document holds."""

    def __init__(self) -> None:
        self.common: Attributes = {}
        self.own: Attributes = {}
        self.copies: list[Item] = []
        self.seen = False
        self._size = 0

    def hold(self, item: Item, reading: Reading) -> None:
        """Keep a copy until it is known whether its original follows."""
        self._size += item.size + _OVERHEAD
        if self._size > reading.max_record:
            raise LimitError(
                f"more than {reading.max_record} bytes of observations stand inside of the trace",
                code="input.limit",
                where=f"{reading.name}: {item.where}",
                next_step="export fewer observations at once",
            )
        self.copies.append(item)


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    gather, trace = Gather(reading.name, reading.tally), _Trace()
    whole = _place(Head(source.peek(1 << 20), reading.name, complete=True).paths)
    lists = {whole} if whole in ("", "[]", "data[]") else {"observations[]", "[].observations[]"}
    about = set() if whole == "" else {f"trace.{name}" for name in ("sessionId", "userId", "name", "input", "output")}
    for item in Walk(source, reading, gather, lists | about | {_COPY}, as_text={_COPY}).items():
        if item.closed:
            if item.pattern == "":
                for copy in trace.copies if not trace.seen else ():
                    yield from _copied(copy, trace, gather, reading)
                trace = _Trace()
        elif item.pattern in about:
            _note(trace, item)
        elif item.pattern == _COPY:
            trace.hold(item, reading)
        else:
            trace.seen = True
            _take(item, trace, gather, reading)
        gather.weight += item.size
        if gather.full:
            yield gather.batch()
    yield from gather.drain()


def _copied(item: Item, trace: _Trace, gather: Gather, reading: Reading) -> Iterator[Batch]:
    try:
        value = decoded(item.value, gather.tally)
    except RefusedError as refused:
        gather.refuse(item.where, str(refused))
        return
    _take(item._replace(value=value), trace, gather, reading)
    if gather.full:
        yield gather.batch()


def _note(trace: _Trace, item: Item) -> None:
    name, value = item.pattern.removeprefix("trace."), item.value
    if value is None:
        return
    known = {"sessionId": "session.id", "userId": "user.id"}.get(name)
    if known:
        trace.common[known] = loose.plain(value)
    else:
        trace.own[f"langfuse.trace.{name}"] = loose.dumped(value)


def _take(item: Item, trace: _Trace, gather: Gather, reading: Reading) -> None:
    value = item.value
    try:
        if not isinstance(value, dict):
            raise RefusedError("it is not an object")
        gather.spans.append(_span(value, trace, gather))
        reading.recognise()
    except RefusedError as error:
        refuse(gather, item, error, (value.get("traceId"), value.get("id")) if isinstance(value, dict) else (None, None))


def _span(value: dict[str, Any], trace: _Trace, gather: Gather) -> Span:
    value = {**{records.camel(key): item for key, item in value.items() if "_" in key}, **value}
    tally = gather.tally
    metadata = _parsed(value.get("metadata"))
    original = {name: _parsed(metadata.pop(name, None)) for name in _PUT_BACK if isinstance(_parsed(metadata.get(name)), dict)}
    start, end = (loose.moment(value.get(name), "a time") for name in ("startTime", "endTime"))
    parent = value.get("parentObservationId")
    written = _of_ai_sdk(value, loose.attributes(original.get("attributes"), tally))
    attributes = written | trace.common | _attributes(_without_copies(value, written), metadata)
    if not parent:
        attributes |= trace.own
    failed = value.get("level") == "ERROR"
    return Span(
        trace_id=loose.derived_id(value.get("traceId"), 32, "trace id", tally),
        span_id=loose.derived_id(value.get("id"), 16, "span id", tally),
        parent_span_id=loose.derived_id(parent, 16, "parent span id", tally) if parent else "",
        name=records.text(value.get("name"), "a name"),
        start=start,
        end=end or (start if value.get("type") == "EVENT" else 0),
        attributes=attributes,
        status_code=2 if failed else 0,
        status_message=records.text(value.get("statusMessage"), "a status message") if failed else "",
        resource=gather.resource(loose.resource(original.get("resourceAttributes"), tally)),
        scope=gather.scope(loose.scope(original.get("scope"), tally)),
    )


def _of_ai_sdk(value: dict[str, Any], written: Attributes) -> Attributes:
    """The attributes, with what the server took out of those of the Vercel AI SDK: it keeps it as input and output only."""
    operation = written.get("ai.operationId")
    if not isinstance(operation, str):
        return written
    said = value.get("output")
    names = ("ai.toolCall.args", "ai.toolCall.result")
    if operation != "ai.toolCall":
        asked = "ai.prompt.messages" if operation.rpartition(".")[2].startswith("do") else "ai.prompt"
        calls = _decoded(said)
        called = isinstance(calls, list) and calls and all(isinstance(call, dict) and "toolName" in call for call in calls)
        answered = "ai.response.object" if "Object" in operation else "ai.response.toolCalls" if called else "ai.response.text"
        names = (asked, answered)
    pairs = zip(names, (value.get("input"), said), strict=True)
    return {name: loose.dumped(loose.plain(item)) for name, item in pairs if item is not None} | written


def _without_copies(value: dict[str, Any], written: Attributes) -> dict[str, Any]:
    """The observation without input and output that an original attribute holds as well, and without a type if that was all.

    The server copies them from there, some of them in another form; what was recorded comes first.
    """
    copied = [name for name in _CONTENT if value.get(name) is not None and _holds(written, loose.dumped(value[name]))]
    kept = {**value, **dict.fromkeys(copied)}
    told = kept.get("type") != "GENERATION" and not _TOLD.isdisjoint(written)
    if told and all(kept.get(name) is None for name in _CONTENT):
        kept["type"] = None
    return kept


def _holds(written: Attributes, text: str) -> bool:
    bare, body = text.strip('"'), _decoded(text)
    structured = isinstance(body, dict | list)
    return any(
        each.strip('"') == bare or (structured and _decoded(each) == body) for each in written.values() if isinstance(each, str)
    )


def _decoded(value: Any) -> Any:
    """The value, or what its text holds as JSON."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return loads(value)
        except ValueError:
            return value
    return value


def _attributes(value: dict[str, Any], metadata: dict[str, Any]) -> Attributes:
    """What the SDK would have written."""
    found: Attributes = {}
    kind = value.get("type")
    if isinstance(kind, str):
        found[f"{_AT}type"] = kind.lower()
    for name, attribute in _MEMBERS.items():
        if (item := value.get(name)) not in (None, {}, ""):
            found[_AT + attribute] = loose.dumped(loose.plain(item))
    usage = value.get("usageDetails") or value.get("usage")
    if isinstance(usage, str):
        usage = _parsed(usage)
    if isinstance(usage, dict) and any(usage.values()):
        found[f"{_AT}usage_details"] = loose.dumped({key: item for key, item in usage.items() if type(item) is int})
    for key, item in metadata.items():
        if item is not None:
            found[f"{_AT}metadata.{key}"] = loose.dumped(loose.plain(item))
    if isinstance(version := value.get("version"), str):
        found["langfuse.version"] = version
    return found


def _parsed(value: Any) -> dict[str, Any]:
    """An object, also one that is JSON text; {} for anything else."""
    if isinstance(value, str) and value[:1] == "{":
        try:
            value = loads(value)
        except ValueError:
            return {}
    return dict(value) if isinstance(value, dict) else {}


LANGFUSE = Form("a Langfuse export", _sniff, _read)
