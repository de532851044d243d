"""Gemini: blocks without a type, two spellings, ids that are absent."""

import pytest

from otelreplay.providers import CODECS

CODEC = CODECS["gemini.generate_content"]

CALL = {"functionCall": {"name": "f", "args": {"a": 1}}}
ANSWER = {"functionResponse": {"name": "f", "response": {"result": 1}}}


def again(*contents):
    return CODEC.encode_request({"messages": [m for sent in contents for m in CODEC.decode_message(sent)]})["contents"]


BLOCKS = [
    ({"text": "a"}, {"type": "text", "content": "a"}),
    ({"text": ""}, {"type": "text", "content": ""}),
    (
        {"text": "hm", "thought": True, "thoughtSignature": "CpkB+/=="},
        {"type": "reasoning", "content": "hm", "thoughtSignature": "CpkB+/=="},
    ),
    (CALL, {"type": "tool_call", "name": "f", "arguments": {"a": 1}}),
    (
        {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": "s"},
        {"type": "tool_call", "id": "c1", "name": "f", "arguments": {}, "thoughtSignature": "s"},
    ),
    ({"functionCall": {"name": "f"}}, {"type": "tool_call", "name": "f"}),
    (ANSWER, {"type": "tool_call_response", "name": "f", "response": {"result": 1}}),
    (
        {"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "d"}},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA", "displayName": "d"},
    ),
    (
        {"fileData": {"fileUri": "gs://b/a.mp4", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 1}},
        {"type": "uri", "modality": "video", "mime_type": "video/mp4", "uri": "gs://b/a.mp4", "videoMetadata": {"fps": 1}},
    ),
    ({"fileData": {"fileUri": "gs://b/a"}}, {"type": "uri", "modality": "document", "uri": "gs://b/a"}),
    ({"executableCode": {"code": "1"}}, {"type": "executableCode", "executableCode": {"code": "1"}}),
]


@pytest.mark.parametrize(("block", "part"), BLOCKS)
def test_a_block_becomes_a_part_and_back(block, part):
    assert CODEC.decode_part(block) == part
    content = {"role": "model", "parts": [block]}
    assert again(content) == [content]


def test_both_spellings_are_the_same_and_nulls_of_the_sdk_say_nothing():
    snake = {
        "function_call": {"id": None, "name": "f", "args": {"a": 1}, "partial_args": None},
        "text": None,
        "inline_data": None,
        "thought_signature": None,
    }
    assert CODEC.decode_part(snake) == CODEC.decode_part(CALL)
    assert CODEC.decode_part({"inline_data": {"mime_type": "image/png", "data": "AA"}})["mime_type"] == "image/png"


@pytest.mark.parametrize(
    "block",
    [
        {"text": 3},
        {"text": "a", "functionCall": {"name": "f"}},
        {"text": "a", "content": "b"},
        {"text": "a", "type": "x"},
        {"functionCall": {"args": {}}},
        {"functionCall": {"name": "f", "shade": 1}},
        {"functionCall": {"name": "f"}, "arguments": 1},
        {"functionCall": 3},
        {"functionResponse": {"name": "f", "shade": 1}},
        {"functionResponse": 3},
        {"inlineData": {"mimeType": "a/b"}},
        {"inlineData": 3},
        {"fileData": {"mimeType": "a/b"}},
        {"hologram": {}},
        {"function_call": {"name": "f"}, "functionCall": {"name": "g"}},
        {},
        7,
    ],
)
def test_a_block_that_is_not_understood_is_kept_whole(block):
    if isinstance(block, dict) and "function_call" in block:
        assert CODEC.decode_part(block)["type"] == "tool_call"
    else:
        assert CODEC.decode_part(block) == {"type": "generic", "value": block}
    content = {"role": "user", "parts": [{"text": "a"}, block]}
    assert again(content) == [content]


@pytest.mark.parametrize("part", ["a", {"type": 5}, {"type": "odd", "x": 1}, {"content": "a"}])
def test_a_part_that_the_api_cannot_say_is_written_as_it_is(part):
    assert CODEC.encode_request({"messages": [{"role": "user", "parts": [part]}]})["contents"][0]["parts"] == [part]


def test_parts_without_their_data_are_written_as_far_as_they_go():
    parts = [{"type": "text"}, {"type": "reasoning"}, {"type": "blob", "modality": "image"}]
    assert CODEC.encode_request({"messages": [{"role": "user", "parts": parts}]})["contents"][0]["parts"] == [
        {}, {"thought": True}, {"inlineData": {}},
    ]  # fmt: skip


def test_bytes_are_written_as_base64():
    part = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": b"\x00"}
    written = CODEC.encode_request({"messages": [{"role": "user", "parts": [part]}]})["contents"][0]["parts"]
    assert written == [{"inlineData": {"data": "AA==", "mimeType": "image/png"}}]


def test_a_null_response_of_a_function_is_not_an_absent_one():
    assert CODEC.decode_part({"functionResponse": {"name": "f", "response": None}})["response"] is None
    assert "response" not in CODEC.decode_part({"functionResponse": {"name": "f"}})


def test_what_functions_answered_becomes_a_tool_message_in_its_place():
    content = {"role": "user", "parts": [ANSWER, ANSWER, {"text": "a"}]}
    tool, user = CODEC.decode_message(content)
    assert (tool["role"], len(tool["parts"]), user["role"]) == ("tool", 2, "user")
    assert again(content) == [content]


@pytest.mark.parametrize("role", ["function", "assistant"])
def test_roles_that_the_genai_role_does_not_say_are_remembered(role):
    content = {"role": role, "parts": [ANSWER if role == "function" else {"text": "a"}]}
    (message,) = CODEC.decode_message(content)
    assert message["role"] == {"function": "tool"}.get(role, role)
    assert again(content) == [content]


def test_a_model_is_an_assistant_and_no_role_is_a_user():
    assert CODEC.decode_message({"role": "model", "parts": []}) == [{"role": "assistant", "parts": []}]
    assert CODEC.decode_message({"parts": [{"text": "a"}]})[0]["role"] == "user"


def test_the_sdks_short_forms_are_read():
    expected = [{"role": "user", "parts": [{"type": "text", "content": "a"}]}]
    for contents in ("a", ["a"], {"parts": "a"}, [{"parts": {"text": "a"}}], {"role": "user", "parts": ["a"]}):
        assert CODEC.decode_request({"contents": contents})["messages"] == expected
    assert CODEC.decode_message({"role": "user", "parts": None}) == [{"role": "user", "parts": []}]


@pytest.mark.parametrize("content", [7, {"role": 3, "parts": []}, {"role": "user", "parts": 7}])
def test_a_content_that_is_not_understood_is_kept_whole(content):
    assert CODEC.decode_message(content)[0]["role"] == "unknown"
    assert again(content) == [content]


# ---- bodies


@pytest.mark.parametrize("system", [{"parts": [{"text": "a"}]}, {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}])
def test_the_system_comes_back_as_it_was(system):
    body = {"systemInstruction": system, "contents": [{"role": "user", "parts": [{"text": "u"}]}]}
    request = CODEC.decode_request(body)
    assert request["system"][0] == {"type": "text", "content": "a"}
    assert CODEC.encode_request(request) == body


@pytest.mark.parametrize("system", ["a", [{"text": "a"}], ["a"], {"parts": {"text": "a"}}])
def test_short_forms_of_the_system_are_read(system):
    assert CODEC.decode_request({"system_instruction": system})["system"] == [{"type": "text", "content": "a"}]


@pytest.mark.parametrize("system", [7, {"role": "user"}, {"parts": 7}])
def test_a_system_that_is_not_understood_is_kept(system):
    body = {"systemInstruction": system}
    assert CODEC.decode_request(body) == {"params": {}, "extra": body}
    assert CODEC.encode_request(CODEC.decode_request(body)) == body


def test_a_leading_system_message_joins_the_system():
    body = {"systemInstruction": {"parts": [{"text": "a"}]}, "contents": [{"role": "system", "parts": [{"text": "b"}]}]}
    request = CODEC.decode_request(body)
    assert [p["content"] for p in request["system"]] == ["a", "b"]
    assert CODEC.encode_request(request) == body


CONFIG = {
    "temperature": 0, "topP": 0.5, "topK": 3, "maxOutputTokens": 9, "stopSequences": ["x"], "seed": 1, "frequencyPenalty": 0.1,
    "presencePenalty": 0.2, "candidateCount": 2, "thinkingConfig": {"thinkingLevel": "low", "includeThoughts": True},
    "responseMimeType": "application/json",
}  # fmt: skip
PARAMS = {
    "temperature": 0, "top_p": 0.5, "top_k": 3, "max_tokens": 9, "stop_sequences": ["x"], "seed": 1, "frequency_penalty": 0.1,
    "presence_penalty": 0.2, "choice.count": 2, "reasoning.level": "low",
}  # fmt: skip


def test_parameters_have_their_genai_names():
    body = {"generationConfig": CONFIG, "safetySettings": []}
    request = CODEC.decode_request(body)
    assert request["params"] == PARAMS
    assert request["extra"] == {
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}, "responseMimeType": "application/json"},
        "safetySettings": [],
    }
    assert CODEC.encode_request(request) == body


def test_the_sdks_config_is_read_as_the_fields_that_it_is_sent_as():
    config = {
        "system_instruction": "s", "temperature": 0, "max_output_tokens": 9, "top_k": None, "tools": [{"googleSearch": {}}],
        "thinking_config": {"thinking_level": "low"},
    }  # fmt: skip
    request = CODEC.decode_request({"model": "m", "contents": "a", "config": config})
    assert request["model"] == "m"
    assert request["params"] == {"temperature": 0, "max_tokens": 9, "reasoning.level": "low"}
    assert request["system"] == [{"type": "text", "content": "s"}]
    assert request["tools"] == [{"type": "googleSearch", "googleSearch": {}}]
    assert "extra" not in request


@pytest.mark.parametrize("config", [7, {"tools": []}])
def test_a_config_that_says_something_twice_or_nothing_is_kept(config):
    body = {"config": config, "tools": [], "contents": []}
    assert CODEC.decode_request(body)["extra"] == {"config": config}


def test_a_config_beside_a_generation_config_is_kept():
    assert CODEC.decode_request({"config": {"seed": 1}, "generationConfig": {}})["extra"] == {
        "config": {"seed": 1}, "generationConfig": {},
    }  # fmt: skip
    assert CODEC.decode_request({"config": {"system_instruction": "s"}}) == {
        "params": {}, "system": [{"type": "text", "content": "s"}],
    }  # fmt: skip


def test_a_generation_config_of_another_kind_is_kept():
    for config in (7, {"thinkingConfig": 7}):
        assert CODEC.decode_request({"generationConfig": config})["extra"] == {"generationConfig": config}


def test_functions_are_declared_in_one_list_and_other_tools_after_it():
    tools = [
        {
            "functionDeclarations": [
                {"name": "f", "description": "d", "parametersJsonSchema": {"type": "object"}},
                {"name": "g", "parameters": {"type": "OBJECT"}},
            ]
        },
        {"googleSearch": {}},
    ]
    request = CODEC.decode_request({"tools": tools})
    assert [t["type"] for t in request["tools"]] == ["function", "function", "googleSearch"]
    assert [t.get("parameters") for t in request["tools"]] == [{"type": "object"}, {"type": "OBJECT"}, None]
    assert CODEC.encode_request(request) == {"tools": tools}


def test_fields_of_a_wrong_type_are_kept_in_extra():
    body = {"contents": 7, "tools": {}}
    assert CODEC.decode_request(body) == {"params": {}, "extra": body}


REPLY = {
    "candidates": [
        {"content": {"role": "model", "parts": [CALL]}, "finishReason": "STOP", "index": 0, "avgLogprobs": -0.5},
        {"content": {"role": "model", "parts": [{"text": "a"}]}, "finishReason": "SAFETY", "index": 1},
    ],
    "usageMetadata": {
        "promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 18, "thoughtsTokenCount": 5,
        "cachedContentTokenCount": 2, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
    },
    "modelVersion": "m-1",
    "responseId": "r-1",
}  # fmt: skip


def test_a_response_is_read_candidate_by_candidate():
    response = CODEC.decode_response(REPLY)
    assert (response["id"], response["model"]) == ("r-1", "m-1")
    assert response["finish_reasons"] == ["STOP", "SAFETY"]
    assert [m["finish_reason"] for m in response["messages"]] == ["stop", "content_filter"]
    assert response["usage"] == {
        "input_tokens": 10, "output_tokens": 3, "cache_read.input_tokens": 2, "reasoning.output_tokens": 5,
    }  # fmt: skip
    assert response["messages"][0]["extra"] == {"candidate": {"avgLogprobs": -0.5}}
    assert response["extra"] == {"usageMetadata": {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}]}}


def test_a_complete_response_is_written_as_it_was_and_nothing_is_assumed():
    assert CODEC.encode_response(CODEC.decode_response(REPLY)) == (REPLY, ())


def test_the_sdks_spelling_of_a_response_is_the_same():
    snake = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}, "finish_reason": "STOP", "index": 0}],
        "usage_metadata": {"prompt_token_count": 1, "candidates_token_count": 2, "total_token_count": 3},
        "model_version": "m",
        "response_id": "r",
    }
    response = CODEC.decode_response(snake)
    assert response["usage"] == {"input_tokens": 1, "output_tokens": 2}
    assert response["finish_reasons"] == ["STOP"]
    assert "extra" not in response


def test_a_candidate_without_parts_or_role_is_a_message_of_the_model():
    response = CODEC.decode_response({"candidates": [{"finishReason": "MAX_TOKENS"}, {"content": {"parts": [{"text": "a"}]}}]})
    assert response["messages"][0] == {"role": "assistant", "parts": [], "finish_reason": "length"}
    assert response["messages"][1]["role"] == "assistant"


@pytest.mark.parametrize(
    "candidate",
    [
        7,
        {"content": 7},
        {"content": {"role": 3, "parts": []}, "index": 0, "finishReason": "STOP"},
        {"content": {"role": "model", "parts": 7}, "index": 0, "finishReason": "STOP"},
        {"content": {"role": "user", "parts": []}, "index": 0, "finishReason": "STOP"},
        {"content": {"role": "model", "parts": [], "odd": 1}, "index": 5, "finishReason": "STOP"},
    ],
)
def test_an_odd_candidate_comes_back(candidate):
    body, _ = CODEC.encode_response(CODEC.decode_response({"candidates": [candidate]}))
    assert body["candidates"] == [candidate]


def test_what_a_recording_never_held_is_neutral_and_listed():
    body, assumed = CODEC.encode_response({"messages": [{"role": "assistant", "parts": []}]})
    assert body == {
        "candidates": [{"content": {"role": "model", "parts": []}, "index": 0, "finishReason": "STOP"}],
        "responseId": "resp-0",
        "modelVersion": "unknown",
        "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
    }
    assert set(assumed) == {
        "responseId", "modelVersion", "candidates[0].finishReason", "usageMetadata", "usageMetadata.promptTokenCount",
        "usageMetadata.candidatesTokenCount", "usageMetadata.totalTokenCount",
    }  # fmt: skip


def test_a_call_ends_with_the_providers_word():
    body, _ = CODEC.encode_response({"messages": [{"role": "assistant", "parts": [], "finish_reason": "tool_call"}]})
    assert body["candidates"][0]["finishReason"] == "STOP"


def test_usage_of_another_kind_is_kept():
    assert CODEC.encode_response(CODEC.decode_response({"usageMetadata": None}))[0]["usageMetadata"] is None
