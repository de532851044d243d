"""OpenAI chat completions as a stream.

For each choice: its role, then its texts, refusal and reasoning, then its calls (index, id and name first, the arguments
after them), then why it ended. The tokens come last, in a chunk without choices, where ``stream_options.include_usage`` asks
for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from otelreplay.providers.fields import as_dict, as_list
from otelreplay.stubs.streams.cutting import by_tokens, slices, words

Value = dict[str, Any]

_IN_PIECES: Final = ("reasoning_content", "content", "refusal")
_CALLS: Final = (("function", "arguments"), ("custom", "input"))


def pieces(body: Value, *, usage: bool = False) -> list[Value]:
    """The chunks of a response. ``usage``: whether the request asked for the tokens."""
    base = {k: v for k, v in body.items() if k not in ("choices", "usage")} | {"object": "chat.completion.chunk"}
    beside = {"usage": None} if usage else {}
    chunks = [
        {**base, "choices": [choice], **beside}
        for n, one in enumerate(as_list(body.get("choices")))
        for choice in _choice(n, one)
    ]
    return [*chunks, {**base, "choices": [], "usage": body.get("usage")}] if usage else chunks


def _choice(n: int, choice: Any) -> Iterator[Value]:
    if not isinstance(choice, dict):
        return
    message, logprobs = as_dict(choice.get("message")), choice.get("logprobs")
    index = choice.get("index", n)
    for delta, tokens in _deltas(message, logprobs if isinstance(logprobs, dict) else {}):
        yield {"index": index, "delta": delta, "logprobs": tokens, "finish_reason": None}
    end = {k: v for k, v in choice.items() if k not in ("index", "message", "logprobs")}
    yield {"index": index, "delta": {}, "logprobs": None, "finish_reason": None, **end}


def _deltas(message: Value, logprobs: Value) -> Iterator[tuple[Value, Value | None]]:
    """(what is new in the message, the log probabilities that belong to it)."""
    first = {k: v for k, v in message.items() if k != "tool_calls" and not (k in _IN_PIECES and isinstance(v, str))}
    called = first.get("function_call")
    if isinstance(called, dict) and isinstance(called.get("arguments"), str):
        first["function_call"] = {**called, "arguments": ""}
    if isinstance(message.get("content"), str):
        first["content"] = ""
    left = {k: v for k, v in logprobs.items() if not (k in ("content", "refusal") and isinstance(v, list))}
    yield {"role": "assistant", **first}, left if any(v is not None for v in left.values()) else None
    for key in _IN_PIECES:
        text = message.get(key)
        if isinstance(text, str):
            yield from _text(key, text, logprobs.get(key))
    if isinstance(called, dict) and isinstance(called.get("arguments"), str):
        for piece in slices(called["arguments"]):
            yield {"function_call": {"arguments": piece}}, None
    for index, call in enumerate(as_list(message.get("tool_calls"))):
        for part in _call(call):
            yield {"tool_calls": [{"index": index, **part}]}, None


def _text(key: str, text: str, tokens: Any) -> Iterator[tuple[Value, Value | None]]:
    if key == "reasoning_content":
        cut: list[tuple[str, list[Any]]] = [(piece, []) for piece in words(text)]
    else:
        cut = by_tokens(text, tokens)
    if not cut and key != "content":
        cut = [("", [])]
    for piece, entries in cut:
        other = "refusal" if key == "content" else "content"
        yield {key: piece}, {key: entries, other: None} if entries else None


def _call(call: Any) -> Iterator[Value]:
    if not isinstance(call, dict):
        return
    for kind, key in _CALLS:
        inner = call.get(kind)
        if isinstance(inner, dict) and isinstance(inner.get(key), str):
            yield {**{k: v for k, v in call.items() if k != "index"}, kind: {**inner, key: ""}}
            for piece in slices(inner[key]):
                yield {kind: {key: piece}}
            return
    yield {k: v for k, v in call.items() if k != "index"}
