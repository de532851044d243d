"""Codex: log records, one a step of a conversation. Its spans are of its inner workings and tell no boundary.

    codex.user_prompt     {prompt}
    codex.api_request     {duration_ms, http.response.status_code, error.message}         one an attempt, when the stream begins
    codex.sse_event       {event.kind = response.created | …; at response.completed: input_token_count, output_token_count, …}
    codex.tool_result     {tool_name, call_id, arguments, output, success, duration_ms, mcp_server}
    codex.agent_response  {response}                                                     where it is switched on

All carry ``conversation.id`` and ``model``. System prompt, tools and history are never written. A model call is what lies
between two ends of a stream; its reply asked for the tools whose results were written before the next stream began, and the
kinds of the stream's events tell whether it said something besides. Source: what Codex 0.171 writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from otelreplay.dialects.collecting import HIDDEN, SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Logged, Reading, SpanView
from otelreplay.dialects.sequence import began, digest, in_sequence, numbers, time_of
from otelreplay.dialects.wire import json_of
from otelreplay.events import Failure, Inferred, Missing
from otelreplay.spans import LogRecord, Span, event_of

_PREFIX: Final = "codex."
_AGENT: Final = "codex"
_USAGE: Final = (
    ("input_token_count", "input_tokens"),
    ("output_token_count", "output_tokens"),
    ("cached_token_count", "cache_read.input_tokens"),
    ("reasoning_token_count", "reasoning.output_tokens"),
)
_PROMPT: Final = "set otel.log_user_prompt=true in the configuration of Codex"
_NEVER: Final = "Codex writes no {}; put a recording proxy of the model's API between Codex and the provider"
_WHAT: Final = {
    "request.messages": "history of a request",
    "request.system": "system prompt",
    "request.tools": "tool definitions",
    "response.messages": "text of a reply",
}
_STREAM: Final = ("api_request", "websocket_request", "sse_event", "agent_response")
_LAST: Final = ("response.completed", "response.failed", "response.incomplete")


class Codex:
    """The singleton of this module is :data:`DIALECT`."""

    name = "codex"
    attribute_fields: Mapping[str, str] = {}

    def read(self, view: SpanView, intern: Interner, /) -> Reading | None:
        """See :class:`otelreplay.dialects.reading.Dialect`."""
        if not view.told or not view.logs or not LOGS.is_of(view.logs[0]):
            return None
        reader = _Reader(view, view.told, intern, remedy=_PROMPT)
        name = getattr(reader, view.told)()
        reading = reader.reading(self.name, name, took_logs=True)
        if view.told != "model":
            return reading
        gaps = tuple(
            Missing(field=f, cause="not_carried_by_convention", remedy=_NEVER.format(what))
            for f, what in _WHAT.items()
            if f not in reader.fields
        )
        return Reading(
            dialect=self.name,
            kind="model",
            name=name,
            fields=reader.fields,
            gaps=gaps,
            marks=tuple(reader.marks),
            took_logs=True,
        )


DIALECT = Codex()


class _Reader(SpanReader):
    """Collects the fields of one boundary."""

    def attribute(self, name: str) -> Any:
        """The first record's that has it."""
        return next((r.attributes[name] for r in self.view.logs if r.attributes.get(name) not in (None, "")), None)

    def model(self) -> str:
        named = self.attribute("model") or self.attribute("slug")
        self.give({"request.model": str(named)} if named else {})
        for record in self.view.logs:
            usage = numbers(record, _USAGE)
            self.give({"response.usage": usage} if usage else {})
            failed = record.attributes.get("error.message")
            if failed:
                self.fields["error"] = Failure(message=str(failed))
        self.reply()
        return str(named or "model")

    def reply(self) -> None:
        """What was said, where that is written, and the calls that tools answered."""
        texts = [str(t) for r in self.view.logs if _name(r) == "agent_response" and (t := r.attributes.get("response"))]
        parts: list[dict[str, Any]] = [{"type": "text", "content": t} for t in texts]
        calls = [r for r in self.view.logs if _name(r) == "tool_result"]
        for record in calls:
            call, given = record.attributes.get("call_id"), record.attributes.get("arguments")
            about = {"id": str(call)} if call else {}
            told = {} if given is None else {"arguments": json_of(given)}
            parts.append({"type": "tool_call", **about, "name": str(record.attributes.get("tool_name") or ""), **told})
        if not parts or self.failed or "error" in self.fields:
            return
        self.fields["response.messages"] = [self.intern.message({"role": "assistant", "parts": parts})]
        if calls:
            source = f"{self.view.span.key}:log.codex.tool_result"
            self.marks.append(Inferred(field="response.messages", source=source, rule="reply_calls_from_tool_records"))
        kinds = {str(r.attributes.get("event.kind")) for r in self.view.logs if _name(r) == "sse_event"}
        if not texts and (kinds <= set(_LAST) or any(k.startswith("response.output_text") for k in kinds)):
            detail = "what the reply said beside its calls is not written"
            remedy = _NEVER.format(_WHAT["response.messages"])
            self.marks.append(
                Missing(field="response.messages[0].parts", cause="not_carried_by_convention", detail=detail, remedy=remedy)
            )

    def tool(self) -> str:
        call, given, got = (self.attribute(n) for n in ("call_id", "arguments", "output"))
        self.give({"request.call_id": str(call)} if call else {})
        self.give({"request.arguments": json_of(given)} if given is not None else {})
        if str(self.attribute("success")).lower() == "false":
            self.give({"error": Failure(message=None if got is None else str(got))})
        elif got is not None:
            self.result(got)
        return str(self.attribute("tool_name") or "tool")

    def agent(self) -> str:
        prompt = self.attribute("prompt")
        if isinstance(prompt, str) and prompt not in HIDDEN:
            self.give({"request.input": prompt})
        return _AGENT


def _name(record: LogRecord) -> str:
    return event_of(record).removeprefix(_PREFIX)


class _Logs:
    """The singleton is :data:`LOGS`."""

    name = "codex"

    def is_of(self, record: LogRecord, /) -> bool:
        """See :class:`otelreplay.dialects.reading.LogDialect`."""
        return event_of(record).startswith(_PREFIX)

    def keeps_spans(self, _span: Span, /) -> bool:
        """See :class:`otelreplay.dialects.reading.LogDialect`."""
        return False

    def boundaries(self, records: Sequence[LogRecord], /) -> list[Logged]:
        """See :class:`otelreplay.dialects.reading.LogDialect`."""
        found: list[Logged] = []
        calls: list[tuple[list[LogRecord], str]] = []
        around, over = "", True
        turns: dict[str, list[LogRecord]] = {}
        for record in in_sequence(records):
            name = _name(record)
            if name == "user_prompt":
                around = f"prompt {digest(record)}"
            if around:
                turns.setdefault(around, []).append(record)
            if name == "tool_result":
                call = str(record.attributes.get("call_id") or digest(record))
                start, end = began(record), time_of(record)
                found.append(Logged(kind="tool", key=f"tool {call}", logs=(record,), start=start, end=end, around=around))
            if name in _STREAM and over and name != "agent_response":
                calls.append(([], around))
                over = False
            if calls and name in (*_STREAM, "tool_result"):
                calls[-1][0].append(record)
                over = over or _is_last(record)
        found += [_turn(key, own) for key, own in turns.items()]
        return found + [_call(own, key) for own, key in calls if any(map(_of_stream, own))]


LOGS = _Logs()


def _is_last(record: LogRecord) -> bool:
    kind = record.attributes.get("event.kind")
    return (_name(record) == "sse_event" and kind in _LAST) or bool(record.attributes.get("error.message"))


def _of_stream(record: LogRecord) -> bool:
    """Does it tell that there was a reply, or that there was none?"""
    return _name(record) == "sse_event" or bool(record.attributes.get("error.message"))


def _turn(key: str, records: Sequence[LogRecord]) -> Logged:
    return Logged(kind="agent", key=key, logs=(records[0],), start=time_of(records[0]), end=max(map(time_of, records)))


def _call(own: Sequence[LogRecord], around: str) -> Logged:
    stream = [r for r in own if _name(r) != "tool_result"]
    start = min(began(r) if _name(r) == "api_request" else time_of(r) for r in stream)
    end = max(map(time_of, stream))
    return Logged(kind="model", key=f"model {digest(stream[0])}", logs=tuple(own), start=start, end=end, around=around)
