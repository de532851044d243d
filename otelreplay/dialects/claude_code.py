"""Claude Code: spans ``claude_code.llm_request``, ``.tool``, ``.tool.execution``, ``.interaction``, and log records.

    span  span.type = llm_request | tool | tool.execution | interaction; the rest in the GenAI conventions, without content
    span  response.model_output, tool_input = "[TOOL INPUT: NAME]\\n{…}", event tool.output {output}: where it is switched on
    log   api_request_body, api_response_body {body: JSON of the Messages API, body_truncated}, assistant_response {response}
    log   tool_result {tool_use_id, tool_input, error}

Records name the span around the call; ``reconstruct`` gives each to its own. Source: what Claude Code 2.1 writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from otelreplay import semconv as sc
from otelreplay.dialects.collecting import SpanReader
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.reading import Reading, SpanView
from otelreplay.dialects.wire import json_of, request_fields, response_fields
from otelreplay.events import Failure, Missing
from otelreplay.providers import CODECS
from otelreplay.spans import LogRecord

SCOPE: Final = "com.anthropic.claude_code"
_TYPE: Final = "span.type"
_KINDS: Final = {"llm_request": "model", "tool": "tool", "tool.execution": "tool", "interaction": "agent"}
_INPUT: Final = "tool_input"
_TEXT: Final = "response.model_output"
_OUTPUT: Final = "tool.output"
_API: Final = "anthropic.messages"
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
        kind = _KINDS.get(str(view.span.attributes.get(_TYPE)))
        if kind is None:
            return None
        reader = _Reader(view, kind, intern, remedy=_REMEDY)
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
        found = [r for r in self.view.logs if r.name in (name, f"claude_code.{name}")]
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
        texts = [str(r.attributes["response"]) for r in self.records("assistant_response") if r.attributes.get("response")]
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
