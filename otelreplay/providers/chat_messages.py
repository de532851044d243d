"""Messages of chat completions: content blocks, calls and results, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.providers.bodies import Value, take_list, take_text
from otelreplay.providers.fields import as_dict
from otelreplay.providers.media import INPUT_AUDIO, blob, from_url, opened, split, to_base64, to_url
from otelreplay.providers.messages import Message, assemble, closed, opaque
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

SAME_AS_ABSENT: Mapping[str, tuple[Any, ...]] = {
    "refusal": (None,),
    "annotations": (None, []),
    "audio": (None,),
    "function_call": (None,),
    "tool_calls": (None, []),
}
"""Fields of a message that an SDK writes out although there is nothing in them."""

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
    return [encode_plain(role, parts, extra)]


def _encode_result(part: Part, extra: Value) -> Value:
    fields = {k: v for k, v in part.items() if k != "type"}
    renamed = rename(fields, RESULT)
    return {"role": extra.pop("role", "tool"), **(fields if renamed is None else renamed), **extra}


RESULT = {"id": "tool_call_id", "response": "content"}


def encode_plain(role: str, parts: list[Any], extra: Value) -> Value:
    """One message of any role but ``tool``."""
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
