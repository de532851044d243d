"""OpenAI responses as a stream.

response.created, response.in_progress          the response without its output
  for each item  response.output_item.added     the item without its content
    for each text  content_part.added, output_text.delta ..., output_text.done, content_part.done
    arguments, reasoning and refusals in the same way
  response.output_item.done                     the item
response.completed, .incomplete or .failed      the response
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from otelreplay.providers.fields import as_list
from otelreplay.stubs.streams.cutting import by_tokens, slices, words

Value = dict[str, Any]

_CALLS: Final = {
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
    "mcp_call": ("arguments", "mcp_call_arguments"),
}
_ENDS: Final = {"incomplete": "response.incomplete", "cancelled": "response.incomplete", "failed": "response.failed"}
_OPEN: Final = {"status": "in_progress"}


def pieces(body: Value) -> list[Value]:
    """The events of a response."""
    output = as_list(body.get("output"))
    begun = {**body, **_OPEN, "output": [], "usage": None, "error": None, "incomplete_details": None}
    if "completed_at" in body:
        begun["completed_at"] = None
    events: list[Value] = [{"type": "response.created", "response": begun}, {"type": "response.in_progress", "response": begun}]
    for index, item in enumerate(output):
        events += ({**event, "output_index": index} for event in _item(item))
    status = body.get("status")
    events.append({"type": _ENDS.get(str(status), "response.completed"), "response": body})
    return [{**event, "sequence_number": n} for n, event in enumerate(events)]


def _item(item: Any) -> Iterator[Value]:
    kind = item.get("type") if isinstance(item, dict) else None
    opened: Any = item
    inner: Iterator[Value] = iter(())
    open_status = _OPEN if isinstance(item, dict) and "status" in item else {}
    if kind == "message":
        opened, inner = {**item, **open_status, "content": []}, _contents(item)
    elif kind == "reasoning":
        opened, inner = {**item, **open_status, "summary": []}, _reasoning(item)
        if isinstance(item.get("content"), list):
            opened["content"] = []
    elif isinstance(kind, str) and kind in _CALLS and isinstance(item.get(_CALLS[kind][0]), str):
        key, name = _CALLS[kind]
        opened, inner = {**item, **open_status, key: ""}, _call(item, key, name)
    yield {"type": "response.output_item.added", "item": opened}
    for event in inner:
        yield {**event, "item_id": item.get("id", "")}
    yield {"type": "response.output_item.done", "item": item}


def _call(item: Value, key: str, name: str) -> Iterator[Value]:
    for piece in slices(item[key]):
        yield {"type": f"response.{name}.delta", "delta": piece}
    more = {"name": item["name"]} if key == "arguments" and "name" in item else {}
    yield {"type": f"response.{name}.done", key: item[key], **more}


def _contents(item: Value) -> Iterator[Value]:
    content = item.get("content")
    blocks = [{"type": "output_text", "text": content, "annotations": []}] if isinstance(content, str) else as_list(content)
    for index, block in enumerate(blocks):
        for event in _block(block):
            yield {**event, "content_index": index}


def _block(block: Any) -> Iterator[Value]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "output_text" and isinstance(block.get("text"), str):
        empty = {**block, "text": "", "annotations": []} | ({"logprobs": []} if "logprobs" in block else {})
        yield {"type": "response.content_part.added", "part": empty}
        for piece, tokens in by_tokens(block["text"], block.get("logprobs")):
            yield {"type": "response.output_text.delta", "delta": piece, "logprobs": tokens}
        for n, annotation in enumerate(as_list(block.get("annotations"))):
            yield {"type": "response.output_text.annotation.added", "annotation": annotation, "annotation_index": n}
        yield {"type": "response.output_text.done", "text": block["text"], "logprobs": as_list(block.get("logprobs"))}
    elif kind == "refusal" and isinstance(block.get("refusal"), str):
        yield {"type": "response.content_part.added", "part": {**block, "refusal": ""}}
        for piece in words(block["refusal"]):
            yield {"type": "response.refusal.delta", "delta": piece}
        yield {"type": "response.refusal.done", "refusal": block["refusal"]}
    else:
        yield {"type": "response.content_part.added", "part": block}
    yield {"type": "response.content_part.done", "part": block}


def _reasoning(item: Value) -> Iterator[Value]:
    for index, part in enumerate(as_list(item.get("summary"))):
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            continue
        for event in _summary(part):
            yield {**event, "summary_index": index}
    for index, part in enumerate(as_list(item.get("content"))):
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            continue
        yield {"type": "response.content_part.added", "part": {**part, "text": ""}, "content_index": index}
        for piece in words(part["text"]):
            yield {"type": "response.reasoning_text.delta", "delta": piece, "content_index": index}
        yield {"type": "response.reasoning_text.done", "text": part["text"], "content_index": index}
        yield {"type": "response.content_part.done", "part": part, "content_index": index}


def _summary(part: Value) -> Iterator[Value]:
    yield {"type": "response.reasoning_summary_part.added", "part": {**part, "text": ""}}
    for piece in words(part["text"]):
        yield {"type": "response.reasoning_summary_text.delta", "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", "part": part}
