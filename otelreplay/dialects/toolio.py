"""What packages write around a tool's arguments and around its result, taken off.

{"args": [], "kwargs": {…}}   {"kwargs": {…}}       how a Python function was called (smolagents: sanitize_inputs_outputs, too)
{"input_str": "{'city': …}", "tags": …, "inputs": …}  what LangChain gives to a callback
{'city': 'Rome'}                                     what Python prints
{"input": {…}, "options": null}                      how BeeAI runs a tool
{"output": {a tool message}}   a tool message        LangChain: the content and the id of the call
{"blocks": […], "raw_output": …, "tool_name": …}     LlamaIndex
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

from otelreplay.dialects.langchain import body_of, is_message
from otelreplay.dialects.wire import json_of

_CALLBACK: Final = frozenset({"input_str", "tags", "metadata", "inputs", "kwargs"})
_CALLED: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
_RUN: Final = frozenset({"input", "options"})
_REQUEST: Final = frozenset({"tool_name", "arguments"})
_AROUND: Final = frozenset({"output", "kwargs", "tags"})


def literal(value: Any) -> Any:
    """The value behind JSON text, or behind what Python prints of a dict or a list; other text as it is."""
    decoded = json_of(value)
    if isinstance(decoded, str) and decoded.lstrip()[:1] in ("{", "["):
        try:
            return ast.literal_eval(decoded.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return decoded
    return decoded


def arguments_of(value: Any) -> Any:
    """The arguments of a call, by name where the package kept the names."""
    return unwrapped(literal(value))


def unwrapped(given: Any, tool: str = "") -> Any:
    """Decoded arguments without what a package put around them. ``tool``: the name of the tool."""
    if not isinstance(given, dict):
        return given
    if tool and given.keys() == _REQUEST and given["tool_name"] == tool:
        return given["arguments"]
    if "input_str" in given and given.keys() <= _CALLBACK:
        inputs = given.get("inputs")
        return inputs if isinstance(inputs, dict) and inputs else literal(given["input_str"])
    if given.keys() == _RUN and isinstance(given["input"], dict) and given["options"] is None:
        return given["input"]
    if isinstance(given.get("kwargs"), dict) and given.keys() <= _CALLED and not given.get("args"):
        return given["kwargs"]
    return given


def by_name(given: Any, names: Sequence[str]) -> Any:
    """Arguments of which some were given by position, as ``names`` say what they are called; others as they are."""
    if not isinstance(given, dict) or not given.keys() <= _CALLED or not isinstance(given.get("args"), list):
        return given
    args, kwargs = given["args"], given.get("kwargs")
    rest = kwargs if isinstance(kwargs, dict) else {}
    if not args or len(args) > len(names) or rest.keys() & set(names[: len(args)]):
        return given
    return {**dict(zip(names, args, strict=False)), **rest}


def call_id_of(value: Any) -> str:
    """The id of the call that a callback is told beside the arguments; empty where it is not."""
    given = json_of(value)
    inner = given.get("kwargs") if isinstance(given, dict) and "input_str" in given else None
    return str(inner.get("tool_call_id") or "") if isinstance(inner, dict) else ""


def result_of(value: Any) -> tuple[str, Any]:
    """(id of the call where it is told, what the tool gave)."""
    got = json_of(value)
    told = answer_in(got)
    return told if told is not None else ("", got)


def answer_in(got: Any) -> tuple[str, Any] | None:
    """(id of the call, what the tool gave) of a decoded result in which a framework wrapped it; None for any other."""
    if not isinstance(got, dict):
        return None
    inner = got["output"] if "output" in got and got.keys() <= _AROUND else got
    if isinstance(inner, dict) and is_message(inner) and "tool_call_id" in body_of(inner):
        body = body_of(inner)
        return str(body.get("tool_call_id") or ""), json_of(body.get("content"))
    if {"raw_output", "tool_name", "blocks"} <= got.keys():
        return "", got["raw_output"]
    return None
