"""Pure codecs between a provider's JSON bodies and the GenAI message schema: one truth for dialects, matching and stub servers.

>>> from otelreplay.providers import CODECS
>>> CODECS["anthropic.messages"].decode_request({"model": "m", "messages": [{"role": "user", "content": "hello"}]})["messages"]
[{'role': 'user', 'parts': [{'type': 'text', 'content': 'hello'}]}]

What each field becomes, and which values are neutral, stands in ``docs/providers.md``.
"""

from collections.abc import Mapping

from otelreplay.providers import anthropic_messages, gemini, openai_chat, openai_responses
from otelreplay.providers.chunks import assemble
from otelreplay.providers.codec import Codec
from otelreplay.providers.messages import split_system
from otelreplay.providers.parts import SCHEMA_KEYS, read_arguments, schema_part, write_arguments
from otelreplay.providers.shapes import codec_of, decode_message, request_codec, response_codec
from otelreplay.providers.tools import decode_tool

CODECS: Mapping[str, Codec] = {
    module.API: module.CODEC for module in (openai_chat, openai_responses, anthropic_messages, gemini)
}  # fmt: skip
"""The codec of each API, by the name that ``request.api`` of a model event has."""

__all__ = [
    "CODECS",
    "SCHEMA_KEYS",
    "Codec",
    "assemble",
    "codec_of",
    "decode_message",
    "decode_tool",
    "read_arguments",
    "request_codec",
    "response_codec",
    "schema_part",
    "split_system",
    "write_arguments",
]
