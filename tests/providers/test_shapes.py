"""Messages of unknown origin, and what the whole room shares."""

import pytest

from otelreplay import providers
from otelreplay.providers import CODECS, codec_of, decode_message, schema_part, split_system

CHAT, RESPONSES, ANTHROPIC, GEMINI = CODECS


def test_each_codec_stands_under_its_own_name():
    assert {name: codec.api for name, codec in CODECS.items()} == {name: name for name in CODECS}
    assert list(CODECS) == ["openai.chat_completions", "openai.responses", "anthropic.messages", "gemini.generate_content"]
    assert providers.CODECS is CODECS


@pytest.mark.parametrize(
    ("message", "api"),
    [
        ({"role": "user", "content": "a"}, CHAT),
        ({"role": "user", "content": [{"type": "text", "text": "a"}]}, CHAT),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, CHAT),
        ({"role": "assistant", "tool_calls": []}, CHAT),
        (7, CHAT),
        ({"role": "user", "parts": [{"text": "a"}]}, GEMINI),
        ({"type": "function_call", "name": "f"}, RESPONSES),
        ({"type": "message", "role": "user", "content": "a"}, RESPONSES),
        ({"role": "user", "content": [{"type": "input_text", "text": "a"}]}, RESPONSES),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}, ANTHROPIC),
        ({"role": "user", "content": [{"type": "image", "source": {}}]}, ANTHROPIC),
        ({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "a"}]}, ANTHROPIC),
        ({"role": "user", "content": [{"type": ["odd"]}, 7]}, CHAT),
    ],
)
def test_the_api_of_a_message_is_told_by_its_shape(message, api):
    assert codec_of(message).api == api
    assert decode_message(message) == CODECS[api].decode_message(message)


def test_what_only_one_provider_writes_can_be_left_out_of_a_part():
    part = {"type": "reasoning", "content": "a", "signature": "s"}
    assert schema_part(part) == {"type": "reasoning", "content": "a"}
    plain = {"type": "text", "content": "a"}
    assert schema_part(plain) is plain
    odd = {"type": "redacted_thinking", "data": "d"}
    assert schema_part(odd) is odd


def test_leading_instructions_are_split_off_and_no_instructions_are_none():
    system = {"role": "developer", "parts": [{"type": "text", "content": "a"}]}
    user = {"role": "user", "parts": []}
    assert split_system([system, user, system])[:2] == (system["parts"], [user, system])
    assert split_system([user])[0] is None
    assert split_system([7])[1] == [7]
