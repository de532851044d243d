"""Claude Code: spans ``claude_code.llm_request``, ``.tool``, ``.tool.execution``, ``.interaction``, and log records.

    span  span.type = llm_request | tool | tool.execution | interaction; the rest in the GenAI conventions, without content
    span  response.model_output, tool_input = "[TOOL INPUT: NAME]\\n{…}", event tool.output {output}: where it is switched on
    log   api_request_body, api_response_body {body: JSON of the Messages API, body_truncated}, assistant_response {response}
    log   tool_result {tool_use_id, tool_input, error}
    log   api_request {model, input_tokens, …, duration_ms}, api_error {error, status_code}, user_prompt {prompt, prompt.id}

Records name the span around the call; ``reconstruct`` gives each to its own. Where traces are off there is none: then each
api_request ends a model call, each tool_use_id is a tool's call, and each prompt.id an agent's turn. Source: what Claude Code
2.1 writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import HIDDEN, SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Logged, Reading, SpanView
from otelreplay.dialects.sequence import began, digest, in_sequence, numbers, time_of
from otelreplay.dialects.wire import json_of, request_fields, response_fields
from otelreplay.events import Failure, Missing
from otelreplay.providers import CODECS
from otelreplay.spans import LogRecord, Span, event_of

SCOPE: Final = "com.anthropic.claude_code"
_TYPE: Final = "span.type"
_KINDS: Final = {"llm_request": "model", "tool": "tool", "tool.execution": "tool", "interaction": "agent"}
_INPUT: Final = "tool_input"
_TEXT: Final = "response.model_output"
_OUTPUT: Final = "tool.output"
_API: Final = "anthropic.messages"
_AGENT: Final = "claude-code"
_USAGE: Final = (
    ("input_tokens", "input_tokens"),
    ("output_tokens", "output_tokens"),
    ("cache_read_tokens", "cache_read.input_tokens"),
    ("cache_creation_tokens", "cache_write.input_tokens"),
)
_REMEDY: Final = (
    "set OTEL_LOG_RAW_API_BODIES=1, OTEL_LOG_USER_PROMPTS=1 and OTEL_LOG_TOOL_DETAILS=1 where the agent runs, and export "
    "its logs"
)


class ClaudeCode:
    """The singleton of this module is :data:`DIALECT`."""

    name = "claude-code"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        if not view.span.scope.name.startswith(SCOPE):
            return None
        kind = view.told or _KINDS.get(str(view.span.attributes.get(_TYPE)))
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
        if view.told:
            getattr(reader, f"logged_{kind}")()
            return reader.reading(self.name, reader.told_name(), took_logs=True)
        reader.taken.add(_TYPE)
        getattr(reader, kind)()
        at = {"tool": sc.TOOL_NAME, "model": sc.REQUEST_MODEL}.get(kind, sc.AGENT_NAME)
        named = str(reader.attributes.get(at) or view.span.name or kind)
        return reader.reading(self.name, named, took_logs=bool(reader.read_logs))


DIALECT = ClaudeCode()


class _Reader(SpanReader):
    """Collects the fields of one span."""

    read_logs = 0

    def records(self, name: str) -> list[LogRecord]:
        found = [r for r in self.view.logs if _name(r) == name]
        self.read_logs += len(found)
        return found

    def model(self) -> None:
        codec = CODECS[_API]
        for record in self.records("api_request_body")[:1]:
            body = json_of(record.attributes.get("body"))
            if isinstance(body, dict):
                self.give(request_fields(body, self.intern, codec))
            else:
                detail = "the log record api_request_body holds the beginning of the request"
                self.broken["request.messages"] = Missing(field="request.messages", cause="truncated", detail=detail)
        for record in self.records("api_response_body")[:1]:
            body = json_of(record.attributes.get("body"))
            if isinstance(body, dict):
                self.give(response_fields(body, self.intern, codec))
        told = [r.attributes.get("response") for r in self.records("assistant_response")]
        texts = [t for t in told if isinstance(t, str) and t and t not in HIDDEN]
        there, text = self.payload(_TEXT, "response.messages")
        if there and isinstance(text, str) and text:
            self.taken.add(_TEXT)
            texts = [text]
        if texts:
            said = {"role": "assistant", "parts": [{"type": "text", "content": t} for t in texts]}
            self.give({"response.messages": [self.intern.message(said)]})

    def tool(self) -> None:
        self.simple(sc.TOOL_CALL_ID, "request.call_id")
        there, value = self.payload(_INPUT, "request.arguments")
        if there and isinstance(value, str):
            self.taken.add(_INPUT)
            head, newline, rest = value.partition("\n")
            self.fields["request.arguments"] = json_of(rest if newline and head.startswith("[TOOL INPUT") else value)
        for record in self.records("tool_result")[:1]:
            if record.attributes.get(_INPUT) is not None:
                self.give({"request.arguments": json_of(record.attributes[_INPUT])})
            if record.attributes.get("error"):
                self.give({"error": Failure(message=str(record.attributes["error"]))})
        for event in self.view.span.events:
            if event.name == _OUTPUT and "output" in event.attributes:
                self.result(event.attributes["output"])
        failed = self.attributes.get("error")
        if failed:
            kind = self.attributes.get(sc.ERROR_TYPE)
            self.fields["error"] = Failure(type=None if kind is None else str(kind), message=str(failed))

    def agent(self) -> None:
        self.value("user_prompt", "request.input")

    def logged_model(self) -> None:
        self.model()
        for record in self.records("api_request"):
            usage = numbers(record, _USAGE)
            self.give({"response.usage": usage} if usage else {})
            self.give({"response.model": str(record.attributes["model"])} if record.attributes.get("model") else {})
        for record in self.records("api_request_body") + self.records("api_error"):
            self.give({"request.model": str(record.attributes["model"])} if record.attributes.get("model") else {})
        for record in self.records("api_response_body"):
            self.give({"response.id": str(record.attributes["message.id"])} if record.attributes.get("message.id") else {})
        for record in self.records("api_error"):
            kind, text = record.attributes.get("status_code"), record.attributes.get("error")
            self.fields["error"] = Failure(
                type=None if kind is None else str(kind), message=None if text is None else str(text)
            )

    def logged_tool(self) -> None:
        self.tool()
        for record in self.view.logs:
            self.give(
                {"request.call_id": str(record.attributes["tool_use_id"])} if record.attributes.get("tool_use_id") else {}
            )
        for record in self.records("tool_result"):
            kind = record.attributes.get("error_type")
            if kind and "error" in self.fields:
                self.fields["error"] = self.fields["error"].model_copy(update={"type": str(kind)})
            elif str(record.attributes.get("success")).lower() == "false":
                self.give({"error": Failure(type=None if kind is None else str(kind))})
        if not self.records("tool_result"):  # asked about, and then not run or not logged
            self.marks += [m for m in self.absent() if m.field == "response.result"]

    def logged_agent(self) -> None:
        for record in self.records("user_prompt"):
            prompt = record.attributes.get("prompt")
            if isinstance(prompt, str) and prompt not in HIDDEN:
                self.give({"request.input": prompt})

    def told_name(self) -> str:
        """How a boundary is called that only records tell of."""
        if self.kind == "tool":
            return next(filter(None, map(_tool_name, self.view.logs)), "tool")
        named = self.fields.get("request.model") or self.fields.get("response.model")
        return _AGENT if self.kind == "agent" else str(named or "model")


def _name(record: LogRecord) -> str:
    return event_of(record).removeprefix("claude_code.")


def _tool_name(record: LogRecord) -> str:
    """The tool's own name; behind a server of the Model Context Protocol it stands among the parameters."""
    parameters = json_of(record.attributes.get("tool_parameters"))
    inner = parameters.get("mcp_tool_name") if isinstance(parameters, dict) else None
    return str(inner or record.attributes.get("tool_name") or "")


class _Logs:
    """The singleton is :data:`LOGS`."""

    name = "claude-code"

    def is_of(self, record: LogRecord, /) -> bool:
        """See :class:`otelreplay.dialects.reading.LogDialect`."""
        return record.scope.name.startswith(SCOPE) or event_of(record).startswith("claude_code.")

    def keeps_spans(self, span: Span, /) -> bool:
        """See :class:`otelreplay.dialects.reading.LogDialect`."""
        return span.scope.name.startswith(SCOPE)

    def boundaries(self, records: Sequence[LogRecord], /) -> list[Logged]:
        """See :class:`otelreplay.dialects.reading.LogDialect`."""
        ordered = in_sequence(records)
        prompts = {str(r.attributes["prompt.id"]) for r in ordered if _name(r) == "user_prompt" and "prompt.id" in r.attributes}

        def around(record: LogRecord) -> str:
            prompt = str(record.attributes.get("prompt.id"))
            return f"prompt {prompt}" if prompt in prompts else ""

        found = [_turn([r for r in ordered if f"prompt {r.attributes.get('prompt.id')}" == key], key) for key in
                 (f"prompt {p}" for p in sorted(prompts))]  # fmt: skip
        tools: dict[str, list[LogRecord]] = {}
        for record in ordered:
            if _name(record) in ("tool_result", "tool_decision"):
                tools.setdefault(str(record.attributes.get("tool_use_id") or digest(record)), []).append(record)
        for call, own in tools.items():
            own = sorted(own, key=lambda r: _name(r) != "tool_result")
            start = began(own[0]) if _name(own[0]) == "tool_result" else time_of(own[0])
            end = max(map(time_of, own))
            found.append(Logged(kind="tool", key=f"tool {call}", logs=tuple(own), start=start, end=end, around=around(own[0])))
        for own in _exchanges([r for r in ordered if _name(r) in _EXCHANGE]):
            start = min(began(r) if _name(r) in _ENDS else time_of(r) for r in own)
            key = f"model {own[0].attributes.get('request_body_id') or digest(own[0])}"
            end = max(map(time_of, own))
            found.append(Logged(kind="model", key=key, logs=tuple(own), start=start, end=end, around=around(own[0])))
        return found


LOGS = _Logs()
_ENDS: Final = ("api_request", "api_error")
_EXCHANGE: Final = (*_ENDS, "api_request_body", "api_response_body", "assistant_response")


def _turn(records: Sequence[LogRecord], key: str) -> Logged:
    said = tuple(r for r in records if _name(r) == "user_prompt")
    return Logged(kind="agent", key=key, logs=said, start=time_of(said[0]), end=max(map(time_of, records)))


def _exchanges(records: Sequence[LogRecord]) -> list[list[LogRecord]]:
    """The records of each model call: what ends it, the bodies that name each other, and the text that was told with it.

    A request's body stands before the end of its call, a response's body and text directly behind it, by the same source.
    """
    ends = [[r] for r in records if _name(r) in _ENDS]
    place = {id(r): n for n, r in enumerate(records)}
    by_body: dict[str, list[LogRecord]] = {}
    by_message: dict[str, list[LogRecord]] = {}
    alone: list[list[LogRecord]] = []

    def near(record: LogRecord, *, before: bool, without: tuple[str, ...]) -> list[LogRecord]:
        """The free call that ended next, before or after the record; a new one if there is none."""
        at, source = place[id(record)], record.attributes.get("query_source")
        free = [
            c for c in ends if c[0].attributes.get("query_source") == source and not any(_name(r) in without for r in c[1:])
        ]
        sides = [c for c in free if (place[id(c[0])] < at) == before]
        if not sides and before:  # written at the same time, or the clock went back
            sides, before = [c for c in free if place[id(c[0])] > at], False
        if not sides:
            alone.append([])
            return alone[-1]
        return max(sides, key=lambda c: place[id(c[0])]) if before else min(sides, key=lambda c: place[id(c[0])])

    for name, before in (("api_response_body", True), ("api_request_body", False), ("assistant_response", True)):
        for record in records:
            if _name(record) != name:
                continue
            body, message = (str(record.attributes.get(k) or "") for k in ("request_body_id", "message.uuid"))
            home = by_body.get(body) or by_message.get(message)
            if home is None:
                home = near(record, before=before, without=(name,) if name != "assistant_response" else ())
            home.append(record)
            if body:
                by_body[body] = home
            if message:
                by_message[message] = home
    return [call for call in (*ends, *alone) if call]
