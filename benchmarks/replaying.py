"""Replay in process: the cost of one boundary, with a history that grows by a message and a tool's result a turn."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.harness import Row, Setting, median
from otelreplay.boundary import Call
from otelreplay.canonical import dumps
from otelreplay.cassette import Cassette, header_for
from otelreplay.events import Recording
from otelreplay.pipeline.stamp import with_keys
from otelreplay.reconstruct import reconstruct
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
from otelreplay.replay import ReplayInterceptor, Session
from otelreplay.spans import Scope, Span

_GOAL = 1.0
_TURNS = 50
_TEXT = "The parcel left the depot on time and is with the carrier now, says the note in the file of this order. " * 8


def bench(setting: Setting) -> Iterator[Row]:
    """Milliseconds of processor time a boundary: model calls of up to 100 messages, and tools; and by length of the run."""
    calls = calls_of(_TURNS)
    cassette = _cassette(calls)

    def each(kind: str, last: int) -> float:
        def once() -> float:
            spent = [cost for call, cost in _replayed(cassette, calls) if call.kind == kind][-last:]
            return 1000 * sum(spent) / len(spent)

        return median(once, setting.repeat)

    model, tool = each("model", 10), each("tool", _TURNS)
    yield Row(
        f"replay of a model call with {2 * _TURNS} messages of history",
        f"{model:.2f} ms",
        "",
        f"<= {_GOAL:g} ms",
        model <= _GOAL,
    )
    yield Row("replay of a tool call", f"{tool:.2f} ms", "", f"<= {_GOAL:g} ms", tool <= _GOAL)


def growing(turns: int) -> Cassette:
    """The cassette of an agent whose history grows by a turn a call."""
    return _cassette(calls_of(turns))


def calls_of(turns: int, first: int = 0) -> list[tuple[Call, dict[str, Any]]]:
    """The calls of an agent, each with what its span holds beside at its end. ``first``: tells conversations apart."""
    history: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"type": "text", "content": f"Where are my orders, from {first} on?"}]}
    ]
    out: list[tuple[Call, dict[str, Any]]] = []
    for n in range(turns):
        asked = {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": f"c{n}", "name": "find", "arguments": {"n": first + n}}],
        }
        model = {
            "otelreplay.kind": "model", "gen_ai.operation.name": "chat", "gen_ai.provider.name": "demo",
            "gen_ai.request.model": "m", "gen_ai.request.temperature": 0.5, "gen_ai.input.messages": json.dumps(history),
        }  # fmt: skip
        end = {"gen_ai.output.messages": json.dumps([asked]), "otelreplay.result": _json(asked)}
        out.append((Call(kind="model", name="m", attributes=model), end))
        tool = {
            "otelreplay.kind": "tool", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find",
            "gen_ai.tool.call.id": f"c{n}", "gen_ai.tool.call.arguments": _json({"n": first + n}),
        }  # fmt: skip
        result = f"{first + n}: {_TEXT}"
        out.append((Call(kind="tool", name="find", attributes=tool), {"gen_ai.tool.call.result": _json(result)}))
        history += [asked, {"role": "tool", "parts": [{"type": "tool_call_response", "id": f"c{n}", "response": result}]}]
    return out


def _json(value: Any) -> str:
    return dumps(value).decode()


def _cassette(calls: list[tuple[Call, dict[str, Any]]]) -> Cassette:
    recording = recorded(calls)
    return Cassette(header=header_for(recording), events=recording.events)


def recorded(calls: list[tuple[Call, dict[str, Any]]], first: int = 0) -> Recording:
    """The recording of these calls. ``first``: how many were made before."""
    redactor = compile_policy(default_policy(), key=PseudonymKey(secret=b"the key of the recording side 00"))
    spans = [
        Span(trace_id="ab" * 16, span_id=f"{first + n + 1:016x}", name=call.kind, start=100 * (first + n) + 1,
             end=100 * (first + n) + 60, attributes={**call.attributes, **end}, scope=Scope(name="otelreplay"))
        for n, (call, end) in enumerate(calls)
    ]  # fmt: skip
    return with_keys(redactor.recording(reconstruct([redactor.span(span) for span in spans])))


def _replayed(cassette: Cassette, calls: list[tuple[Call, dict[str, Any]]]) -> Iterator[tuple[Call, float]]:
    """Each call with the seconds that its answer took."""
    redactor = compile_policy(default_policy(), key=PseudonymKey(secret=b"an ephemeral key for a replay 00"))
    session = Session(cassette, redactor=redactor)
    hook = ReplayInterceptor(session)
    for call, _ in calls:
        before = time.thread_time()
        hook.call(call)
        yield call, time.thread_time() - before
    assert session.result().exit_code == 0
