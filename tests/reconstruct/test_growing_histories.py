"""Traces that are one call each, whose histories grow: what is known of one makes the next cheap, and changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otelreplay.reconstruct import fragments
from otelreplay.reconstruct.fragments import Histories, fragment_of
from otelreplay.spans import Span

Turn = dict[str, Any]


def _said(role: str, text: str) -> Turn:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _call(number: int, history: list[Turn], reply: Turn) -> Span:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps(history),
        "gen_ai.output.messages": json.dumps([reply]),
    }
    return Span(trace_id=f"{number:032x}", span_id="1" * 16, name="chat m", start=number, end=number + 1, attributes=attributes)


def _conversation(name: str, turns: int, *, at: int) -> list[Span]:
    system = [_said("system", f"You are {name}")] if name else []
    history, spans = [*system, _said("user", "start")], []
    for n in range(turns):
        reply = _said("assistant", f"{name} {n}")
        if n % 3 == 1:
            reply["parts"].append({"type": "tool_call", "id": f"{name}{n}", "name": "look", "arguments": {"n": n}})
        spans.append(_call(at + 10 * n, history, reply))
        history = [*history, reply]
        if n % 3 == 1:
            told = {"type": "tool_call_response", "id": f"{name}{n}", "response": "seen"}
            history.append({"role": "tool", "parts": [told]})
        elif n % 3 == 2:
            history.append(_said("user", f"go on {n}"))  # else the request ends in an assistant turn
    return spans


def _interleaved() -> list[Span]:
    several = [_conversation(name, 9, at=n + 1) for n, name in enumerate(("", "one", "two"))]
    return sorted([span for spans in several for span in spans], key=lambda span: span.start)


def test_what_is_known_of_earlier_traces_changes_no_fragment() -> None:
    histories = Histories()
    for span in _interleaved():
        assert fragment_of([span], [], histories) == fragment_of([span], [])


def test_forgetting_changes_no_fragment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "_MANY", 3)
    histories = Histories()
    for span in _interleaved():
        assert fragment_of([span], [], histories) == fragment_of([span], [])


def test_of_a_history_only_what_is_new_is_digested(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    step = fragments._step
    monkeypatch.setattr(fragments, "_step", lambda state, turn: steps.append(turn) or step(state, turn))
    histories = Histories()
    history = [_said("user", "start")]
    for n in range(40):
        fragment_of([_call(n + 1, history, _said("assistant", f"r{n}"))], [], histories)
        history = [*history, _said("assistant", f"r{n}"), _said("user", f"u{n}")]
    assert len(steps) <= 40 * 4
