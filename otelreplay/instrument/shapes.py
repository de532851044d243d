"""A model call's arguments and results as GenAI messages, recognised by names and shapes that are usual.

Nothing is lost by not being recognised: what maps to no field of the conventions is kept as an argument, and the exact result
beside its messages.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from otelreplay import semconv as sc
from otelreplay.instrument.plain import plain
from otelreplay.instrument.spec import Bound, Spec, clean
from otelreplay.instrument.trouble import failed
from otelreplay.instrument.values import Losses, text
from otelreplay.providers import CODECS, Codec, assemble, codec_of, decode_tool
from otelreplay.providers.anthropic_messages import span_input_tokens
from otelreplay.providers.responses_items import merge_turns

Value = dict[str, Any]

MESSAGES = ("messages", "contents", "input", "prompt")
SYSTEM = ("system", "instructions", "system_prompt", "system_instruction", "system_instructions")
TOOLS = ("tools", "functions")
MODELS = ("model", "model_name", "model_id")
PARAMS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "stop": "stop_sequences",
    "stop_sequences": "stop_sequences",
    "seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "stream": "stream",
    "reasoning_effort": "reasoning.level",
    "previous_response_id": "previous_response.id",
}
BODIES = ("body", "request", "payload", "params")
"""Names of an argument that may hold a whole request."""

_APIS = {"anthropic": "anthropic.messages", "gcp": "gemini.generate_content", "gemini": "gemini.generate_content"}
"""The first word of a provider's name, and the API whose messages it takes."""


def said(role: str, content: str) -> list[Value]:
    """One message of plain text."""
    return [{"role": role, "parts": [{"type": "text", "content": content}]}]


# ---- request -----------------------------------------------------------------------------------------------------------


def put_request(spec: Spec, bound: Bound, attributes: Value, losses: Losses) -> Bound:
    """Put the request into ``attributes``; returns the arguments that it did not take."""
    rest = _opened(bound)
    if spec.request is not None:
        try:
            rest = dict(spec.request(bound))
        except Exception as error:  # the user's function
            failed("map the request", spec.function, error)
    for name in MODELS:
        if type(rest.get(name)) is str and clean(rest[name]) == rest[name]:
            attributes[sc.REQUEST_MODEL] = rest.pop(name)
            break
    taken: set[str] = set()
    for name in [name for name in rest if name in PARAMS]:
        param, value = PARAMS[name], rest[name]
        if param not in taken and _is_simple(value):
            attributes[sc.REQUEST_PREFIX + param] = [value] if param == "stop_sequences" and type(value) is str else value
            taken.add(param)
            del rest[name]
    codec = _put_messages(spec, rest, attributes, losses)
    for name in SYSTEM:
        if name in rest and (parts := _parts(rest[name], codec)) is not None:
            attributes[sc.SYSTEM_INSTRUCTIONS] = text(parts, "request.system", losses)
            del rest[name]
            break
    for name in TOOLS:
        if name in rest and (tools := _tools(rest[name])) is not None:
            attributes[sc.TOOL_DEFINITIONS] = text(tools, "request.tools", losses)
            del rest[name]
            break
    return rest


def _opened(bound: Bound) -> Bound:
    """The arguments, with those of a whole request beside the others."""
    for name in BODIES:
        inner = bound.get(name)
        if isinstance(inner, dict) and not inner.keys() & (bound.keys() - {name}) and inner.keys() & {*MESSAGES}:
            return {**{k: v for k, v in bound.items() if k != name}, **inner}
    return dict(bound)


_MAX_INT = 2**63


def _is_simple(value: Any) -> bool:
    """Whether an attribute can hold it as it is."""
    kind = type(value)
    if kind is list:
        return all(type(item) is str and clean(item) == item for item in value)
    return kind in (bool, float) or (kind is int and -_MAX_INT <= value < _MAX_INT) or (kind is str and clean(value) == value)


def _put_messages(spec: Spec, rest: Bound, attributes: Value, losses: Losses) -> Codec | None:
    for name in MESSAGES:
        if name not in rest:
            continue
        value = plain(rest[name])
        items = value if isinstance(value, list) else [value]
        if not all(_is_message(item) for item in items):
            continue
        codec = _codec(spec, name, items)
        messages = [message for item in items for message in _message(item, codec)]
        if codec.api == "openai.responses":
            messages = merge_turns(messages)
        attributes[sc.INPUT_MESSAGES] = text(messages, "request.messages", losses)
        del rest[name]
        return codec
    return None


def _is_message(item: Any) -> bool:
    if isinstance(item, dict):
        return isinstance(item.get("role"), str) or "parts" in item or isinstance(item.get("type"), str)
    return isinstance(item, str)


def _codec(spec: Spec, name: str, items: list[Any]) -> Codec:
    known = _APIS.get((spec.provider or "").partition(".")[0])
    if known or name == "contents":
        return CODECS[known or "gemini.generate_content"]
    found = [codec_of(item) for item in items if isinstance(item, dict) and not _is_genai(item)]
    if name == "input" and any("role" not in item for item in items if isinstance(item, dict)):
        return CODECS["openai.responses"]
    return next((codec for codec in found if codec.api != "openai.chat_completions"), CODECS["openai.chat_completions"])


def _is_genai(item: Value) -> bool:
    parts = item.get("parts")
    return (
        isinstance(parts, list)
        and "role" in item
        and all(isinstance(p, dict) and isinstance(p.get("type"), str) for p in parts)
    )


def _message(item: Any, codec: Codec) -> list[Value]:
    if isinstance(item, str):
        return said("user", item)
    return [item] if _is_genai(item) else codec.decode_message(item)


def _parts(value: Any, codec: Codec | None) -> list[Value] | None:
    value = plain(value)
    if isinstance(value, dict) and isinstance(value.get("parts"), list):
        value = value["parts"]
    if isinstance(value, str):
        return [{"type": "text", "content": value}]
    if not isinstance(value, list) or not all(isinstance(item, str | dict) for item in value):
        return None
    decode = (codec or CODECS["openai.chat_completions"]).decode_part
    return [part if isinstance(part, dict) and "content" in part and "type" in part else decode(part) for part in value]


def _tools(value: Any) -> list[Value] | None:
    if not isinstance(value, list | tuple):
        return None
    tools: list[Value] = []
    for item in value:
        known = plain(item)
        if isinstance(known, dict):
            tools += decode_tool(known)
        elif callable(item) and isinstance(getattr(item, "__name__", None), str):
            doc = inspect.getdoc(item)
            tools.append({"type": "function", "name": item.__name__, **({"description": doc} if doc else {})})
        else:
            return None
    return tools


# ---- response ----------------------------------------------------------------------------------------------------------


def put_response(spec: Spec, value: Any, attributes: Value, losses: Losses) -> str | None:
    """Put the answer into ``attributes``; returns its text where it is one message of plain text."""
    shown: Any = value
    if spec.response is not None:
        try:
            shown = spec.response(value)
        except Exception as error:  # the user's function
            failed("map the response", spec.function, error)
    response = _response(shown)
    messages = response.get("messages")
    if messages is not None:
        attributes[sc.OUTPUT_MESSAGES] = text(messages, "response.messages", losses)
    for field, attribute in (("id", sc.RESPONSE_ID), ("model", sc.RESPONSE_MODEL)):
        if isinstance(response.get(field), str):
            attributes[attribute] = clean(response[field])
    reasons = response.get("finish_reasons")
    if isinstance(reasons, list) and reasons and all(isinstance(reason, str) for reason in reasons):
        attributes[sc.FINISH_REASONS] = [clean(reason) for reason in reasons]
    usage = response.get("usage")
    for name, count in usage.items() if isinstance(usage, Mapping) else ():
        if isinstance(name, str) and type(count) is int and -_MAX_INT <= count < _MAX_INT:
            attributes[sc.USAGE_PREFIX + name] = count
    return _only_text(messages)


def put_chunks(spec: Spec, chunks: list[Any], attributes: Value, losses: Losses) -> None:
    """Put the answer that the chunks of a stream amount to into ``attributes``."""
    if spec.response is not None:
        put_response(spec, chunks, attributes, losses)
    elif chunks and all(isinstance(chunk, str) for chunk in chunks):
        put_response(spec, "".join(chunks), attributes, losses)
    elif (found := assemble([plain(chunk) for chunk in chunks])) is not None:
        put_response(spec, found[1], attributes, losses)


def _only_text(messages: Any) -> str | None:
    if not isinstance(messages, list) or len(messages) != 1 or not messages[0].keys() <= {"role", "parts"}:
        return None
    parts = messages[0].get("parts")
    one = parts[0] if isinstance(parts, list) and len(parts) == 1 else {}
    return one["content"] if one.keys() == {"type", "content"} and one["type"] == "text" else None


_OF_API = (
    ("choices", "openai.chat_completions"),
    ("output", "openai.responses"),
    ("candidates", "gemini.generate_content"),
)
_FIELDS = frozenset({"messages", "id", "model", "finish_reasons", "usage"})
_MESSAGE = frozenset({"role", "name", "content", "tool_calls", "refusal", "reasoning_content", "function_call"})


def _response(value: Any) -> Value:
    """The answer in the fields of an event, as far as its shape is known; else one message of text, which is its JSON."""
    if value is None:
        return {}
    value = plain(value)
    if isinstance(value, str):
        return {"messages": said("assistant", value)}
    if isinstance(value, dict):
        for key, api in _OF_API:
            if isinstance(value.get(key), list):
                return CODECS[api].decode_response(value)
        if isinstance(value.get("content"), list) and ("stop_reason" in value or value.get("type") == "message"):
            response = CODECS["anthropic.messages"].decode_response(value)
            total = span_input_tokens(response["usage"]) if response.get("usage") else None
            return response | ({"usage": {**response["usage"], "input_tokens": total}} if total is not None else {})
        if "messages" in value and value.keys() <= _FIELDS and _are_messages(value["messages"]):
            return {**value, "messages": [m for item in value["messages"] for m in _message(item, codec_of(item))]}
        if _is_genai(value):
            return {"messages": [value]}
        if value.keys() <= _MESSAGE and value.keys() & {"content", "tool_calls", "function_call"}:
            return {"messages": codec_of(value).decode_message({"role": "assistant", **value})}
    if isinstance(value, list) and value and _are_messages(value):
        return {"messages": [m for item in value for m in _message(item, codec_of(item))]}
    return {"messages": said("assistant", text(value, "response", []))}


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) and isinstance(item.get("role"), str) for item in value)
