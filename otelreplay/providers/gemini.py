"""Gemini: ``POST …/models/{model}:generateContent`` and ``:streamGenerateContent``.

Source of the format: Google's API reference and the types of its Python SDK. The model stands in the URL, not in the body; a
body with ``model`` or the SDK's ``config`` (as telemetry holds it) is read too. Parts are in :mod:`.gemini_parts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.providers.bodies import (
    merged,
    not_a_body,
    put_usage,
    reasons,
    take_list,
    take_text,
    take_tools,
    take_usage,
    word_of,
)
from otelreplay.providers.codec import Codec, Value
from otelreplay.providers.fields import Filling, Table, as_dict, as_list, present, put, take
from otelreplay.providers.gemini_parts import decode_part, encode_part, spelled
from otelreplay.providers.messages import Message, closed, opaque, parted, rejoined, split_system, spread_system
from otelreplay.providers.messages import opened as opened_message
from otelreplay.providers.parts import generic, is_generic, text_part
from otelreplay.providers.tools import decode_tool, function_fields, verbatim_tool

API = "gemini.generate_content"

CONFIG = "generationConfig"

SPELLING = {
    "system_instruction": "systemInstruction",
    "generation_config": CONFIG,
    "tool_config": "toolConfig",
    "safety_settings": "safetySettings",
    "cached_content": "cachedContent",
}
CONFIG_SPELLING = {
    "top_p": "topP",
    "top_k": "topK",
    "max_output_tokens": "maxOutputTokens",
    "stop_sequences": "stopSequences",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "candidate_count": "candidateCount",
    "thinking_config": "thinkingConfig",
    "response_mime_type": "responseMimeType",
    "response_schema": "responseSchema",
    "response_json_schema": "responseJsonSchema",
    "response_modalities": "responseModalities",
}
THINKING_SPELLING = {
    "thinking_level": "thinkingLevel",
    "thinking_budget": "thinkingBudget",
    "include_thoughts": "includeThoughts",
}
RESPONSE_SPELLING = {
    "usage_metadata": "usageMetadata",
    "model_version": "modelVersion",
    "response_id": "responseId",
    "prompt_feedback": "promptFeedback",
    "create_time": "createTime",
}
CANDIDATE_SPELLING = {"finish_reason": "finishReason", "finish_message": "finishMessage", "safety_ratings": "safetyRatings"}
USAGE_SPELLING = {
    "prompt_token_count": "promptTokenCount",
    "candidates_token_count": "candidatesTokenCount",
    "total_token_count": "totalTokenCount",
    "cached_content_token_count": "cachedContentTokenCount",
    "thoughts_token_count": "thoughtsTokenCount",
    "tool_use_prompt_token_count": "toolUsePromptTokenCount",
}

PARAMS: Table = (
    ((CONFIG, "temperature"), "temperature"),
    ((CONFIG, "topP"), "top_p"),
    ((CONFIG, "topK"), "top_k"),
    ((CONFIG, "maxOutputTokens"), "max_tokens"),
    ((CONFIG, "stopSequences"), "stop_sequences"),
    ((CONFIG, "seed"), "seed"),
    ((CONFIG, "frequencyPenalty"), "frequency_penalty"),
    ((CONFIG, "presencePenalty"), "presence_penalty"),
    ((CONFIG, "candidateCount"), "choice.count"),
    ((CONFIG, "thinkingConfig", "thinkingLevel"), "reasoning.level"),
)

USAGE: Table = (
    (("promptTokenCount",), "input_tokens"),
    (("candidatesTokenCount",), "output_tokens"),
    (("cachedContentTokenCount",), "cache_read.input_tokens"),
    (("thoughtsTokenCount",), "reasoning.output_tokens"),
)

FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "MALFORMED_FUNCTION_CALL": "error",
}

NEUTRAL = {"responseId": "resp-0", "modelVersion": "unknown", "candidates": []}
SDK_FIELDS = frozenset({
    "sdkHttpResponse", "sdk_http_response", "automaticFunctionCallingHistory", "automatic_function_calling_history", "parsed",
})  # fmt: skip
"""What the Python SDK puts on its object, and no provider sends."""
USAGE_KEY = "usageMetadata"
NEUTRAL_USAGE = {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}


def _total(usage: Value) -> tuple[str, int | None]:
    """Prompt, answer and thoughts, which the API counts apart from the answer."""
    counts = [usage.get("input_tokens"), usage.get("output_tokens"), usage.get("reasoning.output_tokens", 0)]
    numbers = [n for n in counts if type(n) is int]
    return "totalTokenCount", sum(numbers) if len(numbers) == len(counts) else None


# ---- messages ----------------------------------------------------------------------------------------------------------

ROLES = {"model": "assistant", "function": "tool"}


def decode_message(content: Any) -> list[Message]:
    """One content: what functions answered becomes a message with the role ``tool``, in its place."""
    return _content(content, "user")


def _content(content: Any, role: str) -> list[Message]:
    """``role`` is what a content without a role has."""
    if isinstance(content, str):
        return [{"role": role, "parts": [text_part(content)]}]
    sent = content.get("role") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(sent, str | None) or not _readable(content.get("parts")):
        return [opaque(content)]
    rest = {k: v for k, v in content.items() if k not in ("role", "parts")}
    own = role if sent is None else ROLES.get(sent, sent)
    messages = parted(own, [decode_part(part) for part in _listed(content.get("parts"))], rest)
    if sent in ("function", "assistant"):
        messages[0]["extra"] = {**messages[0].get("extra", {}), "role": sent}
    return messages


def _readable(parts: Any) -> bool:
    return parts is None or isinstance(parts, list | dict | str)


def _listed(parts: Any) -> list[Any]:
    return parts if isinstance(parts, list) else [] if parts is None else [parts]


def encode_contents(messages: list[Any]) -> list[Any]:
    """The wire's contents; those that were one become one again."""
    return [_encode_group(group) for group in rejoined(messages)]


def _encode_group(group: list[Any]) -> Any:
    opened = [one for one in map(opened_message, group) if one is not None]
    if not opened:
        return closed(group[0])
    role = {"assistant": "model", "tool": "user"}.get(opened[0][0], opened[0][0])
    extra = {k: v for k, v in opened[0][2].items() if k not in ("joined", "candidate")}
    return {"role": role, "parts": [encode_part(part) for _, parts, _ in opened for part in parts], **extra}


# ---- request -----------------------------------------------------------------------------------------------------------


def _usual(parts: list[Any]) -> list[Value]:
    return [{"parts": len(parts), "in": "systemInstruction"}]


def decode_request(body: Any) -> Value:
    """A request body."""
    if not isinstance(body, dict):
        return not_a_body(body)
    rest = _spelled_body(body)
    model, params, tools = take_text(rest, "model"), take(rest, PARAMS), take_tools(rest, "tools")
    sent = rest.pop("contents") if isinstance(rest.get("contents"), str | list | dict) else None
    messages = None if sent is None else [m for c in (sent if isinstance(sent, list) else [sent]) for m in decode_message(c)]
    system, messages, layout = split_system(messages) if messages is not None else (None, None, [])
    own = _system_in(rest)
    if own is not None:
        parts, entry = own
        system, layout = [*parts, *(system or [])], [entry, *layout]
    if system is not None and layout != _usual(system):
        rest["system_messages"] = layout
    return {
        "params": params,
        **present({"model": model, "system": system, "messages": messages, "tools": tools, "extra": rest or None}),
    }


def _spelled_body(body: Value) -> Value:
    """In the wire's spelling, and with the SDK's ``config`` taken apart into the fields that it is sent as."""
    rest = dict(spelled(body, SPELLING))
    config = spelled(rest.get("config"), SPELLING)
    if isinstance(config, dict):
        given = {k: v for k, v in config.items() if v is not None}
        beside = {k: v for k, v in given.items() if k in ("tools", *SPELLING.values())}
        if not beside.keys() & rest.keys() and CONFIG not in rest:
            del rest["config"]
            inside = {k: v for k, v in given.items() if k not in beside}
            rest |= beside | ({CONFIG: inside} if inside else {})
    if isinstance(rest.get(CONFIG), dict):
        rest[CONFIG] = dict(spelled(rest[CONFIG], CONFIG_SPELLING))
        if isinstance(rest[CONFIG].get("thinkingConfig"), dict):
            rest[CONFIG]["thinkingConfig"] = spelled(rest[CONFIG]["thinkingConfig"], THINKING_SPELLING)
    return rest


def _system_in(rest: Value) -> tuple[list[Value], Value] | None:
    sent = rest.get("systemInstruction")
    content = {"parts": sent} if isinstance(sent, str | list) else sent
    if not isinstance(content, dict) or "parts" not in content or not _readable(content["parts"]):
        return None
    del rest["systemInstruction"]
    parts = [decode_part(part) for part in _listed(content["parts"])]
    left = {k: v for k, v in content.items() if k != "parts"}
    return parts, {"parts": len(parts), "in": "systemInstruction"} | ({"beside": left} if left else {})


def encode_request(request: Value) -> Value:
    """A request body."""
    extra = as_dict(request.get("extra"))
    layout = extra.pop("system_messages", None)
    body = {"model": request["model"]} | extra if "model" in request else extra
    put(body, as_dict(request.get("params")), PARAMS)
    leading: list[Any] = []
    for entry, parts in spread_system(request.get("system"), layout, _usual) if "system" in request else ():
        if entry.get("in") == "systemInstruction":
            body["systemInstruction"] = {**as_dict(entry.get("beside")), "parts": [encode_part(part) for part in parts]}
        else:
            leading.append({"role": "system", **entry, "parts": parts})
    if "messages" in request or leading:
        body["contents"] = encode_contents([*leading, *as_list(request.get("messages"))])
    if isinstance(request.get("tools"), list):
        body["tools"] = encode_tools(request["tools"])
    return body


def encode_tools(tools: list[Any]) -> list[Any]:
    """Tool definitions: all functions in one list of declarations."""
    functions = [(tool, _declared(tool)) for tool in tools]
    declared = [f for _, f in functions if f is not None]
    others = [verbatim_tool(tool) for tool, f in functions if f is None]
    return ([{"functionDeclarations": declared}] if declared else []) + others


def _declared(tool: Any) -> Value | None:
    """Google's own schema dialect writes types in capitals, and has a field of its own."""
    schema = as_dict(as_dict(tool).get("parameters"))
    google = isinstance(schema.get("type"), str) and schema["type"].isupper()
    return function_fields(tool, "parameters" if google else "parametersJsonSchema")


# ---- response ----------------------------------------------------------------------------------------------------------


def decode_response(body: Any) -> Value:
    """A response body: one message a candidate."""
    if not isinstance(body, dict):
        return not_a_body(body)
    rest = dict(spelled(body, RESPONSE_SPELLING))
    found: Value = {"id": take_text(rest, "responseId"), "model": take_text(rest, "modelVersion")}
    candidates = take_list(rest, "candidates")
    if candidates is not None:
        decoded = [_candidate(n, candidate) for n, candidate in enumerate(candidates)]
        found["messages"] = [message for message, _ in decoded]
        found["finish_reasons"] = reasons(found["messages"], [word for _, word in decoded], FINISH)
    if isinstance(rest.get("usageMetadata"), dict):
        rest["usageMetadata"] = spelled(rest["usageMetadata"], USAGE_SPELLING)
    found["usage"] = take_usage(rest, USAGE_KEY, USAGE, _total)
    return present({**found, "extra": rest or None})


def _candidate(n: int, candidate: Any) -> tuple[Message, Any]:
    if not isinstance(candidate, dict) or not isinstance(candidate.get("content", {}), dict):
        return opaque(candidate), None
    rest = dict(spelled(candidate, CANDIDATE_SPELLING))
    content, word = rest.pop("content", None), take_text(rest, "finishReason")
    sent = content if content is not None else {}
    if not _readable(sent.get("parts")) or not isinstance(sent.get("role", "model"), str | None):
        message: Message = {"role": "assistant", "parts": [generic(sent, "content")]}
    else:
        left = {k: v for k, v in sent.items() if k not in ("role", "parts")}
        message = {"role": "assistant", "parts": [decode_part(part) for part in _listed(sent.get("parts"))]}
        role = sent.get("role") or "model"
        rest |= {"content": left | ({"role": role} if role != "model" else {})} if left or role != "model" else {}
    if type(rest.get("index")) is int and rest["index"] == n:
        del rest["index"]
    return message | ({"extra": {"candidate": rest}} if rest else {}), word


def encode_response(response: Value, *, defaults: Mapping[str, Any] | None = None) -> tuple[Value, tuple[str, ...]]:
    """A response body, and what in it was assumed."""
    filling = Filling(defaults)
    names = (("id", "responseId"), ("model", "modelVersion"))
    body = {key: response[name] for name, key in names if name in response} | as_dict(response.get("extra"))
    if isinstance(response.get("messages"), list):
        body["candidates"] = [_encode_candidate(response, n, m, filling) for n, m in enumerate(response["messages"])]
    put_usage(body, USAGE_KEY, response.get("usage"), USAGE, _total)
    filling.fill(body, NEUTRAL)
    filling.fill(body, {"usageMetadata": {}})
    if isinstance(body["usageMetadata"], dict):
        filling.fill(body["usageMetadata"], NEUTRAL_USAGE, under="usageMetadata")
    return body, tuple(filling.assumed)


def _encode_candidate(response: Value, n: int, message: Any, filling: Filling) -> Any:
    found = opened_message(message)
    if found is None:
        return closed(message)
    _, parts, extra = found
    own = as_dict(extra.get("candidate"))
    if len(parts) == 1 and is_generic(parts[0], "content"):
        content = parts[0]["value"]
    else:
        content = {"role": "model", "parts": [encode_part(part) for part in parts], **as_dict(own.pop("content", None))}
    candidate = {"content": content}
    if (word := word_of(response, n, FINISH)) is not None:
        candidate["finishReason"] = "STOP" if word == "tool_call" else word
    candidate = merged(candidate | {"index": n}, own)
    filling.fill(candidate, {"finishReason": "STOP"}, under=f"candidates[{n}]")
    return candidate


CODEC = Codec(
    api=API,
    decode_request=decode_request,
    decode_response=decode_response,
    encode_request=encode_request,
    encode_response=encode_response,
    decode_message=decode_message,
    decode_part=decode_part,
    decode_tool=decode_tool,
)
