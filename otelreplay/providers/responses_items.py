"""Items of OpenAI's Responses API: what stands in a request's ``input`` and in a response's ``output``.

One turn of the model is one GenAI message, though the API writes it as several items: its reasoning, its text and its calls. So
that the items can be told apart again, a part that came from an item with an id of its own remembers the item's other fields:
calls as ``item_id`` and the like beside their own, texts under ``item``. Each result of a tool is a message of its own.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from otelreplay.providers.fields import as_dict
from otelreplay.providers.media import INPUT_AUDIO, RESERVED, blob, from_url, to_base64, to_url
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
    renaming,
    text_part,
    write_arguments,
)  # fmt: skip

Item = dict[str, Any]

# ---- content blocks ----------------------------------------------------------------------------------------------------

OUTPUT_TEXT_NEUTRAL: dict[str, tuple[Any, ...]] = {"annotations": ([], None), "logprobs": ([], None)}


def _media(block: Block, modality: str, keys: tuple[str, ...]) -> Part | None:
    """A block whose one non-null key of ``keys`` says where the data is."""
    given = [k for k in keys if block.get(k) is not None]
    rest = {k: v for k, v in block.items() if k not in keys and k != "type"}
    if len(given) != 1 or not isinstance(block[given[0]], str) or rest.keys() & RESERVED:
        return None
    key, value = given[0], block[given[0]]
    if key == "file_id":
        return {"type": "file", "modality": modality, "file_id": value, **rest}
    if key == "file_url":
        return {"type": "uri", "modality": modality, "uri": value, **rest}
    part = from_url(value, modality)
    return {**(blob(modality, value, None) if key == "file_data" and part["type"] == "uri" else part), **rest}


def _image_in(block: Block) -> Part | None:
    return _media(block, "image", ("image_url", "file_id"))


def _file_in(block: Block) -> Part | None:
    return _media(block, "document", ("file_data", "file_url", "file_id"))


def _own(part: Part) -> dict[str, Any]:
    return {k: v for k, v in part.items() if k not in RESERVED and k != "type"}


def _image_out(part: Part) -> Block | None:
    if part.get("modality") != "image":
        return None
    if part["type"] == "file":
        return {"type": "input_image", "file_id": part["file_id"], **_own(part)} if "file_id" in part else None
    url = to_url(part)
    return None if url is None else {"type": "input_image", "image_url": url, **_own(part)}


def _file_out(part: Part) -> Block | None:
    if part["type"] == "blob":
        key, value = "file_data", to_url(part) if part.get("mime_type") else to_base64(part.get("content"))
    else:
        key, value = ("file_url", part.get("uri")) if part["type"] == "uri" else ("file_id", part.get("file_id"))
    return None if value is None else {"type": "input_file", key: value, **_own(part)}


MEDIA = (
    INPUT_AUDIO,
    *(Shape("input_image", kind, _image_in, _image_out) for kind in ("blob", "uri", "file")),
    *(Shape("input_file", kind, _file_in, _file_out) for kind in ("blob", "uri", "file")),
)
REFUSAL = renaming("refusal", "text", {"refusal": "content"}, text="refusal", form="refusal")
INPUT_TEXT, OUTPUT_TEXT, PLAIN_TEXT = (
    renaming(wire, "text", {"text": "content"}, text="text", neutral=OUTPUT_TEXT_NEUTRAL)
    for wire in ("input_text", "output_text", "text")
)

INPUT = Blocks((REFUSAL, INPUT_TEXT, OUTPUT_TEXT, PLAIN_TEXT, *MEDIA))
"""Blocks as they are read anywhere, and written in a message that the model did not make."""
OUTPUT = Blocks((REFUSAL, OUTPUT_TEXT, *MEDIA))
"""Blocks as they are written in a message of the model."""

# ---- items that are one part -------------------------------------------------------------------------------------------

CALL = {"call_id": "id", "id": "item_id"}
CALLS = (
    renaming("custom_tool_call", "tool_call", {**CALL, "input": "arguments"}, text="input", form="custom"),
    renaming("function_call", "tool_call", CALL),
)
RESULTS = (
    renaming("custom_tool_call_output", "tool_call_response", {**CALL, "output": "response"}, form="custom"),
    renaming("function_call_output", "tool_call_response", {**CALL, "output": "response"}),
)
RESULT_ITEMS = Blocks(RESULTS)


def _call_in(item: Item) -> Part | None:
    shape = CALLS[item["type"] == "function_call"]
    part = shape.decode(item) if isinstance(item.get("name"), str) else None
    if part is not None and shape.wire == "function_call" and "arguments" in part:
        part["arguments"] = read_arguments(part["arguments"])
    return part


def _call_out(part: Part) -> Item | None:
    for shape in CALLS:
        if (item := shape.encode(part)) is not None:
            key = "input" if shape.wire == "custom_tool_call" else "arguments"
            return item | ({key: write_arguments(part["arguments"])} if "arguments" in part else {})
    return None


def _texts(value: Any, kind: str) -> list[str] | None:
    """The texts of a list of blocks that hold a text and nothing else."""
    if not isinstance(value, list):
        return None
    plain = all(isinstance(b, dict) and b.keys() == {"type", "text"} and b["type"] == kind for b in value)
    return [b["text"] for b in value] if plain and all(isinstance(b["text"], str) for b in value) else None


def _reasoning_in(item: Item) -> Part | None:
    """``content`` is the text of all summaries, else of the reasoning itself; what that does not say stays beside it."""
    rest = {k: v for k, v in item.items() if k not in ("type", "id", "summary", "content")}
    summary, full = _texts(item.get("summary", []), "summary_text"), _texts(item.get("content") or [], "reasoning_text")
    if summary is None or full is None or rest.keys() & {"item_id", "form", "summary", "full"}:
        return None
    part: Part = {"type": "reasoning"}
    if summary or full:
        part["content"] = "\n\n".join(summary or full)
    if len(summary) > 1:
        part["summary"] = summary
    if full and (summary or len(full) > 1):
        part["full"] = full
    form = {"form": "reasoning_text"} if full and not summary else {}
    return part | form | ({"item_id": item["id"]} if "id" in item else {}) | rest


def _reasoning_out(part: Part) -> Item:
    """The kept texts are written only while they still say what ``content`` says."""
    own = {k: v for k, v in part.items() if k not in ("type", "content", "summary", "full", "form", "item_id")}
    text = part.get("content")
    of_full = part.get("form") == "reasoning_text"
    summary = [] if of_full or text is None else _kept(part.get("summary"), text)
    full = _kept(part.get("full"), text) if of_full else part.get("full")
    item: Item = {"type": "reasoning"} | ({"id": part["item_id"]} if "item_id" in part else {})
    item["summary"] = [{"type": "summary_text", "text": t} for t in summary]
    if isinstance(full, list) and full:
        item["content"] = [{"type": "reasoning_text", "text": t} for t in full]
    return item | own


def _kept(texts: Any, said: Any) -> list[Any]:
    kept = isinstance(texts, list) and all(isinstance(t, str) for t in texts) and "\n\n".join(texts) == said
    return list(texts) if kept else [said]


# ---- messages ----------------------------------------------------------------------------------------------------------


def decode_item(item: Any) -> list[Message]:
    """One item of ``input`` as a message."""
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind == "message" and isinstance(item.get("role"), str):
        return [_message(item)]
    if not isinstance(kind, str) or kind == "message":
        return [opaque(item)]
    role = "tool" if kind.endswith("_output") or kind == "mcp_approval_response" else "assistant"
    return [assemble(role, [_item_part(item)], {})]


def output_parts(items: list[Any]) -> list[Part]:
    """The parts of the one message that a response's items are."""
    return [part for item in items for part in _output_parts(item)]


def _output_parts(item: Any) -> list[Part]:
    if isinstance(item, dict) and item.get("type") == "message" and item.get("role", "assistant") == "assistant":
        return _turn({**item, "role": "assistant"})
    return [_item_part(item)]


def _item_part(item: Any) -> Part:
    kind = item.get("type") if isinstance(item, dict) else None
    part: Part | None = None
    if kind in ("function_call", "custom_tool_call"):
        part = _call_in(item)
    elif kind == "reasoning":
        part = _reasoning_in(item) or generic(item)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        return RESULT_ITEMS.decode(item)
    if part is None:
        return dict(item) if isinstance(kind, str) and kind != "generic" else generic(item)
    return part


def _message(item: Item) -> Message:
    if item["role"] == "assistant":
        return assemble("assistant", _turn(item), {})
    rest = {k: v for k, v in item.items() if k not in ("role", "content") and not (k == "type" and v == "message")}
    return assemble(item["role"], _content(item.get("content")), rest)


def _content(content: Any) -> list[Part]:
    if content is None:
        return []
    if isinstance(content, str):
        return [text_part(content)]
    return [INPUT.decode(block) for block in content] if isinstance(content, list) else [generic(content, "content")]


def _turn(item: Item) -> list[Part]:
    """A message of the model: its texts, each with what else the item says."""
    own = {k: v for k, v in item.items() if k not in ("type", "role", "content")}
    content = item.get("content")
    parts = [p if _is_content(p) else generic(_wire(p), "block") for p in _content(content)]
    if not parts or not isinstance(content, str | list):
        return [{"type": "message", **{k: v for k, v in item.items() if k != "type"}}]
    return [{**part, "item": own} for part in parts] if own else parts


def _is_content(part: Part) -> bool:
    return part["type"] in ("text", "blob", "uri", "file") and "item" not in part


def _wire(part: Part) -> Any:
    return part["value"] if is_generic(part) else INPUT.encode(part)


def merge_turns(messages: list[Message]) -> list[Message]:
    """Neighbouring messages of the model as one: the API writes a turn as several items."""
    out: list[Message] = []
    for message in messages:
        if out and message["role"] == out[-1]["role"] == "assistant":
            out[-1] = {"role": "assistant", "parts": [*out[-1]["parts"], *message["parts"]]}
        else:
            out.append(message)
    return out


# ---- and back ----------------------------------------------------------------------------------------------------------


def encode_message(message: Any) -> list[Any]:
    """The items of one GenAI message."""
    found = opened_message(message)
    if found is None:
        return [closed(message)]
    role, parts, extra = found
    if role == "assistant" and not extra.keys() - {"choice"}:
        return encode_parts(parts)
    if role == "tool":
        return [encode_item(part) for part in parts]
    text = plain_text(parts)
    content = text if text is not None else _encode_content(parts)
    return [{"type": "message", "role": role, "content": content, **extra}]


def _encode_content(parts: list[Any]) -> Any:
    if len(parts) == 1 and is_generic(parts[0], "content"):
        return parts[0]["value"]
    return [INPUT.encode(part) for part in parts]


def encode_parts(parts: list[Any]) -> list[Any]:
    """The items of the parts of one turn: neighbouring texts of one item are one message item."""
    items: list[Any] = []
    for key, group in groupby(parts, _item_of):
        if key is None:
            items += [encode_item(part) for part in group]
        else:
            items.append(_encode_turn(key[1], list(group)))
    return items


def _item_of(part: Any) -> tuple[str, dict[str, Any]] | None:
    """What the neighbours that share a message item have in common; None for an item of its own."""
    if not isinstance(part, dict):
        return None
    if part.get("type") in ("text", "blob", "uri", "file") or is_generic(part, "block"):
        return "message", as_dict(part.get("item"))
    return None


def _bare(part: Part) -> Part:
    return {k: v for k, v in part.items() if k != "item"}


def _encode_turn(own: dict[str, Any], parts: list[Part]) -> Item:
    bare = [_bare(part) for part in parts]
    text = None if own else plain_text(bare)
    blocks = [p["value"] if is_generic(p, "block") else OUTPUT.encode(p) for p in bare]
    content: Any = text if text is not None else blocks
    return {"type": "message", "role": "assistant", "content": content, **own}


def encode_item(part: Any) -> Any:
    """The item of a part that is one of its own."""
    kind = part.get("type") if isinstance(part, dict) else None
    if is_generic(part):
        return part["value"]
    if kind == "reasoning":
        return _reasoning_out(part)
    item = _call_out(part) if kind == "tool_call" else RESULT_ITEMS.encode(part) if kind == "tool_call_response" else None
    return item if item is not None else part
