"""OpenAI chat completions (also what most other providers imitate): ``POST /v1/chat/completions``.

Source of the format: OpenAI's API reference and the types of its Python SDK. Messages are in :mod:`.chat_messages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.providers.bodies import (
    not_a_body,
    put_usage,
    reasons,
    summed,
    take_list,
    take_text,
    take_tools,
    take_usage,
    word_of,
)  # fmt: skip
from otelreplay.providers.chat_messages import BLOCKS, CALLS, decode_message, encode_message, encode_plain
from otelreplay.providers.codec import Codec, Value
from otelreplay.providers.fields import Filling, Table, as_dict, as_list, present, put, take
from otelreplay.providers.messages import Message, closed, opaque, split_system, spread_system
from otelreplay.providers.messages import opened as opened_message
from otelreplay.providers.parts import is_generic
from otelreplay.providers.tools import decode_tool, function_fields, verbatim_tool

API = "openai.chat_completions"

PARAMS: Table = (
    (("temperature",), "temperature"),
    (("top_p",), "top_p"),
    (("top_k",), "top_k"),
    (("max_completion_tokens",), "max_tokens"),
    (("max_tokens",), "max_tokens"),
    (("stop",), "stop_sequences"),
    (("seed",), "seed"),
    (("frequency_penalty",), "frequency_penalty"),
    (("presence_penalty",), "presence_penalty"),
    (("n",), "choice.count"),
    (("stream",), "stream"),
    (("reasoning_effort",), "reasoning.level"),
)

USAGE: Table = (
    (("prompt_tokens",), "input_tokens"),
    (("completion_tokens",), "output_tokens"),
    (("prompt_tokens_details", "cached_tokens"), "cache_read.input_tokens"),
    (("prompt_tokens_details", "cache_write_tokens"), "cache_write.input_tokens"),
    (("prompt_tokens_details", "audio_tokens"), "audio.input_tokens"),
    (("completion_tokens_details", "reasoning_tokens"), "reasoning.output_tokens"),
    (("completion_tokens_details", "audio_tokens"), "audio.output_tokens"),
)

FINISH = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_call",
    "content_filter": "content_filter",
    "function_call": "tool_call",
}

NEUTRAL = {"id": "chatcmpl-0", "created": 0, "model": "unknown", "choices": []}
USAGE_KEY = "usage"
NEUTRAL_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _total(usage: Value) -> tuple[str, int | None]:
    return "total_tokens", summed("input_tokens", "output_tokens")(usage)


# ---- bodies ------------------------------------------------------------------------------------------------------------


def _usual(parts: list[Any]) -> list[Value]:
    return [{"parts": len(parts), "role": "system"}] if parts else []


def decode_request(body: Any) -> Value:
    """A request body."""
    if not isinstance(body, dict):
        return not_a_body(body)
    rest = dict(body)
    model, params = take_text(rest, "model"), take(rest, PARAMS)
    if isinstance(params.get("stop_sequences"), str):
        params["stop_sequences"] = [params["stop_sequences"]]
    sent, tools = take_list(rest, "messages"), take_tools(rest, "tools", "functions")
    messages = None if sent is None else [m for message in sent for m in decode_message(message)]
    system, messages, layout = split_system(messages) if messages is not None else (None, None, [])
    if system is not None and layout != _usual(system):
        rest["system_messages"] = layout
    found = {"model": model, "system": system, "messages": messages, "tools": tools, "extra": rest or None}
    return {"params": params, **present(found)}


def encode_request(request: Value) -> Value:
    """A request body."""
    extra = as_dict(request.get("extra"))
    layout = extra.pop("system_messages", None)
    body = {"model": request["model"]} | extra if "model" in request else extra
    put(body, as_dict(request.get("params")), PARAMS)
    leading = [{**entry, "parts": parts} for entry, parts in spread_system(request.get("system"), layout, _usual)]
    if "messages" in request or leading:
        messages = [*leading, *as_list(request.get("messages"))]
        body["messages"] = [m for message in messages for m in encode_message(message)]
    if isinstance(request.get("tools"), list):
        body["tools"] = [encode_tool(tool) for tool in request["tools"]]
    return body


def encode_tool(tool: Any) -> Any:
    """A tool definition."""
    function = function_fields(tool)
    return verbatim_tool(tool) if function is None else {"type": "function", "function": function}


def decode_response(body: Any) -> Value:
    """A response body; of an error body everything is in ``extra``."""
    if not isinstance(body, dict):
        return not_a_body(body)
    rest = dict(body)
    if rest.get("object") == "chat.completion":
        del rest["object"]
    found: Value = {"id": take_text(rest, "id"), "model": take_text(rest, "model")}
    choices = take_list(rest, "choices")
    if choices is not None:
        decoded = [_choice(n, choice) for n, choice in enumerate(choices)]
        found["messages"] = [message for message, _ in decoded]
        found["finish_reasons"] = reasons(found["messages"], [word for _, word in decoded], FINISH)
    found["usage"] = take_usage(rest, USAGE_KEY, USAGE, _total)
    return present({**found, "extra": rest or None})


def _choice(n: int, choice: Any) -> tuple[Message, Any]:
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        return opaque(choice), None
    (message,) = decode_message({"role": "assistant", **choice["message"]})
    rest = {k: v for k, v in choice.items() if k not in ("message", "finish_reason")}
    if type(rest.get("index")) is int and rest["index"] == n:
        del rest["index"]
    if "logprobs" in rest and rest["logprobs"] is None:
        del rest["logprobs"]
    word = choice.get("finish_reason")
    if word is not None and not isinstance(word, str):
        rest["finish_reason"] = word
    if rest:
        message["extra"] = {**message.get("extra", {}), "choice": rest}
    return message, word if isinstance(word, str) else None


def encode_response(response: Value, *, defaults: Mapping[str, Any] | None = None) -> tuple[Value, tuple[str, ...]]:
    """A response body, and what in it was assumed."""
    filling = Filling(defaults)
    body = {"object": "chat.completion"} | {k: response[k] for k in ("id", "model") if k in response}
    body |= as_dict(response.get("extra"))
    if isinstance(response.get("messages"), list):
        body["choices"] = [_encode_choice(response, n, m, filling) for n, m in enumerate(response["messages"])]
    put_usage(body, USAGE_KEY, response.get("usage"), USAGE, _total)
    filling.fill(body, NEUTRAL)
    filling.fill(body, {"usage": {}})
    if isinstance(body["usage"], dict):
        filling.fill(body["usage"], NEUTRAL_USAGE, under="usage")
    return body, tuple(filling.assumed)


def _encode_choice(response: Value, n: int, message: Any, filling: Filling) -> Any:
    found, under = opened_message(message), f"choices[{n}]"
    if found is None:
        return closed(message)
    role, parts, extra = found
    own = as_dict(extra.pop("choice", None))
    written = encode_plain(role, parts, extra)
    if (text := _joined(written["content"])) is not None:
        written["content"] = text
        filling.assumed.append(f"{under}.message.content")
    filling.fill(written, {"refusal": None}, under=f"{under}.message")
    kept = {id(part["value"]) for part in parts if is_generic(part, "tool_calls")}
    for k, call in enumerate(as_list(written.get("tool_calls"))):
        if id(call) not in kept:
            _complete_call(call, n, k, filling)
    choice = {"index": n, "message": written}
    if (word := word_of(response, n, FINISH)) is not None:
        choice["finish_reason"] = word
    choice |= own
    filling.fill(choice, {"finish_reason": "tool_calls" if written.get("tool_calls") else "stop"}, under=under)
    filling.fill(choice, {"logprobs": None}, under=under)
    return choice


def _joined(content: Any) -> str | None:
    """The one text that a response holds, of several that a recording holds; None if there is something else among them."""
    plain = isinstance(content, list) and all(isinstance(b, dict) and b.keys() == {"type", "text"} for b in content)
    return "".join(b["text"] for b in content) if plain and all(isinstance(b["text"], str) for b in content) else None


def _complete_call(call: Value, n: int, k: int, filling: Filling) -> None:
    """Gives a call that was made here the fields that the API gives each call."""
    under = f"choices[{n}].message.tool_calls[{k}]"
    for kind, key in CALLS:
        if call["type"] == kind:
            filling.fill(call, {"id": f"call_{n}_{k}"}, under=under)
            filling.fill(call[kind], {"name": "unknown", key: "{}" if key == "arguments" else ""}, under=f"{under}.{kind}")


CODEC = Codec(
    api=API,
    decode_request=decode_request,
    decode_response=decode_response,
    encode_request=encode_request,
    encode_response=encode_response,
    decode_message=decode_message,
    decode_part=BLOCKS.decode,
    decode_tool=decode_tool,
)
