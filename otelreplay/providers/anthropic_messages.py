"""Anthropic messages: ``POST /v1/messages``.

Source of the format: Anthropic's API reference and the types of its Python SDK. ``usage.input_tokens`` is the API's own number,
which leaves cached tokens out; GenAI spans carry the sum (:func:`span_input_tokens`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.providers.bodies import not_a_body, put_usage, reasons, take_list, take_text, take_tools, take_usage, word_of
from otelreplay.providers.codec import Codec, Value
from otelreplay.providers.fields import Filling, Table, as_dict, as_list, present, put, take
from otelreplay.providers.media import RESERVED, blob, to_base64
from otelreplay.providers.messages import Message, closed, opaque, parted, rejoined, split_system, spread_system
from otelreplay.providers.messages import opened as opened_message
from otelreplay.providers.parts import (
    Block,
    Blocks,
    Part,
    Shape,
    generic,
    is_generic,
    plain_text,
    read_arguments,
    renaming,
    text_part,
)  # fmt: skip
from otelreplay.providers.tools import decode_tool, function_fields, verbatim_tool

API = "anthropic.messages"

PARAMS: Table = (
    (("temperature",), "temperature"),
    (("top_p",), "top_p"),
    (("top_k",), "top_k"),
    (("max_tokens",), "max_tokens"),
    (("stop_sequences",), "stop_sequences"),
    (("stream",), "stream"),
    (("output_config", "effort"), "reasoning.level"),
)

USAGE: Table = (
    (("input_tokens",), "input_tokens"),
    (("output_tokens",), "output_tokens"),
    (("cache_read_input_tokens",), "cache_read.input_tokens"),
    (("cache_creation_input_tokens",), "cache_write.input_tokens"),
    (("output_tokens_details", "thinking_tokens"), "reasoning.output_tokens"),
)

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_call",
    "refusal": "content_filter",
    "compaction": "compaction",
}

NEUTRAL: Mapping[str, Any] = {"id": "msg_0", "model": "unknown", "content": [], "stop_sequence": None}
NEUTRAL_BLOCKS: Mapping[str, Mapping[str, Any]] = {
    "tool_use": {"id": "toolu_0", "name": "unknown", "input": {}},
    "thinking": {"signature": ""},
}
USAGE_KEY = "usage"
NEUTRAL_USAGE = {"input_tokens": 0, "output_tokens": 0}


def span_input_tokens(usage: Mapping[str, Any]) -> int | None:
    """What the GenAI conventions call input_tokens: the API's own number plus what was read from and written to the cache."""
    counts = [usage.get("input_tokens"), usage.get("cache_read.input_tokens", 0), usage.get("cache_write.input_tokens", 0)]
    numbers = [0 if n is None and k else n for k, n in enumerate(counts)]
    return sum(numbers) if all(type(n) is int for n in numbers) else None


# ---- content blocks ----------------------------------------------------------------------------------------------------

SOURCES: Mapping[str, tuple[str, frozenset[str]]] = {
    "base64": ("data", frozenset({"type", "media_type", "data"})),
    "url": ("url", frozenset({"type", "url"})),
    "file": ("file_id", frozenset({"type", "file_id"})),
}


def _media_in(block: Block) -> Part | None:
    source = as_dict(block.get("source"))
    kind = source.get("type")
    key, keys = SOURCES.get(kind, ("", frozenset())) if isinstance(kind, str) else ("", frozenset())
    rest = {k: v for k, v in block.items() if k not in ("type", "source")}
    mime_type = source.get("media_type")
    if not source.keys() <= keys or not isinstance(source.get(key), str) or rest.keys() & RESERVED:
        return None
    if mime_type is not None and not isinstance(mime_type, str):
        return None
    modality = "image" if block["type"] == "image" else "document"
    if kind == "base64":
        return {**blob(modality, source["data"], mime_type), **rest}
    named = ("uri", "uri") if kind == "url" else ("file", "file_id")
    return {"type": named[0], "modality": modality, named[1]: source[key], **rest}


def _media_out(part: Part) -> Block | None:
    rest = {k: v for k, v in part.items() if k not in RESERVED and k != "type"}
    source: Value = {}
    if part["type"] == "blob" and (data := to_base64(part.get("content"))) is not None:
        mime_type = {"media_type": part["mime_type"]} if "mime_type" in part else {}
        source = {"type": "base64", **mime_type, "data": data}
    elif part["type"] == "uri" and "uri" in part:
        source = {"type": "url", "url": part["uri"]}
    elif part["type"] == "file" and "file_id" in part:
        source = {"type": "file", "file_id": part["file_id"]}
    kind = {"image": "image", "document": "document"}.get(str(part.get("modality")))
    return {"type": kind, "source": source, **rest} if kind and source and "source" not in rest else None


USE = {"input": "arguments"}
RESULT = {"tool_use_id": "id", "content": "response"}
_USE = renaming("tool_use", "tool_call", USE)


def _use_in(block: Block) -> Part | None:
    part = _USE.decode(block) if isinstance(block.get("name"), str) else None
    if part is not None and "arguments" in part:
        part["arguments"] = read_arguments(part["arguments"])
    return part


BLOCKS = Blocks(
    (
        renaming("text", "text", {"text": "content"}, text="text", neutral={"citations": (None,)}),
        renaming("thinking", "reasoning", {"thinking": "content"}, text="thinking"),
        Shape("tool_use", "tool_call", _use_in, _USE.encode),
        renaming("tool_result", "tool_call_response", RESULT),
        *(Shape(wire, part, _media_in, _media_out) for wire in ("image", "document") for part in ("blob", "uri", "file")),
    )
)

# ---- messages ----------------------------------------------------------------------------------------------------------


def decode_message(message: Any) -> list[Message]:
    """One message: results of tools in it become a message with the role ``tool``, in their place."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return [opaque(message)]
    rest = {k: v for k, v in message.items() if k not in ("role", "content")}
    return parted(message["role"], _content(message.get("content")), rest)


def _content(content: Any) -> list[Part]:
    if content is None:
        return []
    if isinstance(content, str):
        return [text_part(content)]
    return [BLOCKS.decode(block) for block in content] if isinstance(content, list) else [generic(content, "content")]


def encode_messages(messages: list[Any]) -> list[Any]:
    """The wire's messages; those that were one become one again."""
    return [_encode_group(group) for group in rejoined(messages)]


def _encode_group(group: list[Any]) -> Any:
    opened = [one for one in map(opened_message, group) if one is not None]
    if not opened:
        return closed(group[0])
    role = "user" if opened[0][0] == "tool" else opened[0][0]
    parts = [part for _, parts, _ in opened for part in parts]
    extra = {k: v for k, v in opened[0][2].items() if k not in ("joined", "choice")}
    return {"role": role, "content": _encode_content(parts), **extra}


def _encode_content(parts: list[Any]) -> Any:
    if len(parts) == 1 and is_generic(parts[0], "content"):
        return parts[0]["value"]
    text = plain_text(parts)
    return [BLOCKS.encode(part) for part in parts] if text is None else text


# ---- bodies ------------------------------------------------------------------------------------------------------------


def _usual(parts: list[Any]) -> list[Value]:
    return [{"parts": len(parts), "in": "system"}]


def decode_request(body: Any) -> Value:
    """A request body."""
    if not isinstance(body, dict):
        return not_a_body(body)
    rest = dict(body)
    model, params, tools = take_text(rest, "model"), take(rest, PARAMS), take_tools(rest, "tools")
    sent = take_list(rest, "messages")
    messages = None if sent is None else [m for message in sent for m in decode_message(message)]
    system, messages, layout = split_system(messages) if messages is not None else (None, None, [])
    if isinstance(rest.get("system"), str | list):
        own = _content(rest.pop("system"))
        system, layout = [*own, *(system or [])], [{"parts": len(own), "in": "system"}, *layout]
    if system is not None and layout != _usual(system):
        rest["system_messages"] = layout
    return {
        "params": params,
        **present({"model": model, "system": system, "messages": messages, "tools": tools, "extra": rest or None}),
    }


def encode_request(request: Value) -> Value:
    """A request body."""
    extra = as_dict(request.get("extra"))
    layout = extra.pop("system_messages", None)
    body = {"model": request["model"]} | extra if "model" in request else extra
    put(body, as_dict(request.get("params")), PARAMS)
    leading: list[Any] = []
    for entry, parts in spread_system(request.get("system"), layout, _usual) if "system" in request else ():
        if entry.get("in") == "system":
            body["system"] = _encode_content(parts)
        else:
            leading.append({"role": "system", **entry, "parts": parts})
    if "messages" in request or leading:
        body["messages"] = encode_messages([*leading, *as_list(request.get("messages"))])
    if isinstance(request.get("tools"), list):
        body["tools"] = [encode_tool(tool) for tool in request["tools"]]
    return body


def encode_tool(tool: Any) -> Any:
    """A tool definition."""
    fields = function_fields(tool, "input_schema")
    return verbatim_tool(tool) if fields is None else fields


def decode_response(body: Any) -> Value:
    """A response body: one message."""
    if not isinstance(body, dict):
        return not_a_body(body)
    rest = dict(body)
    for key, constant in (("type", "message"), ("role", "assistant")):
        if rest.get(key) == constant:
            del rest[key]
    found: Value = {"id": take_text(rest, "id"), "model": take_text(rest, "model")}
    content = take_list(rest, "content")
    word = take_text(rest, "stop_reason")
    if content is not None:
        found["messages"] = [{"role": "assistant", "parts": _content(content)}]
        found["finish_reasons"] = reasons(found["messages"], [word], FINISH)
    elif word is not None:
        found["finish_reasons"] = [word]
    found["usage"] = take_usage(rest, USAGE_KEY, USAGE)
    return present({**found, "extra": rest or None})


def encode_response(response: Value, *, defaults: Mapping[str, Any] | None = None) -> tuple[Value, tuple[str, ...]]:
    """A response body, and what in it was assumed."""
    filling = Filling(defaults)
    body = {"type": "message", "role": "assistant"} | {k: response[k] for k in ("id", "model") if k in response}
    body |= as_dict(response.get("extra"))
    if isinstance(response.get("messages"), list):
        parts = [part for message in response["messages"] for part in as_list(as_dict(message).get("parts"))]
        body["content"] = [_complete(BLOCKS.encode(part), n, filling) for n, part in enumerate(parts)]
    if (word := word_of(response, 0, FINISH)) is not None:
        body["stop_reason"] = word
    put_usage(body, USAGE_KEY, response.get("usage"), USAGE)
    calls = any(as_dict(block).get("type") == "tool_use" for block in as_list(body.get("content")))
    filling.fill(body, {"stop_reason": "tool_use" if calls else "end_turn"})
    filling.fill(body, NEUTRAL)
    filling.fill(body, {"usage": {}})
    if isinstance(body["usage"], dict):
        filling.fill(body["usage"], NEUTRAL_USAGE, under="usage")
    return body, tuple(filling.assumed)


def _complete(block: Any, n: int, filling: Filling) -> Any:
    """A block with the fields that the API gives each of its kind."""
    kind = block.get("type") if isinstance(block, dict) else None
    needs = NEUTRAL_BLOCKS.get(kind) if isinstance(kind, str) else None
    if needs is not None:
        block = dict(block)
        filling.fill(block, {k: f"toolu_{n}" if k == "id" else v for k, v in needs.items()}, under=f"content[{n}]")
    return block


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
