"""OpenAI responses: ``POST /v1/responses``.

Source of the format: OpenAI's API reference and the types of its Python SDK. Items are in :mod:`.responses_items`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.providers.bodies import not_a_body, put_usage, summed, take_list, take_text, take_tools, take_usage, word_of
from otelreplay.providers.codec import Codec, Value
from otelreplay.providers.fields import Filling, Table, as_dict, as_list, present, put, take
from otelreplay.providers.messages import Message, split_system, spread_system
from otelreplay.providers.parts import plain_text, text_part
from otelreplay.providers.responses_items import (
    INPUT,
    OUTPUT,
    decode_item,
    encode_message,
    encode_parts,
    merge_turns,
    output_parts,
)  # fmt: skip
from otelreplay.providers.tools import decode_tool, function_fields, verbatim_tool

API = "openai.responses"

PARAMS: Table = (
    (("temperature",), "temperature"),
    (("top_p",), "top_p"),
    (("max_output_tokens",), "max_tokens"),
    (("stream",), "stream"),
    (("reasoning", "effort"), "reasoning.level"),
    (("previous_response_id",), "previous_response.id"),
)

USAGE: Table = (
    (("input_tokens",), "input_tokens"),
    (("output_tokens",), "output_tokens"),
    (("input_tokens_details", "cached_tokens"), "cache_read.input_tokens"),
    (("input_tokens_details", "cache_write_tokens"), "cache_write.input_tokens"),
    (("output_tokens_details", "reasoning_tokens"), "reasoning.output_tokens"),
)

FINISH = {
    "completed": "stop",
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "failed": "error",
}
STATUSES = frozenset({"completed", "failed", "in_progress", "cancelled", "queued", "incomplete"})
CALLING = frozenset({"function_call", "custom_tool_call"})

NEUTRAL = {
    "id": "resp_0",
    "created_at": 0,
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "model": "unknown",
    "output": [],
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
}
USAGE_KEY = "usage"
NEUTRAL_USAGE = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}


def _total(usage: Value) -> tuple[str, int | None]:
    return "total_tokens", summed("input_tokens", "output_tokens")(usage)


def decode_message(item: Any) -> list[Message]:
    """One item of ``input``, or the whole of it where it is a string."""
    return [{"role": "user", "parts": [text_part(item)]}] if isinstance(item, str) else decode_item(item)


# ---- request -----------------------------------------------------------------------------------------------------------


def _usual(parts: list[Any]) -> list[Value]:
    """Instructions are one text; anything else stands in a leading message."""
    if not parts:
        return []
    return [{"parts": 1, "in": "instructions"}] if plain_text(parts) is not None else [{"parts": len(parts), "role": "system"}]


def decode_request(body: Any) -> Value:
    """A request body."""
    if not isinstance(body, dict):
        return not_a_body(body)
    rest = dict(body)
    model, params = take_text(rest, "model"), take(rest, PARAMS)
    instructions = take_text(rest, "instructions")
    tools = take_tools(rest, "tools")
    sent = rest.pop("input") if isinstance(rest.get("input"), str | list) else None
    messages = None if sent is None else merge_turns([m for i in ([sent] if isinstance(sent, str) else sent) for m in _item(i)])
    system, messages, layout = split_system(messages) if messages is not None else (None, None, [])
    if instructions is not None:
        system, layout = [text_part(instructions), *(system or [])], [{"parts": 1, "in": "instructions"}, *layout]
    if system is not None and layout != _usual(system):
        rest["system_messages"] = layout
    return {
        "params": params,
        **present({"model": model, "system": system, "messages": messages, "tools": tools, "extra": rest or None}),
    }


def _item(item: Any) -> list[Message]:
    return decode_message(item)


def encode_request(request: Value) -> Value:
    """A request body; ``input`` is always a list of items."""
    extra = as_dict(request.get("extra"))
    layout = extra.pop("system_messages", None)
    body = {"model": request["model"]} | extra if "model" in request else extra
    put(body, as_dict(request.get("params")), PARAMS)
    leading: list[Any] = []
    for entry, parts in spread_system(request.get("system"), layout, _usual):
        if (text := plain_text(parts)) is not None and entry.get("in") == "instructions":
            body["instructions"] = text
        else:
            leading.append({"role": "system", **entry, "parts": parts})
    if "messages" in request or leading:
        body["input"] = [i for message in (*leading, *as_list(request.get("messages"))) for i in encode_message(message)]
    if isinstance(request.get("tools"), list):
        body["tools"] = [encode_tool(tool) for tool in request["tools"]]
    return body


def encode_tool(tool: Any) -> Any:
    """A tool definition."""
    function = function_fields(tool)
    return verbatim_tool(tool) if function is None else {"type": "function", **function}


# ---- response ----------------------------------------------------------------------------------------------------------


def decode_response(body: Any) -> Value:
    """A response body: one message of all its output items. The reason is the status, or why it is incomplete."""
    if not isinstance(body, dict):
        return not_a_body(body)
    rest = dict(body)
    if rest.get("object") == "response":
        del rest["object"]
    found: Value = {"id": take_text(rest, "id"), "model": take_text(rest, "model")}
    output, word = take_list(rest, "output"), _take_word(rest)
    if output is not None:
        message: Message = {"role": "assistant", "parts": output_parts(output)}
        if word is not None:
            calls = word == "completed" and any(p["type"] == "tool_call" for p in message["parts"])
            message["finish_reason"] = "tool_call" if calls else FINISH.get(word, word)
        found["messages"] = [message]
    found["finish_reasons"] = None if word is None else [word]
    found["usage"] = take_usage(rest, USAGE_KEY, USAGE, _total)
    return present({**found, "extra": rest or None})


def _take_word(rest: Value) -> str | None:
    status, details = rest.get("status"), rest.get("incomplete_details")
    if not isinstance(status, str):
        return None
    why = details.get("reason") if isinstance(details, dict) and len(details) == 1 else None
    if status == "incomplete" and isinstance(why, str) and why not in STATUSES:
        del rest["status"], rest["incomplete_details"]
        return why
    del rest["status"]
    return status


def encode_response(response: Value, *, defaults: Mapping[str, Any] | None = None) -> tuple[Value, tuple[str, ...]]:
    """A response body, and what in it was assumed."""
    filling = Filling(defaults)
    body = {"object": "response"} | {k: response[k] for k in ("id", "model") if k in response}
    body |= as_dict(response.get("extra"))
    _put_word(body, word_of(response, 0, FINISH))
    if isinstance(response.get("messages"), list):
        items = [item for m in response["messages"] for item in encode_parts(as_list(as_dict(m).get("parts")))]
        body["output"] = [_complete(item, f"output[{n}]", n, filling) for n, item in enumerate(items)]
    put_usage(body, USAGE_KEY, response.get("usage"), USAGE, _total)
    filling.fill(body, {"status": "completed"})
    filling.fill(body, NEUTRAL)
    filling.fill(body, {"usage": {}})
    if isinstance(body["usage"], dict):
        filling.fill(body["usage"], NEUTRAL_USAGE, under="usage")
    return body, tuple(filling.assumed)


def _put_word(body: Value, word: str | None) -> None:
    """``status`` and, where it is the reason of an incomplete response, ``incomplete_details``."""
    if word in STATUSES:
        body["status"] = word
    elif word in ("tool_call", "tool_calls", "stop"):
        body["status"] = "completed"
    elif word is not None:
        body |= {"status": "incomplete", "incomplete_details": {"reason": word}}


def _complete(item: Any, path: str, n: int, filling: Filling) -> Any:
    """An output item with the fields that the API gives each of its kind."""
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "message":
        item = {**item, "content": _blocks(item.get("content"))}
        filling.fill(item, {"id": f"msg_{n}", "status": "completed"}, under=path)
    elif kind == "reasoning":
        item = dict(item)
        filling.fill(item, {"id": f"rs_{n}"}, under=path)
    elif kind in CALLING:
        item = dict(item)
        own = {"arguments": "{}", "id": f"fc_{n}", "status": "completed"} if kind == "function_call" else {"input": ""}
        filling.fill(item, {"call_id": f"call_{n}", "name": "unknown", **own}, under=path)
    return item


def _blocks(content: Any) -> Any:
    """Content of an output message: always blocks, each with its empty list of annotations."""
    blocks = [OUTPUT.encode(text_part(content))] if isinstance(content, str) else content
    if not isinstance(blocks, list):
        return blocks
    return [{**b, "annotations": b.get("annotations", [])} if as_dict(b).get("type") == "output_text" else b for b in blocks]


CODEC = Codec(
    api=API,
    decode_request=decode_request,
    decode_response=decode_response,
    encode_request=encode_request,
    encode_response=encode_response,
    decode_message=decode_message,
    decode_part=INPUT.decode,
    decode_tool=decode_tool,
)
