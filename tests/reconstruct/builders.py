"""Spans and log records as the packages write them, small and by hand."""

import json

from otelreplay.reconstruct import reconstruct
from otelreplay.spans import LogRecord, Scope, Span, SpanEvent

TRACE = "c" * 32
LATEST = Scope(name="opentelemetry.instrumentation.genai.openai", version="1.3b0")
LEGACY = Scope(name="opentelemetry.instrumentation.openai_v2", version="2.1b0")
HANDLER = Scope(name="opentelemetry.util.genai.handler", version="1.3b0")
OWN = Scope(name="desk")


def text(role, content):
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def calls(*wanted, said=None):
    """An assistant message that asks for tools; each wanted is (id, name, arguments)."""
    parts = [] if said is None else [{"type": "text", "content": said}]
    return {
        "role": "assistant",
        "parts": parts + [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in wanted],
    }


def answer(call_id, value):
    part = {"type": "tool_call_response", "response": value} | ({"id": call_id} if call_id else {})
    return {"role": "tool", "parts": [part]}


def span(n, name="s", *, parent=None, start=None, end=None, trace=TRACE, scope=LATEST, **attributes):
    """Span number ``n``; attribute names with ``__`` for dots; fields of Span by a leading underscore."""
    fields = {k[1:]: v for k, v in attributes.items() if k.startswith("_")}
    given = {k.replace("__", "."): v for k, v in attributes.items() if not k.startswith("_")}
    at = 1000 + n * 100 if start is None else start
    return Span(
        trace_id=trace,
        span_id=f"{n:016x}",
        parent_span_id="" if parent is None else f"{parent:016x}",
        name=name,
        start=at,
        end=at + 50 if end is None else end,
        scope=scope,
        attributes=given,
        **fields,
    )


def agent(n=1, **more):
    return span(
        n,
        "invoke_agent desk",
        start=more.pop("start", 1),
        end=more.pop("end", 10**6),
        scope=more.pop("scope", HANDLER),
        gen_ai__operation__name="invoke_agent",
        gen_ai__agent__name="desk",
        **more,
    )


def model(n, messages=None, reply=None, *, parent=1, response_id=None, **more):
    held = {}
    if messages is not None:
        held["gen_ai__input__messages"] = json.dumps(messages)
    if reply is not None:
        held["gen_ai__output__messages"] = json.dumps([{**reply, "finish_reason": "stop"}])
    return span(
        n,
        "chat m",
        parent=parent,
        gen_ai__operation__name="chat",
        gen_ai__provider__name=more.pop("provider", "openai"),
        gen_ai__request__model="m",
        gen_ai__response__id=response_id or f"resp-{n}",
        **held,
        **more,
    )


def tool(n, name="find", arguments=None, result=None, *, call_id=None, parent=1, **more):
    held = {}
    if arguments is not None:
        held["gen_ai__tool__call__arguments"] = json.dumps(arguments)
    if result is not None:
        held["gen_ai__tool__call__result"] = json.dumps(result)
    if call_id is not None:
        held["gen_ai__tool__call__id"] = call_id
    return span(
        n,
        f"execute_tool {name}",
        parent=parent,
        scope=more.pop("scope", HANDLER),
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name=name,
        **held,
        **more,
    )


def log(n, name, body=None, *, at=0, trace=TRACE, old=False, scope=LEGACY, **attributes):
    """A log record of span ``n``; ``old``: the name stands in an attribute, as before SDK 1.37."""
    given = {k.replace("__", "."): v for k, v in attributes.items()} | ({"event.name": name} if old else {})
    return LogRecord(
        trace_id=trace, span_id=f"{n:016x}", event_name="" if old else name, body=body, time=at, attributes=given, scope=scope
    )


def exception(kind, message):
    return SpanEvent(
        name="exception", time=5, attributes={"exception.type": kind, "exception.message": message, "exception.stacktrace": "…"}
    )


def rebuilt(*items, **options):
    """The recording of spans and records in one list."""
    return reconstruct([i for i in items if isinstance(i, Span)], [i for i in items if isinstance(i, LogRecord)], **options)


def of_kind(recording, kind):
    return [e for e in recording.events if e.kind == kind]


def gaps(event):
    return {m.field: m.cause for m in event.missing}


def rules(event):
    return {m.field: m.rule for m in event.inferred}


ASK = [text("system", "be brief"), text("user", "where is o-1?")]
CALL = calls(("c1", "find", {"id": "o-1"}))
TOLD = answer("c1", '{"state": "late"}')
DONE = text("assistant", "it is late")


def whole_run(**more):
    """Agent, a call that asks for a tool, the tool, the call that answers."""
    return [
        agent(),
        model(2, ASK, CALL, **more),
        tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1"),
        model(4, [*ASK, CALL, TOLD], DONE, **more),
    ]
