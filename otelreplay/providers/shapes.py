"""Which API a message belongs to, told by its shape: telemetry holds provider messages without saying whose they are."""

from __future__ import annotations

from typing import Any

from otelreplay.providers import anthropic_messages, converse_blocks, gemini, openai_chat, openai_responses
from otelreplay.providers.codec import Codec
from otelreplay.providers.fields import as_list
from otelreplay.providers.messages import Message

ANTHROPIC_BLOCKS = frozenset({
    "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document", "search_result",
})  # fmt: skip
RESPONSES_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


def codec_of(message: Any) -> Codec:
    """The codec of the API that writes such messages; chat completions where several do."""
    if not isinstance(message, dict):
        return openai_chat.CODEC
    if "parts" in message and "content" not in message:
        return gemini.CODEC
    blocks = [b for b in as_list(message.get("content")) if isinstance(b, dict)]
    kinds = {b["type"] for b in blocks if isinstance(b.get("type"), str)}
    if kinds & RESPONSES_BLOCKS:
        return openai_responses.CODEC
    if kinds & ANTHROPIC_BLOCKS or any("source" in b for b in blocks):
        return anthropic_messages.CODEC
    if isinstance(message.get("type"), str):
        return anthropic_messages.CODEC if "text" in kinds else openai_responses.CODEC
    return openai_chat.CODEC


def decode_message(message: Any) -> list[Message]:
    """One message of any of the APIs as GenAI messages. Never raises."""
    if converse_blocks.is_message(message):
        return converse_blocks.decode_message(message)
    return codec_of(message).decode_message(message)


def request_codec(body: Any) -> Codec | None:
    """The codec of the API whose request body this is, told by its members; None where it is no request body."""
    if not isinstance(body, dict):
        return None
    if _are_objects(body.get("contents")) or (isinstance(body.get("contents"), str) and "model" in body):
        return gemini.CODEC
    if _are_objects(body.get("messages")):
        named = "system" in body or any("input_schema" in t for t in as_list(body.get("tools")) if isinstance(t, dict))
        return anthropic_messages.CODEC if named or _of_anthropic(body["messages"]) else openai_chat.CODEC
    if isinstance(body.get("input"), str) or _are_objects(body.get("input")):
        return openai_responses.CODEC
    return None


def response_codec(body: Any) -> Codec | None:
    """The codec of the API whose response body this is, told by its members; None where it is no response body."""
    if not isinstance(body, dict):
        return None
    if _are_objects(body.get("choices")):
        return openai_chat.CODEC
    if _are_objects(body.get("candidates")):
        return gemini.CODEC
    if _are_objects(body.get("output")) and ("id" in body or "status" in body or body.get("object") == "response"):
        return openai_responses.CODEC
    if isinstance(body.get("content"), list) and body.keys() & {"stop_reason", "usage"} and body.get("role") == "assistant":
        return anthropic_messages.CODEC
    return None


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _of_anthropic(messages: list[Any]) -> bool:
    return any(codec_of(message) is anthropic_messages.CODEC for message in messages)
