"""Recordings with MCP in them, written as the spans that instrumentations make; and a server over one."""

import json

from otelreplay.redaction import off_policy
from otelreplay.replay import Session
from otelreplay.spans import Scope, Span
from otelreplay.stubs.mcp import McpServer, catalogue_of
from tests.replay.builders import TRACE, Tape, session

SDK = Scope(name="mcp-python-sdk")
WHOLE = Scope(name="opentelemetry.instrumentation.mcp.instrumentation", version="0.62.4")
MODELS = Scope(name="opentelemetry.instrumentation.genai.openai", version="1.3b0")


class Calls(Tape):
    """Spans of an MCP client, and of models that are told of its tools."""

    def span(self, name, attributes, *, scope=SDK, error=False):
        self.now += 100
        self.spans.append(
            Span(
                trace_id=TRACE, span_id=f"{len(self.spans) + 1:016x}", parent_span_id="", name=name, start=self.now,
                end=self.now + 50, attributes=attributes, scope=scope, status_code=2 if error else 0,
            )
        )  # fmt: skip

    def called(self, tool, arguments, result=None, *, error=None, **more):
        """As the conventions of 1.39 have it, with content."""
        held = {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        held["gen_ai.tool.call.arguments"] = json.dumps(arguments)
        if result is not None:
            held["gen_ai.tool.call.result"] = result if isinstance(result, str) else json.dumps(result)
        if error:
            held["error.type"] = error
        self.span(f"tools/call {tool}", held | more, error=bool(error))

    def method(self, method, **more):
        """Of any other method there is no content."""
        self.span(method, {"mcp.method.name": method} | more)

    def whole(self, method, params, result):
        """As a package writes it that keeps requests and answers."""
        said = {"method": method, "params": params}
        held = {"traceloop.entity.input": json.dumps(said), "traceloop.entity.output": json.dumps(result)}
        self.span(f"{method}.mcp", held, scope=WHOLE)

    def offers(self, *tools):
        """A model call that declares tools: (name, description, parameters)."""
        declared = [{"type": "function", "name": n, "description": d, "parameters": p} for n, d, p in tools]
        held = {
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m",
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hello"}]}]),
            "gen_ai.tool.definitions": json.dumps(declared),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": "hi"}], "finish_reason": "stop"}]
            ),
        }  # fmt: skip
        self.span("chat m", held, scope=MODELS)


class Desk:
    """A client without a transport: what it asks is answered at once."""

    def __init__(self, tape, *, name="", local=(), policy=None, **more):
        held = tape.cassette(policy)
        self.session: Session = session(held, policy or off_policy(), **more)
        self.server = McpServer(self.session, catalogue_of(held.events, local=local))
        self.name, self.number = name, 0

    def ask(self, method, at=None, **params):
        """The whole answer."""
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        answer = json.loads(self.server.answer(json.dumps(message).encode(), server=self.name if at is None else at))
        assert answer["id"] == self.number
        return answer

    def get(self, method, at=None, **params):
        """The result of an answer that is no error."""
        answer = self.ask(method, at, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def call(self, tool, arguments, at=None):
        return self.ask("tools/call", at, name=tool, arguments=arguments)

    def tools(self, at=None):
        return [tool["name"] for tool in self.get("tools/list", at)["tools"]]

    def first(self):
        found = self.session.result().first_divergence
        return None if found is None else found.code


def text(value):
    """A result of one block of text."""
    return {"content": [{"type": "text", "text": value}], "isError": False}
