"""Which API a message belongs to, told by its shape: telemetry holds provider messages without saying whose they are."""

from __future__ import annotations

from typing import Any

from otelreplay.providers import anthropic_messages, gemini, openai_chat, openai_responses
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
    return codec_of(message).decode_message(message)
