"""Spans as the decorators emit them, by hand."""

from otelreplay import canonical
from otelreplay.dialects import Interner, SpanView
from otelreplay.dialects.decorated import DIALECT
from otelreplay.spans import Scope, Span, SpanEvent

SCOPE = Scope(name="otelreplay", version="0.1.0")
TRACE = "d" * 32
OPERATIONS = {"tool": "execute_tool", "model": "chat", "retrieval": "retrieval", "agent": "invoke_agent"}
NAMED = {"tool": "gen_ai.tool.name", "retrieval": "gen_ai.data_source.id", "agent": "gen_ai.agent.name"}


def js(value):
    return canonical.dumps(value).decode()


def said(role, text):
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def own(n, kind, name="f", *, parent=None, start=None, end=None, trace=TRACE, more=None, **fields):
    """Span number ``n`` of a decorated function; ``more``: attributes by their full names."""
    at = 1000 + n * 100 if start is None else start
    attributes = {"otelreplay.kind": kind, "otelreplay.function": f"app:{name}"}
    if kind in OPERATIONS:
        attributes["gen_ai.operation.name"] = OPERATIONS[kind]
    if kind in NAMED:
        attributes[NAMED[kind]] = name
    title = f"{OPERATIONS.get(kind, kind)} {name}" if kind not in ("clock", "random", "id") else kind
    return Span(
        trace_id=trace, span_id=f"{n:016x}", parent_span_id="" if parent is None else f"{parent:016x}", name=title,
        kind=3 if kind == "model" else 1, start=at, end=at + 50 if end is None else end, scope=SCOPE,
        attributes=attributes | (more or {}), **fields,
    )  # fmt: skip


def own_tool(n, name="find", arguments=None, result=None, *, more=None, **rest):
    held = {"gen_ai.tool.call.arguments": js({} if arguments is None else arguments)}
    if rest.get("end") != 0:
        held["gen_ai.tool.call.result"] = js(result)
    return own(n, "tool", name, more=held | (more or {}), **rest)


def own_model(n, messages=None, reply=None, *, model="m", more=None, **rest):
    held = {"gen_ai.request.model": model} if model else {}
    if messages is not None:
        held["gen_ai.input.messages"] = js(messages)
    if reply is not None:
        held["gen_ai.output.messages"] = js([reply])
    return own(n, "model", model or "f", more=held | (more or {}), **rest)


def own_agent(n=1, name="desk", given=None, output=None, *, more=None, **rest):
    held = {"otelreplay.input": js({} if given is None else given), "otelreplay.output": js(output)}
    return own(n, "agent", name, start=rest.pop("start", 1), end=rest.pop("end", 10**6), more=held | (more or {}), **rest)


def failed(kind, message, held):
    """What a failed call adds: (attributes, fields of the span)."""
    event = {"exception.type": kind, "exception.message": message, "exception.stacktrace": "…"}
    return (
        {"error.type": kind, "otelreplay.error": js(held)},
        {"status_code": 2, "status_message": message, "events": (SpanEvent(name="exception", time=5, attributes=event),)},
    )


def read(span, **view):
    return DIALECT.read(SpanView(span=span, **view), Interner())
