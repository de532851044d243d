"""Anthropic messages: results of tools move into messages of their own, opaque blocks stay byte for byte."""

import pytest

from otelreplay.providers import CODECS
from otelreplay.providers.anthropic_messages import span_input_tokens

CODEC = CODECS["anthropic.messages"]

USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
RESULT_2 = {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "a"}], "is_error": True}
TEXT = {"type": "text", "text": "a"}


def again(*messages):
    return CODEC.encode_request({"messages": [m for sent in messages for m in CODEC.decode_message(sent)]})["messages"]


def test_reasoning_signature_opaque_block_text_and_call_keep_order_and_every_byte():
    blocks = [
        {"type": "thinking", "thinking": "hmm", "signature": "EqQBCgIYAhIM+/=="},
        {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a=="},
        TEXT,
        USE,
    ]
    message = {"role": "assistant", "content": blocks}
    assert CODEC.decode_message(message) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "hmm", "signature": "EqQBCgIYAhIM+/=="},
                {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a=="},
                {"type": "text", "content": "a"},
                {"type": "tool_call", "id": "toolu_1", "name": "f", "arguments": {"a": 1}},
            ],
        }
    ]
    assert again(message) == [message]


def test_results_become_a_tool_message_in_their_place():
    message = {"role": "user", "content": [TEXT, RESULT, RESULT_2, TEXT]}
    first, tool, last = CODEC.decode_message(message)
    assert (first["role"], tool["role"], last["role"]) == ("user", "tool", "user")
    assert tool["parts"] == [
        {"type": "tool_call_response", "id": "toolu_1", "response": "ok"},
        {"type": "tool_call_response", "id": "toolu_2", "response": [TEXT], "is_error": True},
    ]
    assert again(message) == [message]


def test_messages_that_were_apart_stay_apart():
    sent = [
        {"role": "user", "content": [RESULT]},
        {"role": "user", "content": "a"},
        {"role": "user", "content": [RESULT, TEXT]},
    ]
    assert again(*sent) == sent


def test_a_message_without_one_before_it_that_it_could_join_stands_alone():
    joined = {"role": "user", "parts": [{"type": "text", "content": "a"}], "extra": {"joined": True}}
    user, odd = {"role": "user", "content": "a"}, {"role": None}
    assert CODEC.encode_request({"messages": [joined]})["messages"] == [user]
    assert CODEC.encode_request({"messages": [odd, joined]})["messages"] == [odd, user]


def test_messages_of_another_origin_are_written_one_by_one():
    tool = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "toolu_1", "response": "ok"}]}
    assert CODEC.encode_request({"messages": [tool, tool]})["messages"] == [{"role": "user", "content": [RESULT]}] * 2


def test_a_result_in_a_message_of_the_model_stays_there():
    message = {"role": "assistant", "content": [RESULT, TEXT]}
    assert [m["role"] for m in CODEC.decode_message(message)] == ["assistant"]


def test_no_content_is_no_part_and_an_empty_result_is_not_an_absent_one():
    assert CODEC.decode_message({"role": "user", "content": None}) == [{"role": "user", "parts": []}]
    empty, absent = {**RESULT, "content": ""}, {"type": "tool_result", "tool_use_id": "t"}
    assert CODEC.decode_part(empty)["response"] == ""
    assert "response" not in CODEC.decode_part(absent)


def test_text_and_one_plain_block_are_the_same():
    assert CODEC.decode_message({"role": "user", "content": "a"}) == CODEC.decode_message({"role": "user", "content": [TEXT]})


def test_empty_citations_say_nothing():
    assert CODEC.decode_part({**TEXT, "citations": None}) == {"type": "text", "content": "a"}
    assert CODEC.decode_part({**TEXT, "citations": [1]})["citations"] == [1]


MEDIA = [
    (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA"},
    ),
    (
        {
            "type": "image",
            "source": {"type": "url", "url": "https://example.com/a.png"},
            "cache_control": {"type": "ephemeral"},
        },
        {"type": "uri", "modality": "image", "uri": "https://example.com/a.png", "cache_control": {"type": "ephemeral"}},
    ),
    (
        {"type": "document", "source": {"type": "file", "file_id": "file_1"}, "title": "t"},
        {"type": "file", "modality": "document", "file_id": "file_1", "title": "t"},
    ),
]


@pytest.mark.parametrize(("block", "part"), MEDIA)
def test_media_blocks_become_media_parts_and_back(block, part):
    assert CODEC.decode_part(block) == part
    message = {"role": "user", "content": [block]}
    assert again(message) == [message]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}},
        {"type": "document", "source": {"type": "content", "content": []}},
        {"type": "image", "source": {"type": "base64", "media_type": 3, "data": "AA"}},
        {"type": "image", "source": {"type": "url", "url": "u", "size": 1}},
        {"type": "image", "source": {"type": "url", "url": 3}},
        {"type": "image", "source": {"type": ["url"]}},
        {"type": "image", "source": "x"},
        {"type": "image", "source": {"type": "url", "url": "u"}, "content": 1},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "t"},
        {"type": "tool_use", "id": "t", "name": "f", "arguments": {}},
        {"type": "thinking", "thinking": None},
    ],
)
def test_a_block_that_is_not_understood_is_kept_under_its_own_type(block):
    assert CODEC.decode_part(block) == block
    message = {"role": "user", "content": [block]}
    assert again(message) == [message]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "blob", "modality": "audio", "content": "AA"},
        {"type": "blob", "modality": "image"},
        {"type": "uri", "modality": "image"},
        {"type": "file", "modality": "document"},
        {"type": "uri", "modality": "image", "uri": "u", "source": 1},
    ],
)
def test_a_part_that_the_api_cannot_say_is_written_as_it_is(part):
    assert CODEC.encode_request({"messages": [{"role": "user", "parts": [part]}]})["messages"][0]["content"] == [part]


def test_a_call_without_input_has_no_arguments():
    assert CODEC.decode_part({"type": "tool_use", "id": "t", "name": "f"}) == {"type": "tool_call", "id": "t", "name": "f"}


def test_input_that_telemetry_holds_as_json_text_is_the_object():
    assert CODEC.decode_part({**USE, "input": '{"a": 1}'}) == CODEC.decode_part(USE)


@pytest.mark.parametrize("content", [7, {"a": 1}])
def test_content_of_an_unknown_kind_is_kept(content):
    message = {"role": "user", "content": content}
    assert again(message) == [message]


@pytest.mark.parametrize("message", [7, {"content": "a"}, {"role": None}])
def test_a_message_without_a_role_is_kept_whole(message):
    assert CODEC.decode_message(message)[0]["role"] == "unknown"
    assert again(message) == [message]


# ---- bodies


@pytest.mark.parametrize("system", ["a", [TEXT, {**TEXT, "cache_control": {"type": "ephemeral"}}], ""])
def test_the_system_comes_back_as_it_was(system):
    body = {"system": system, "messages": [{"role": "user", "content": "u"}]}
    request = CODEC.decode_request(body)
    assert all(p["type"] == "text" for p in request["system"])
    assert CODEC.encode_request(request) == body


def test_a_leading_system_message_joins_the_system():
    body = {"system": "a", "messages": [{"role": "system", "content": "b"}, {"role": "user", "content": "u"}]}
    request = CODEC.decode_request(body)
    assert [p["content"] for p in request["system"]] == ["a", "b"]
    assert CODEC.encode_request(request) == body


def test_parameters_and_tools_have_their_genai_names():
    body = {
        "model": "m", "max_tokens": 5, "temperature": 0, "top_p": 0.1, "top_k": 4, "stop_sequences": ["x"], "stream": False,
        "output_config": {"effort": "low", "format": {}}, "thinking": {"type": "adaptive"},
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}, "cache_control": {}}],
    }  # fmt: skip
    request = CODEC.decode_request(body)
    assert request["params"] == {
        "max_tokens": 5, "temperature": 0, "top_p": 0.1, "top_k": 4, "stop_sequences": ["x"], "stream": False,
        "reasoning.level": "low",
    }  # fmt: skip
    assert request["tools"] == [
        {
            "type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}, "cache_control": {},
        }
    ]  # fmt: skip
    assert request["extra"] == {"output_config": {"format": {}}, "thinking": {"type": "adaptive"}}
    assert CODEC.encode_request(request) == body


def test_fields_of_a_wrong_type_are_kept_in_extra():
    body = {"model": 7, "messages": "a", "system": 3, "tools": {}}
    assert CODEC.decode_request(body) == {"params": {}, "extra": body}


REPLY = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [TEXT, USE], "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20,
        "service_tier": "standard",
    },
}  # fmt: skip


def test_a_response_is_one_message_and_its_input_tokens_are_the_apis_own():
    response = CODEC.decode_response(REPLY)
    assert response["messages"][0]["finish_reason"] == "tool_call"
    assert response["finish_reasons"] == ["tool_use"]
    assert response["usage"] == {
        "input_tokens": 10, "output_tokens": 3, "cache_read.input_tokens": 100, "cache_write.input_tokens": 20,
    }  # fmt: skip
    assert response["extra"] == {"stop_sequence": None, "usage": {"service_tier": "standard"}}
    assert span_input_tokens(response["usage"]) == 130


def test_a_span_counts_cached_tokens_only_where_numbers_are_known():
    assert span_input_tokens({"input_tokens": 3, "cache_read.input_tokens": None}) == 3
    assert span_input_tokens({"cache_read.input_tokens": 3}) is None
    assert span_input_tokens({"input_tokens": "3"}) is None


def test_a_complete_response_is_written_as_it_was_and_nothing_is_assumed():
    assert CODEC.encode_response(CODEC.decode_response(REPLY)) == (REPLY, ())


def test_fields_that_are_not_the_usual_constant_are_kept():
    assert CODEC.decode_response({"type": "error", "role": "user"}) == {"extra": {"type": "error", "role": "user"}}


def test_a_reason_without_content_is_kept():
    reply = {**REPLY, "content": None}
    assert CODEC.decode_response(reply)["finish_reasons"] == ["tool_use"]
    assert CODEC.encode_response(CODEC.decode_response(reply)) == (reply, ())


@pytest.mark.parametrize(
    ("ours", "word"), [("stop", "end_turn"), ("length", "max_tokens"), ("tool_call", "tool_use"), ("x", "x")]
)
def test_the_schemas_word_is_turned_into_the_providers(ours, word):
    body, _ = CODEC.encode_response({"messages": [{"role": "assistant", "parts": [], "finish_reason": ours}]})
    assert body["stop_reason"] == word


def test_what_a_recording_never_held_is_neutral_and_listed():
    parts = [{"type": "tool_call"}, {"type": "reasoning", "content": "r"}, 7]
    body, assumed = CODEC.encode_response({"messages": [{"role": "assistant", "parts": parts}]})
    assert body == {
        "type": "message",
        "role": "assistant",
        "id": "msg_0",
        "model": "unknown",
        "content": [
            {"type": "tool_use", "id": "toolu_0", "name": "unknown", "input": {}},
            {"type": "thinking", "thinking": "r", "signature": ""},
            7,
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    assert set(assumed) == {
        "id", "model", "stop_reason", "stop_sequence", "usage", "usage.input_tokens", "usage.output_tokens", "content[0].id",
        "content[0].name", "content[0].input", "content[1].signature",
    }  # fmt: skip


def test_usage_of_another_kind_is_kept():
    assert CODEC.encode_response(CODEC.decode_response({**REPLY, "usage": None}))[0]["usage"] is None
