"""Chat completions: how each field is read, and that it is written back as it was."""

import pytest

from otelreplay.providers import CODECS

CODEC = CODECS["openai.chat_completions"]


def parts(message):
    (decoded,) = CODEC.decode_message({"role": "assistant", **message})
    return decoded["parts"]


def again(message):
    """The message as it comes back from the GenAI form."""
    return CODEC.encode_request({"messages": CODEC.decode_message(message)})["messages"]


def call(arguments, **more):
    return {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": arguments}, **more}


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ("null", None),
        ("4.0", 4.0),
        ("SELECT 1", "SELECT 1"),
        ('"SELECT 1"', '"SELECT 1"'),
        ('{"a":', '{"a":'),
        ("", ""),
        ('{"n": 9007199254740993}', {"n": 9007199254740993}),
    ],
)
def test_arguments_are_the_value_of_json_and_the_exact_text_of_anything_else(wire, value):
    (part,) = parts({"tool_calls": [call(wire)]})
    assert part == {"type": "tool_call", "id": "call_1", "name": "f", "arguments": value}
    assert type(part["arguments"]) is type(value)


def test_arguments_that_telemetry_holds_as_an_object_are_the_same_as_json_text():
    assert parts({"tool_calls": [call({"a": 1})]}) == parts({"tool_calls": [call('{"a": 1}')]})


@pytest.mark.parametrize("text", ["SELECT 1", '"SELECT 1"', '{"a":', ""])
def test_broken_arguments_are_replayed_exactly(text):
    (message,) = again({"role": "assistant", "content": None, "tool_calls": [call(text)]})
    assert message["tool_calls"][0]["function"]["arguments"] == text


def test_arguments_that_no_json_can_say_are_written_as_typed_values():
    body = CODEC.encode_request(
        {"messages": [{"role": "assistant", "parts": [{"type": "tool_call", "arguments": {"b": b"\x00"}}]}]}
    )
    assert body["messages"][0]["tool_calls"][0]["function"]["arguments"] == '{"b": {"$otelreplay": "bytes", "base64": "AA=="}}'


def test_no_text_is_not_empty_text():
    assert parts({"content": None}) == []
    assert parts({}) == []
    assert parts({"content": ""}) == [{"type": "text", "content": ""}]


def test_text_stands_before_calls_and_other_keys_of_a_call_stay():
    decoded = parts({"content": "a", "tool_calls": [call("{}", index=0), call("{}", id="call_2")]})
    assert [p["type"] for p in decoded] == ["text", "tool_call", "tool_call"]
    assert decoded[1]["index"] == 0


def test_a_custom_call_keeps_its_text_even_if_that_looks_like_json():
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "{}"}}],
    }
    assert parts(message) == [{"type": "tool_call", "id": "c", "name": "sql", "arguments": "{}", "form": "custom"}]
    assert again(message) == [message]


def test_the_old_form_of_a_call_is_a_call_without_an_id():
    message = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}}
    assert parts(message) == [{"type": "tool_call", "name": "f", "arguments": {"a": 1}, "form": "function_call"}]
    assert again(message) == [message]


def test_a_call_that_is_not_understood_stays_in_its_place():
    odd = [{"type": "function"}, 7, call("{}", name="collides"), {"type": "mcp", "id": "x"}]
    message = {"role": "assistant", "content": "a", "tool_calls": [*odd, call("[]")]}
    assert [p["type"] for p in parts(message)] == ["text", *["generic"] * 4, "tool_call"]
    assert again(message) == [message]


def test_unknown_keys_inside_a_function_are_kept():
    entry = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}", "parsed": None}}
    message = {"role": "assistant", "content": None, "tool_calls": [entry]}
    assert parts(message)[0]["function"] == {"parsed": None}
    assert again(message) == [message]


@pytest.mark.parametrize("content", ["plain", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], None])
def test_a_tool_message_is_a_result_as_it_was_sent(content):
    message = {"role": "tool", "tool_call_id": "call_1", "content": content}
    assert CODEC.decode_message(message) == [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": content}]}
    ]
    assert again(message) == [message]


def test_a_result_without_content_or_id_has_neither():
    assert CODEC.decode_message({"role": "tool"}) == [{"role": "tool", "parts": [{"type": "tool_call_response"}]}]


def test_a_function_message_is_a_tool_message_that_remembers_its_role():
    message = {"role": "function", "name": "f", "content": "1"}
    (decoded,) = CODEC.decode_message(message)
    assert (decoded["role"], decoded["name"], decoded["extra"]) == ("tool", "f", {"role": "function"})
    assert again(message) == [message]


def test_a_result_with_keys_that_collide_is_written_as_it_is():
    part = {"type": "tool_call_response", "id": "c", "content": "x"}
    assert CODEC.encode_request({"messages": [{"role": "tool", "parts": [part]}]})["messages"] == [
        {"role": "tool", "id": "c", "content": "x"}
    ]


def test_several_results_in_one_message_become_a_message_each():
    results = [{"type": "tool_call_response", "id": i, "response": i} for i in "ab"]
    written = CODEC.encode_request({"messages": [{"role": "tool", "parts": results}]})["messages"]
    assert [m["tool_call_id"] for m in written] == ["a", "b"]


def test_the_name_of_a_speaker_is_kept():
    message = {"role": "user", "name": "ana", "content": "hi"}
    assert CODEC.decode_message(message)[0]["name"] == "ana"
    assert again(message) == [message]


def test_a_refusal_is_text_that_says_so():
    refusal = {"type": "text", "content": "no", "form": "refusal"}
    message = {"role": "assistant", "content": None, "refusal": "no"}
    assert parts(message) == [refusal]
    assert again(message) == [message]
    assert parts({"content": [{"type": "refusal", "refusal": "no"}]}) == [refusal]


def test_a_refusal_among_other_text_keeps_its_place():
    blocks = [{"type": "refusal", "refusal": "no"}, {"type": "text", "text": "a"}]
    assert again({"role": "assistant", "content": blocks})[0]["content"] == blocks


def test_reasoning_that_imitators_send_is_a_part():
    message = {"role": "assistant", "content": "a", "reasoning_content": "because"}
    assert parts(message)[0] == {"type": "reasoning", "content": "because"}
    assert again(message) == [message]


def test_fields_that_say_nothing_are_dropped_and_others_kept():
    message = {"role": "assistant", "content": "a", "refusal": None, "annotations": [], "audio": None, "tool_calls": None}
    assert CODEC.decode_message(message) == [{"role": "assistant", "parts": [{"type": "text", "content": "a"}]}]
    full = {"role": "assistant", "content": "a", "audio": {"id": "a1"}, "annotations": [{"type": "url_citation"}]}
    assert CODEC.decode_message(full)[0]["extra"] == {"audio": {"id": "a1"}, "annotations": [{"type": "url_citation"}]}
    assert again(full) == [full]


MEDIA = [
    (
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA", "detail": "low"},
    ),
    (
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}, "cache_control": {"type": "ephemeral"}},
        {"type": "uri", "modality": "image", "uri": "https://example.com/a.png", "cache_control": {"type": "ephemeral"}},
    ),
    (
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "blob", "modality": "audio", "mime_type": "audio/wav", "content": "AAAA"},
    ),
    (
        {"type": "input_audio", "input_audio": {"data": "AAAA"}},
        {"type": "blob", "modality": "audio", "content": "AAAA"},
    ),
    (
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "file", "modality": "document", "file_id": "file-1"},
    ),
    (
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}},
        {"type": "blob", "modality": "document", "mime_type": "application/pdf", "content": "AAAA", "filename": "a.pdf"},
    ),
    (
        {"type": "file", "file": {"file_data": "AAAA"}},
        {"type": "blob", "modality": "document", "content": "AAAA"},
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
        {"type": "hologram", "depth": 3},
        {"type": "text", "text": 5},
        {"type": "text", "text": "a", "content": "b"},
        {"type": "image_url", "image_url": {"url": "u", "shade": 1}},
        {"type": "image_url", "image_url": {"url": "u"}, "detail": "low"},
        {"type": "image_url", "image_url": 7},
        {"type": "image_url", "image_url": {"url": None}},
        {"type": "file", "file": {"filename": "a"}},
        {"type": "file", "file": {"file_id": "a", "file_data": "b"}},
        {"type": "file", "file": 7},
        {"type": "file", "file": {"file_id": 7}},
        {"type": "input_audio", "input_audio": {"format": "wav"}},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": 3}},
        {"type": "refusal", "refusal": "no", "form": "x"},
    ],
)
def test_a_block_that_is_not_understood_is_kept_under_its_own_type(block):
    assert CODEC.decode_part(block) == block
    message = {"role": "user", "content": [block]}
    assert again(message) == [message]


@pytest.mark.parametrize("block", [7, None, ["a"], {"text": "a"}, {"type": 3}, {"type": "generic", "value": 1}])
def test_a_block_without_a_type_is_generic(block):
    assert CODEC.decode_part(block) == {"type": "generic", "value": block}
    message = {"role": "user", "content": [block]}
    assert again(message) == [message]


def test_a_bare_string_among_blocks_is_text():
    assert CODEC.decode_part("a") == {"type": "text", "content": "a"}


@pytest.mark.parametrize("content", [7, {"text": "a"}, True])
def test_content_of_an_unknown_kind_is_kept(content):
    message = {"role": "user", "content": content}
    assert parts(message) == [{"type": "generic", "value": content, "form": "content"}]
    assert again(message) == [message]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "uri", "modality": "video", "uri": "https://example.com/a.mp4"},
        {"type": "blob", "modality": "image"},
        {"type": "blob", "modality": "document"},
        {"type": "uri", "modality": "image"},
        {"type": "file", "modality": "image"},
        {"type": 5},
        "loose",
    ],
)
def test_a_part_that_the_api_cannot_say_is_written_as_it_is(part):
    body = CODEC.encode_request({"messages": [{"role": "user", "parts": [part, part]}]})
    assert body["messages"][0]["content"] == [part, part]


def test_an_address_in_short_form_is_the_same_image():
    short = {"type": "image_url", "image_url": "https://example.com/a.png"}
    assert CODEC.decode_part(short) == {"type": "uri", "modality": "image", "uri": "https://example.com/a.png"}


def test_a_call_without_arguments_has_none_and_none_are_written():
    message = {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": {"name": "f"}}]}
    assert parts(message) == [{"type": "tool_call", "name": "f"}]
    assert again(message) == [message]


def test_bytes_are_written_as_base64():
    part = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": b"\x00"}
    body = CODEC.encode_request({"messages": [{"role": "user", "parts": [part]}]})
    assert body["messages"][0]["content"][0]["image_url"]["url"] == "data:image/png;base64,AA=="


@pytest.mark.parametrize("message", [7, None, {"content": "a"}, {"role": 3}, {"role": None, "content": "a"}])
def test_a_message_without_a_role_is_kept_whole(message):
    assert CODEC.decode_message(message) == [
        {"role": "unknown", "parts": [{"type": "generic", "value": message, "form": "message"}]}
    ]
    assert again(message) == [message]


def test_what_is_no_genai_message_is_written_as_it_is():
    assert CODEC.encode_request({"messages": [7, {"parts": []}]})["messages"] == [7, {"parts": []}]


# ---- bodies


def test_leading_system_and_developer_messages_are_the_system_and_later_ones_stay():
    sent = [
        {"role": "developer", "content": "a"},
        {"role": "system", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}], "name": "n"},
        {"role": "user", "content": "u"},
        {"role": "system", "content": "late"},
    ]
    request = CODEC.decode_request({"messages": sent})
    assert request["system"] == [{"type": "text", "content": t} for t in "abc"]
    assert [m["role"] for m in request["messages"]] == ["user", "system"]
    assert CODEC.encode_request(request)["messages"] == sent


def test_one_plain_system_message_leaves_no_trace_of_its_form():
    request = CODEC.decode_request({"messages": [{"role": "system", "content": "a"}]})
    assert request == {"params": {}, "system": [{"type": "text", "content": "a"}], "messages": []}


def test_no_system_message_and_an_empty_one_differ():
    assert "system" not in CODEC.decode_request({"messages": []})
    empty = {"messages": [{"role": "system", "content": None}]}
    assert CODEC.decode_request(empty)["system"] == []
    assert CODEC.encode_request(CODEC.decode_request(empty)) == empty


@pytest.mark.parametrize("layout", [None, 7, [7], [{"parts": True}], [{"parts": -1}, {"parts": 2}], [{"parts": 3}]])
def test_a_layout_that_does_not_fit_the_system_is_ignored(layout):
    request = {"system": [{"type": "text", "content": "a"}], "extra": {"system_messages": layout}}
    assert CODEC.encode_request(request) == {"messages": [{"role": "system", "content": "a"}]}


def test_parameters_have_their_genai_names():
    body = {
        "model": "m", "temperature": 0, "top_p": 0.5, "top_k": 3, "max_completion_tokens": 9, "stop": ["a"], "seed": 1,
        "frequency_penalty": 0.1, "presence_penalty": 0.2, "n": 2, "stream": True, "reasoning_effort": "low",
        "response_format": {"type": "json_object"}, "stream_options": {"include_usage": True}, "tool_choice": "auto",
    }  # fmt: skip
    request = CODEC.decode_request(body)
    assert request["params"] == {
        "temperature": 0, "top_p": 0.5, "top_k": 3, "max_tokens": 9, "stop_sequences": ["a"], "seed": 1,
        "frequency_penalty": 0.1, "presence_penalty": 0.2, "choice.count": 2, "stream": True, "reasoning.level": "low",
    }  # fmt: skip
    assert request["extra"].keys() == {"response_format", "stream_options", "tool_choice"}
    assert CODEC.encode_request(request) == body


def test_both_names_of_the_token_limit_are_one_parameter():
    assert CODEC.decode_request({"max_tokens": 5})["params"] == {"max_tokens": 5}
    both = {"max_completion_tokens": 6, "max_tokens": 5}
    assert CODEC.decode_request(both) == {"params": {"max_tokens": 6}, "extra": {"max_tokens": 5}}
    assert CODEC.encode_request(CODEC.decode_request(both)) == both


def test_one_stop_text_is_a_list_of_one_and_null_is_recorded():
    assert CODEC.decode_request({"stop": "x", "seed": None})["params"] == {"stop_sequences": ["x"], "seed": None}


def test_a_parameter_without_a_name_in_this_api_is_written_under_its_own():
    assert CODEC.encode_request({"params": {"odd": 1}}) == {"odd": 1}


def test_fields_of_a_wrong_type_are_kept_in_extra():
    body = {"model": 7, "messages": "a", "tools": {}}
    assert CODEC.decode_request(body) == {"params": {}, "extra": body}
    assert CODEC.encode_request(CODEC.decode_request(body)) == body


REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 5,
    "model": "m-1",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call('{"a":1}')]},
            "finish_reason": "tool_calls",
            "logprobs": None,
        },
        {
            "index": 1,
            "message": {"role": "assistant", "content": "b", "refusal": None},
            "finish_reason": "length",
            "logprobs": {"content": []},
        },
    ],
    "usage": {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 2, "accepted_prediction_tokens": 0},
    },
    "system_fingerprint": "fp",
}


def test_a_response_is_read_choice_by_choice():
    response = CODEC.decode_response(REPLY)
    assert response["finish_reasons"] == ["tool_calls", "length"]
    assert [m["finish_reason"] for m in response["messages"]] == ["tool_call", "length"]
    assert response["usage"] == {
        "input_tokens": 10, "output_tokens": 3, "cache_read.input_tokens": 4, "audio.input_tokens": 0,
        "reasoning.output_tokens": 2,
    }  # fmt: skip
    assert response["extra"] == {
        "created": 5, "usage": {"completion_tokens_details": {"accepted_prediction_tokens": 0}}, "system_fingerprint": "fp",
    }  # fmt: skip
    assert response["messages"][1]["extra"] == {"choice": {"logprobs": {"content": []}}}


def test_a_response_is_written_as_it_was_and_what_was_dropped_is_assumed():
    body, assumed = CODEC.encode_response(CODEC.decode_response(REPLY))
    assert body == REPLY
    assert assumed == ("choices[0].message.refusal", "choices[0].logprobs", "choices[1].message.refusal")


def test_a_total_that_is_no_sum_is_kept():
    reply = {**REPLY, "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 5}}
    assert CODEC.decode_response(reply)["extra"]["usage"] == {"total_tokens": 5}
    assert CODEC.encode_response(CODEC.decode_response(reply))[0]["usage"]["total_tokens"] == 5


def test_usage_of_odd_types_adds_up_to_nothing():
    reply = {"usage": {"prompt_tokens": "1", "completion_tokens": 1}}
    assert CODEC.decode_response(reply) == {"usage": {"input_tokens": "1", "output_tokens": 1}}


def test_an_index_out_of_order_is_kept():
    reply = {"choices": [{"index": 1, "message": {"content": "a"}, "finish_reason": None}]}
    assert CODEC.decode_response(reply) == {
        "messages": [{"role": "assistant", "parts": [{"type": "text", "content": "a"}], "extra": {"choice": {"index": 1}}}]
    }


def test_a_missing_reason_holds_its_place():
    reply = {"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}, "finish_reason": "stop"}]}
    response = CODEC.decode_response(reply)
    assert response["finish_reasons"] == [None, "stop"]
    assert "finish_reason" not in response["messages"][0]


def test_a_choice_that_is_not_understood_stays_in_its_place():
    reply = {"choices": [7, {"message": "x"}, {"message": {"content": "a"}, "finish_reason": 3}]}
    response = CODEC.decode_response(reply)
    assert [m["role"] for m in response["messages"]] == ["unknown", "unknown", "assistant"]
    body, _ = CODEC.encode_response(response)
    assert body["choices"][:2] == reply["choices"][:2]
    assert body["choices"][2]["finish_reason"] == 3


def test_a_call_of_a_response_that_is_not_understood_is_not_completed():
    calls = [{"type": "function", "function": {}}, 7]
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": calls}
    reply = {"choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}]}
    body, _ = CODEC.encode_response(CODEC.decode_response(reply))
    assert body["choices"] == reply["choices"]
    assert calls[0] == {"type": "function", "function": {}}


def test_an_error_body_is_all_extra():
    body = {"error": {"message": "no", "type": "invalid_request_error"}}
    assert CODEC.decode_response(body) == {"extra": body}


def test_an_unknown_kind_of_object_is_kept():
    assert CODEC.decode_response({"object": "chat.completion.chunk"}) == {"extra": {"object": "chat.completion.chunk"}}


def test_what_a_recording_never_held_is_neutral_and_listed():
    part = {"type": "tool_call", "name": "f"}
    body, assumed = CODEC.encode_response({"messages": [{"role": "assistant", "parts": [part]}]})
    assert body == {
        "object": "chat.completion",
        "id": "chatcmpl-0",
        "created": 0,
        "model": "unknown",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "refusal": None,
                    "tool_calls": [{"id": "call_0_0", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                "finish_reason": "tool_calls",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
    assert set(assumed) == {
        "id", "created", "model", "choices[0].message.refusal", "choices[0].message.tool_calls[0].id",
        "choices[0].finish_reason", "choices[0].logprobs", "usage",
        "usage.prompt_tokens", "usage.completion_tokens", "usage.total_tokens",
        "choices[0].message.tool_calls[0].function.arguments",
    }  # fmt: skip


def test_several_texts_of_a_recording_are_the_one_text_of_a_response_and_that_is_assumed():
    texts = [{"type": "text", "content": t} for t in "ab"]
    body, assumed = CODEC.encode_response({"messages": [{"role": "assistant", "parts": texts}]})
    assert body["choices"][0]["message"]["content"] == "ab"
    assert "choices[0].message.content" in assumed
    odd = [*texts, {"type": "text", "content": 3}]
    body, _ = CODEC.encode_response({"messages": [{"role": "assistant", "parts": odd}]})
    assert len(body["choices"][0]["message"]["content"]) == 3


def test_a_default_of_the_caller_is_preferred_and_still_assumed():
    body, assumed = CODEC.encode_response({"id": "mine", "messages": []}, defaults={"created": 7, "id": "other", "usage": {}})
    assert (body["created"], body["id"]) == (7, "mine")
    assert "created" in assumed
    assert "id" not in assumed


@pytest.mark.parametrize(
    ("response", "word"),
    [
        ({"finish_reasons": ["tool_calls"]}, "tool_calls"),
        ({"finish_reasons": ["tool_call"]}, "tool_calls"),
        ({"finish_reasons": ["stop"]}, "stop"),
        ({"finish_reasons": ["brand_new"]}, "brand_new"),
        ({"finish_reasons": [None]}, "stop"),
        ({}, "stop"),
    ],
)
def test_the_reason_is_the_providers_own_word(response, word):
    body, _ = CODEC.encode_response({"messages": [{"role": "assistant", "parts": []}], **response})
    assert body["choices"][0]["finish_reason"] == word


def test_the_schemas_word_on_the_message_is_turned_into_the_providers():
    body, assumed = CODEC.encode_response({"messages": [{"role": "assistant", "parts": [], "finish_reason": "tool_call"}]})
    assert body["choices"][0]["finish_reason"] == "tool_calls"
    assert "choices[0].finish_reason" not in assumed


def test_what_is_no_message_is_written_as_it_is():
    assert CODEC.encode_response({"messages": [7]})[0]["choices"] == [7]
