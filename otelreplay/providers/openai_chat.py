"""OpenAI chat completions (also what most other providers imitate): ``POST /v1/chat/completions``.

Source of the format: OpenAI's API reference and the types of its Python SDK.
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
from otelreplay.providers.codec import Codec, Value
from otelreplay.providers.fields import Filling, Table, as_dict, as_list, present, put, take
from otelreplay.providers.media import INPUT_AUDIO, blob, from_url, opened, split, to_base64, to_url
from otelreplay.providers.messages import Message, assemble, closed, opaque, split_system, spread_system
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
    rename,
    renaming,
    text_part,
    write_arguments,
)  # fmt: skip
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

SAME_AS_ABSENT: Mapping[str, tuple[Any, ...]] = {
    "refusal": (None,),
    "annotations": (None, []),
    "audio": (None,),
    "function_call": (None,),
    "tool_calls": (None, []),
}
"""Fields of a message that an SDK writes out although there is nothing in them."""

NEUTRAL = {"id": "chatcmpl-0", "created": 0, "model": "unknown", "choices": []}
USAGE_KEY = "usage"
NEUTRAL_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _total(usage: Value) -> tuple[str, int | None]:
    return "total_tokens", summed("input_tokens", "output_tokens")(usage)


# ---- content blocks ----------------------------------------------------------------------------------------------------

IMAGE_KEYS = frozenset({"url", "detail"})
FILE_KEYS = frozenset({"file_data", "file_id", "filename"})


def _image_in(block: Block) -> Part | None:
    if isinstance(block.get("image_url"), str):
        block = {**block, "image_url": {"url": block["image_url"]}}
    found = opened(block, "image_url", IMAGE_KEYS)
    if found is None or not isinstance(found[0].get("url"), str):
        return None
    inner, rest = found
    return {**from_url(inner["url"], "image"), **{k: v for k, v in inner.items() if k != "url"}, **rest}


def _image_out(part: Part) -> Block | None:
    url = to_url(part)
    if part.get("modality") != "image" or url is None:
        return None
    inner, beside = split(part, IMAGE_KEYS)
    return {"type": "image_url", "image_url": {"url": url, **inner}, **beside}


def _file_in(block: Block) -> Part | None:
    found = opened(block, "file", FILE_KEYS)
    if found is None:
        return None
    inner, rest = found
    given = {k: v for k, v in inner.items() if k != "filename" and isinstance(v, str)}
    if len(given) != 1 or len(given) + ("filename" in inner) != len(inner):
        return None
    name = {"filename": inner["filename"]} if "filename" in inner else {}
    if "file_id" in given:
        return {"type": "file", "modality": "document", "file_id": given["file_id"], **name, **rest}
    part = from_url(given["file_data"], "document")
    return {**(part if part["type"] == "blob" else blob("document", given["file_data"], None)), **name, **rest}


def _file_out(part: Part) -> Block | None:
    inner, beside = split(part, FILE_KEYS)
    if part["type"] == "file":
        return {"type": "file", "file": {"file_id": part["file_id"], **inner}, **beside} if "file_id" in part else None
    data = to_url(part) if part.get("mime_type") else to_base64(part.get("content"))
    return None if data is None else {"type": "file", "file": {"file_data": data, **inner}, **beside}


BLOCKS = Blocks(
    (
        renaming("refusal", "text", {"refusal": "content"}, text="refusal", form="refusal"),
        renaming("text", "text", {"text": "content"}, text="text"),
        INPUT_AUDIO,
        Shape("image_url", "blob", _image_in, _image_out),
        Shape("image_url", "uri", _image_in, _image_out),
        Shape("file", "blob", _file_in, _file_out),
        Shape("file", "file", _file_in, _file_out),
    )
)

# ---- messages ----------------------------------------------------------------------------------------------------------


def decode_message(message: Any) -> list[Message]:
    """One message of a request, or of a choice."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return [opaque(message)]
    rest = {k: v for k, v in message.items() if k != "role" and not (k in SAME_AS_ABSENT and v in SAME_AS_ABSENT[k])}
    role = message["role"]
    if role in ("tool", "function"):
        return [_result(role, rest)]
    parts = [*_reasoning(rest), *_content(rest), *_refusal(rest), *_calls(rest)]
    return [assemble(role, parts, rest)]


def _result(role: str, rest: Value) -> Message:
    part: Part = {"type": "tool_call_response"}
    if "tool_call_id" in rest:
        part["id"] = rest.pop("tool_call_id")
    if "content" in rest:
        part["response"] = rest.pop("content")
    message = assemble("tool", [part], rest)
    if role != "tool":
        message["extra"] = {**message.get("extra", {}), "role": role}
    return message


def _reasoning(rest: Value) -> list[Part]:
    text = take_text(rest, "reasoning_content")
    return [] if text is None else [{"type": "reasoning", "content": text}]


def _content(rest: Value) -> list[Part]:
    content = rest.pop("content", None)
    if content is None:
        return []
    if isinstance(content, str):
        return [text_part(content)]
    return [BLOCKS.decode(block) for block in content] if isinstance(content, list) else [generic(content, "content")]


def _refusal(rest: Value) -> list[Part]:
    text = take_text(rest, "refusal")
    return [] if text is None else [{**text_part(text), "form": "refusal"}]


def _calls(rest: Value) -> list[Part]:
    parts = [_call(entry) for entry in take_list(rest, "tool_calls") or ()]
    legacy = rest.get("function_call")
    if isinstance(legacy, dict) and isinstance(legacy.get("name"), str) and legacy.keys() <= {"name", "arguments"}:
        del rest["function_call"]
        parts.append({**_named(legacy, "arguments"), "form": "function_call"})
    return parts


def _named(call: Value, key: str) -> Part:
    part: Part = {"type": "tool_call", "name": call["name"]}
    if key in call:
        part["arguments"] = read_arguments(call[key]) if key == "arguments" else call[key]
    return part


CALLS = (("function", "arguments"), ("custom", "input"))


def _call(entry: Any) -> Part:
    """A call of a function, or of a custom tool whose input is free text; its other keys stay beside."""
    for kind, key in CALLS:
        inner = entry.get(kind) if isinstance(entry, dict) and entry.get("type", "function") == kind else None
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            continue
        rest = {k: v for k, v in entry.items() if k not in ("type", kind)}
        left = {k: v for k, v in inner.items() if k not in ("name", key)}
        if rest.keys() & {"name", "arguments", "form", "function", "custom"}:
            continue
        named = _named(inner, key)
        ordered = {"type": "tool_call", **({"id": rest.pop("id")} if "id" in rest else {}), **named, **rest}
        return ordered | ({kind: left} if left else {}) | ({"form": kind} if kind != "function" else {})
    return generic(entry, "tool_calls")


def encode_message(message: Any) -> list[Any]:
    """The wire's messages for one GenAI message: one, or one for each result of a tool."""
    found = opened_message(message)
    if found is None:
        return [closed(message)]
    role, parts, extra = found
    if role == "tool" and all(isinstance(p, dict) and p.get("type") == "tool_call_response" for p in parts) and parts:
        return [_encode_result(part, dict(extra)) for part in parts]
    return [_encode_plain(role, parts, extra)]


def _encode_result(part: Part, extra: Value) -> Value:
    fields = {k: v for k, v in part.items() if k != "type"}
    renamed = rename(fields, RESULT)
    return {"role": extra.pop("role", "tool"), **(fields if renamed is None else renamed), **extra}


RESULT = {"id": "tool_call_id", "response": "content"}


def _encode_plain(role: str, parts: list[Any], extra: Value) -> Value:
    content: list[Any] = []
    calls: list[Any] = []
    message: Value = {"role": role, "content": None}
    for part in parts:
        kind, form = (part.get("type"), part.get("form")) if isinstance(part, dict) else (None, None)
        if kind == "reasoning" and part.keys() == {"type", "content"} and "reasoning_content" not in message:
            message["reasoning_content"] = part["content"]
        elif kind == "tool_call" and form == "function_call":
            message["function_call"] = _called(part, "arguments")
        elif kind == "tool_call":
            calls.append(_encode_call(part))
        elif is_generic(part, "tool_calls"):
            calls.append(part["value"])
        else:
            content.append(part)
    if content and _is_refusal(content[-1]):
        message["refusal"] = content.pop()["content"]
    if content:
        message["content"] = _encode_content(content)
    return message | ({"tool_calls": calls} if calls else {}) | extra


def _is_refusal(part: Any) -> bool:
    return isinstance(part, dict) and part.keys() == {"type", "content", "form"} and part["form"] == "refusal"


def _encode_content(parts: list[Any]) -> Any:
    if len(parts) == 1 and is_generic(parts[0], "content"):
        return parts[0]["value"]
    text = plain_text(parts)
    return [BLOCKS.encode(part) for part in parts] if text is None else text


def _encode_call(part: Part) -> Value:
    kind, key = CALLS[part.get("form") == "custom"]
    inner = _called(part, key) | as_dict(part.get(kind))
    rest = {k: v for k, v in part.items() if k not in ("type", "name", "arguments", "form", kind)}
    first = {"id": rest.pop("id")} if "id" in rest else {}
    return {**first, "type": kind, kind: inner, **rest}


def _called(part: Part, key: str) -> Value:
    """Name and arguments of a call, as far as the part holds them."""
    name = {"name": part["name"]} if "name" in part else {}
    return name | ({key: write_arguments(part["arguments"])} if "arguments" in part else {})


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
    written = _encode_plain(role, parts, extra)
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
