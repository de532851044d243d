"""The conformance suite of dialects: what every convention's reader must hold to, whoever wrote it.

    from otelreplay.testing.dialects import check_dialect, hostile_views

    def test_my_dialect_conforms():
        for view in [*my_views(), *hostile_views()]:
            check_dialect(MY_DIALECT, view)

A dialect that conforms reads one span by itself, twice the same; never raises; says only fields that exist; claims to have
taken only attributes that are there; never calls a field missing that it gives; and leaves its input as it was.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, get_args

from otelreplay.dialects import CONTENT_FIELDS, Dialect, Interner, Reading, SpanView
from otelreplay.events import Kind, Message
from otelreplay.spans import LogRecord, Span, SpanEvent

FIELDS = frozenset(
    {
        "request.api",
        "request.provider",
        "request.model",
        "request.params",
        "request.system",
        "request.messages",
        "request.tools",
        "request.arguments",
        "request.call_id",
        "request.query",
        "request.input",
        "request.config",
        "request.inputs",
        "response.messages",
        "response.finish_reasons",
        "response.usage",
        "response.id",
        "response.model",
        "response.result",
        "response.output",
        "response.chunks",
        "response.stream",
        "error",
        "agent",
        "versions",
        "effect",
        "idempotency_key",
    }
)
"""Every field that a reading may give."""

_ANYTHING = frozenset({"request.input", "response.output"})
"""What goes into an agent and comes out of it are messages, or values of its function."""
_MESSAGE_LISTS = ("request.messages", "response.messages", "request.input", "response.output")


def check_dialect(dialect: Dialect, view: SpanView) -> Reading | None:
    """Asserts all rules for one view; returns the reading. Raises AssertionError with the rule that was broken."""
    before = copy.deepcopy(view)
    reading = dialect.read(view, Interner())
    assert view == before, "a dialect changed the span that it was given"
    again = dialect.read(view, Interner())
    assert repr(reading) == repr(again), "a dialect read one span in two ways"
    assert isinstance(dialect.name, str), "a dialect has a name"
    assert dialect.name, "a dialect has a name"
    for attribute, field in dialect.attribute_fields.items():
        assert field in FIELDS, f"attribute_fields sends {attribute} to {field}, which is no event field"
    if reading is not None:
        _check_reading(dialect, view, reading)
    return reading


def _check_reading(dialect: Dialect, view: SpanView, reading: Reading) -> None:
    assert reading.dialect == dialect.name, "a reading names its dialect"
    assert reading.kind in get_args(Kind), f"{reading.kind} is no kind of event"
    assert isinstance(reading.name, str), "a boundary has a name"
    assert reading.fields.keys() <= FIELDS, f"unknown fields {sorted(reading.fields.keys() - FIELDS)}"
    known = set(view.span.attributes) | {k for r in view.logs for k in r.attributes}
    known |= {k for e in view.span.events for k in e.attributes}
    assert reading.taken <= known, f"took attributes that are not there: {sorted(reading.taken - known)}"
    content = {f for fields in CONTENT_FIELDS.values() for f in fields}
    for gap in reading.gaps:
        assert gap.field in content, f"{gap.field} is no content field"
        assert gap.field not in reading.fields, f"{gap.field} is given and called missing"
    for name in _MESSAGE_LISTS:
        held = reading.fields.get(name, ())
        if name in _ANYTHING and not (isinstance(held, list) and any(isinstance(m, Message) for m in held)):
            continue
        for message in held:
            assert isinstance(message, Message), f"{name} holds what is no Message"
            assert isinstance(message.get("parts"), list), f"a message of {name} has no parts"
            assert all(isinstance(p, dict) and "type" in p for p in message["parts"]), f"a part of {name} has no type"


ODD_VALUES: tuple[Any, ...] = (
    "",
    "{",
    "[",
    '"',
    "null",
    "[]",
    "{}",
    "[1]",
    '[{"role":1}]',
    '[{"role":"user","parts":null}]',
    '[{"parts":[null,1,"x",[]]}]',
    '{"a":NaN}',
    "[" * 300,
    "\ud83e",
    "a\x00b",
    None,
    True,
    0,
    -1,
    2**63 - 1,
    float("nan"),
    1.5,
    b"\xff\x00",
    [],
    {},
    [[]],
    {"": None},
    [{"role": "assistant", "parts": [{"type": "tool_call"}]}],
    {"parts": [{"text": 1}]},
    [{"role": "tool", "content": [{"text": None}]}],
    {"message": {"tool_calls": [{"function": None}]}},
    {"tool_calls": 7, "content": {"parts": "x"}},
    {"content": {"parts": [None]}},
)
"""Values that telemetry may hold under any name, and that no reader may stumble over."""


def hostile_views(names: tuple[str, ...] = ()) -> Iterator[SpanView]:
    """Views in which every attribute, body and event attribute holds odd values. ``names``: attribute names to use."""
    known = sorted({attribute for dialect in _known() for attribute in dialect.attribute_fields})
    attributes = names or (*known, "gen_ai.operation.name", "mcp.method.name")
    operations = ("chat", "execute_tool", "invoke_agent", "embeddings", "retrieval", "search_memory", "create_agent", "", None)
    for n, value in enumerate(ODD_VALUES):
        held = dict.fromkeys(attributes, value)
        for operation in operations:
            marked = held if operation is None else {**held, "gen_ai.operation.name": operation}
            yield SpanView(
                span=Span(
                    trace_id="1" * 32, span_id=f"{n:016x}", name="odd", attributes=marked, status_code=n % 3,
                    events=(SpanEvent(name="gen_ai.choice", attributes=held), SpanEvent(name="exception", attributes=held)),
                ),
                logs=tuple(
                    LogRecord(trace_id="1" * 32, span_id=f"{n:016x}", event_name=name, body=value, attributes=held)
                    for name in ("gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message", "gen_ai.choice",
                                 "gen_ai.client.inference.operation.details", "other")
                ),
                limit=1,
            )  # fmt: skip


def _known() -> tuple[Dialect, ...]:
    from otelreplay.dialects import DIALECTS

    return DIALECTS
