"""Chunks of a streamed answer as the body that the same call gives unstreamed. Pure; reads what the SDKs and the wire hold.

A stream that was left early gives the body as far as it came: a call's arguments may be half a JSON text, a reason is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from otelreplay.providers import anthropic_messages, gemini, openai_chat, openai_responses
from otelreplay.providers.fields import as_dict, as_list
from otelreplay.providers.gemini_parts import spelled
from otelreplay.providers.parts import read_arguments

Value = dict[str, Any]

_ANTHROPIC = frozenset({"message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"})


def assemble(chunks: Sequence[Any]) -> tuple[str, Value] | None:
    """(name of the API, response body); None where the chunks are those of no API. Never raises."""
    dicts = [chunk for chunk in chunks if isinstance(chunk, dict)]
    if not dicts or len(dicts) != len(chunks):
        return None
    for chunk in dicts:
        kind = chunk.get("type")
        if isinstance(kind, str) and kind in _ANTHROPIC:
            return anthropic_messages.API, _anthropic(dicts)
        if isinstance(kind, str) and kind.startswith("response."):
            return openai_responses.API, _responses(dicts)
        if any("delta" in as_dict(choice) for choice in as_list(chunk.get("choices"))):
            return openai_chat.API, _chat(dicts)
        if isinstance(chunk.get("candidates"), list):
            return gemini.API, _gemini(dicts)
    return None


# ---- OpenAI chat completions -------------------------------------------------------------------------------------------

_JOINED = frozenset({"content", "refusal", "reasoning_content", "arguments", "input"})
"""Texts of a delta that go on where the last one ended; of everything else the last value counts."""


def _chat(chunks: Iterable[Value]) -> Value:
    body: Value = {}
    choices: dict[int, Value] = {}
    for chunk in chunks:
        body |= {k: v for k, v in chunk.items() if k not in ("choices", "object") and v is not None}
        for choice in map(as_dict, as_list(chunk.get("choices"))):
            index = _number(choice.get("index"))
            held = choices.setdefault(index, {"index": index, "message": {"role": "assistant"}})
            _grow(held["message"], as_dict(choice.get("delta")))
            held |= {k: v for k, v in choice.items() if k not in ("index", "delta", "logprobs") and v is not None}
            _add_logprobs(held, choice.get("logprobs"))
    return {"object": "chat.completion", **body, "choices": [choices[n] for n in sorted(choices)]}


def _add_logprobs(held: Value, new: Any) -> None:
    """Each chunk has those of its own tokens."""
    if not isinstance(new, dict):
        return
    known = held["logprobs"] = as_dict(held.get("logprobs"))
    for key, value in new.items():
        if isinstance(value, list) and isinstance(known.get(key), list):
            known[key] = [*known[key], *value]
        elif value is not None or key not in known:
            known[key] = value


def _grow(held: Value, delta: Value) -> None:
    for key, value in delta.items():
        if value is None:
            held.setdefault(key, None)
        elif key in _JOINED and isinstance(value, str):
            held[key] = (held.get(key) or "") + value
        elif key == "tool_calls" and isinstance(value, list):
            calls = held[key] = held.get(key) or []
            for call in map(as_dict, value):
                _grow(_nth(calls, _number(call.pop("index", len(calls)))), call)
        elif isinstance(value, dict):
            inner = held[key] = held.get(key) or {}
            _grow(inner, value)
        else:
            held[key] = value


def _nth(items: list[Value], n: int) -> Value:
    n = min(n, 1000)
    items += ({} for _ in range(n + 1 - len(items)))
    return items[n]


def _number(value: Any) -> int:
    return value if type(value) is int and value >= 0 else 0


# ---- Anthropic messages ------------------------------------------------------------------------------------------------

_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def _anthropic(chunks: Iterable[Value]) -> Value:
    body: Value = {}
    blocks: dict[int, Value] = {}
    inputs: dict[int, str] = {}
    for chunk in chunks:
        kind, index = chunk.get("type"), _number(chunk.get("index"))
        delta = as_dict(chunk.get("delta"))
        if kind == "message_start":
            body = as_dict(chunk.get("message"))
        elif kind == "content_block_start":
            blocks[index] = as_dict(chunk.get("content_block"))
        elif kind == "content_block_delta" and delta.get("type") == "input_json_delta":
            inputs[index] = inputs.get(index, "") + str(delta.get("partial_json") or "")
        elif kind == "content_block_delta" and delta.get("type") == "citations_delta":
            block = blocks.setdefault(index, {})
            block["citations"] = [*as_list(block.get("citations")), delta.get("citation")]
        elif kind == "content_block_delta" and (name := _DELTAS.get(str(delta.get("type")))):
            block = blocks.setdefault(index, {"type": name, name: ""})
            block[name] = (block.get(name) or "") + str(delta.get(name) or "")
        elif kind == "message_delta":
            body |= {k: v for k, v in delta.items() if k != "type"}
            usage = {k: v for k, v in as_dict(chunk.get("usage")).items() if v is not None}
            body["usage"] = as_dict(body.get("usage")) | usage
    for index, text in inputs.items():
        if text:
            blocks.setdefault(index, {"type": "tool_use"})["input"] = read_arguments(text)
    return {**body, "content": [blocks[n] for n in sorted(blocks)]}


# ---- OpenAI responses --------------------------------------------------------------------------------------------------

_ENDS = ("response.completed", "response.incomplete", "response.failed")


def _responses(chunks: Sequence[Value]) -> Value:
    """The last event holds the whole response; without it, what was said until then."""
    body: Value = {}
    items: dict[int, Value] = {}
    for chunk in chunks:
        kind, index = str(chunk.get("type")), _number(chunk.get("output_index"))
        if isinstance(chunk.get("response"), dict):
            body = chunk["response"]
            if kind in _ENDS:
                return body
        elif kind in ("response.output_item.added", "response.output_item.done"):
            items[index] = as_dict(chunk.get("item"))
        elif kind in ("response.output_text.delta", "response.refusal.delta"):
            _say(items.setdefault(index, {"type": "message", "role": "assistant"}), kind, chunk)
        elif kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            item = items.setdefault(index, {"type": "function_call"})
            key = "arguments" if "function" in kind else "input"
            item[key] = str(item.get(key) or "") + str(chunk.get("delta") or "")
    return {**{k: v for k, v in body.items() if k != "status"}, "output": [items[n] for n in sorted(items)]}


def _say(item: Value, kind: str, chunk: Value) -> None:
    word, key = ("refusal", "refusal") if "refusal" in kind else ("output_text", "text")
    content = item["content"] = [dict(block) for block in map(as_dict, as_list(item.get("content")))]
    block = _nth(content, _number(chunk.get("content_index")))
    block.setdefault("type", word)
    block[key] = str(block.get(key) or "") + str(chunk.get("delta") or "")


# ---- Gemini ------------------------------------------------------------------------------------------------------------


def _gemini(chunks: Iterable[Value]) -> Value:
    body: Value = {}
    candidates: dict[int, Value] = {}
    for chunk in chunks:
        body |= {k: v for k, v in spelled(chunk, gemini.RESPONSE_SPELLING).items() if k != "candidates" and v is not None}
        for sent in map(as_dict, as_list(chunk.get("candidates"))):
            index = _number(sent.get("index"))
            held = candidates.setdefault(index, {"content": {"role": "model", "parts": []}})
            content = as_dict(sent.pop("content", None))
            parts = held["content"]["parts"]
            for part in map(as_dict, as_list(content.get("parts"))):
                _add_part(parts, {k: v for k, v in part.items() if v is not None})
            held |= {k: v for k, v in sent.items() if v is not None}
    return {**body, "candidates": [candidates[n] for n in sorted(candidates)]}


def _add_part(parts: list[Value], part: Value) -> None:
    """A text goes on where the last one of its kind ended."""
    last: Mapping[str, Any] = parts[-1] if parts else {}
    same = isinstance(part.get("text"), str) and isinstance(last.get("text"), str) and _beside(last) == _beside(part)
    if same:
        parts[-1] = {**part, "text": last["text"] + part["text"]}
    else:
        parts.append(part)


def _beside(part: Mapping[str, Any]) -> Value:
    return {k: v for k, v in part.items() if k != "text"}
