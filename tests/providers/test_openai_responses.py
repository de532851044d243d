"""Responses API: items of a turn are one message, and can be told apart again."""

import pytest

from otelreplay.providers import CODECS

CODEC = CODECS["openai.responses"]

USER = {"type": "message", "role": "user", "content": "hi"}
TEXT = {
    "type": "message",
    "id": "msg_1",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "a"}],
}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"a":1}', "status": "completed"}
CALL_2 = {"type": "function_call", "call_id": "call_2", "name": "g", "arguments": "[]"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "one"}
OUTPUT_2 = {"type": "function_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "two"}]}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA=="}


def messages(*items):
    return CODEC.decode_request({"input": list(items)}).get("messages")


def again(*items):
    return CODEC.encode_request(CODEC.decode_request({"input": list(items)}))["input"]


def part(item):
    (message,) = CODEC.decode_message(item)
    (found,) = message["parts"]
    return found


def test_a_turn_of_reasoning_text_and_calls_is_one_message():
    user, turn, one, two = messages(USER, REASONING, TEXT, CALL, CALL_2, OUTPUT, OUTPUT_2)
    assert user == {"role": "user", "parts": [{"type": "text", "content": "hi"}]}
    assert [p["type"] for p in turn["parts"]] == ["reasoning", "text", "tool_call", "tool_call"]
    assert one == {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "one"}]}
    assert two["parts"] == [{"type": "tool_call_response", "id": "call_2", "response": OUTPUT_2["output"]}]


def test_the_items_of_a_turn_come_back_as_they_were():
    items = (USER, REASONING, TEXT, CALL, CALL_2, OUTPUT, OUTPUT_2, {**TEXT, "id": "msg_2"}, {**TEXT, "id": "msg_3"})
    assert again(*items) == list(items)


def test_turns_with_results_between_them_stay_apart():
    assert [m["role"] for m in messages(CALL, OUTPUT, CALL_2, OUTPUT_2)] == ["assistant", "tool", "assistant", "tool"]


def test_the_call_id_is_the_id_and_the_item_id_stays_beside():
    assert part(CALL) == {
        "type": "tool_call", "id": "call_1", "name": "f", "arguments": {"a": 1}, "item_id": "fc_1", "status": "completed",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["SELECT 1", '"SELECT 1"', '{"a":', ""])
def test_broken_arguments_are_replayed_exactly(text):
    item = {**CALL, "arguments": text}
    assert part(item)["arguments"] == text
    assert again(item) == [item]


def test_a_custom_call_and_its_output_keep_their_text():
    call = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "{}"}
    output = {"type": "custom_tool_call_output", "call_id": "c", "output": "x"}
    assert part(call) == {"type": "tool_call", "id": "c", "name": "sql", "arguments": "{}", "form": "custom"}
    assert part(output) == {"type": "tool_call_response", "id": "c", "response": "x", "form": "custom"}
    assert again(call, output) == [call, output]


def test_a_string_is_one_message_of_the_user():
    assert CODEC.decode_request({"input": "hi"})["messages"] == [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
    assert CODEC.decode_message("hi") == CODEC.decode_message({"role": "user", "content": "hi"})


def test_a_message_needs_no_type():
    assert messages({"role": "assistant", "content": "a"}) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "a"}]}
    ]


@pytest.mark.parametrize(
    ("item", "decoded"),
    [
        (REASONING, {"type": "reasoning", "item_id": "rs_1", "encrypted_content": "gAAAA=="}),
        (
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "a"}]},
            {"type": "reasoning", "content": "a", "item_id": "r"},
        ),
        (
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": t} for t in "ab"]},
            {"type": "reasoning", "content": "a\n\nb", "summary": ["a", "b"]},
        ),
        (
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "a"}]},
            {"type": "reasoning", "content": "a", "form": "reasoning_text"},
        ),
        (
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": t} for t in "ab"]},
            {"type": "reasoning", "content": "a\n\nb", "full": ["a", "b"], "form": "reasoning_text"},
        ),
        (
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "s"}],
                "content": [{"type": "reasoning_text", "text": "a"}],
            },
            {"type": "reasoning", "content": "s", "full": ["a"]},
        ),
    ],
)
def test_reasoning_has_its_text_and_keeps_what_is_sealed(item, decoded):
    assert part(item) == decoded
    assert again(item) == [item]


def test_reasoning_that_was_edited_is_written_as_edited():
    edited = {"type": "reasoning", "content": "new", "summary": ["a", "b"]}
    (item,) = CODEC.encode_request({"messages": [{"role": "assistant", "parts": [edited]}]})["input"]
    assert item["summary"] == [{"type": "summary_text", "text": "new"}]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "call_id": "c"},
        {"type": "function_call", "call_id": "c", "name": "f", "item_id": "x"},
        {"type": "custom_tool_call", "call_id": "c", "name": "f"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "item_reference", "id": "rs_1"},
        {"type": "compaction", "encrypted_content": "gAAA"},
    ],
)
def test_an_item_that_is_no_part_of_the_schema_is_kept_under_its_own_type(item):
    (message,) = CODEC.decode_message(item)
    assert message == {"role": "assistant", "parts": [item]}
    assert again(item) == [item]


@pytest.mark.parametrize(
    "fields",
    [
        {"summary": "x"},
        {"summary": [{"type": "summary_text", "text": 3}]},
        {"summary": [{"type": "other", "text": "a"}]},
        {"summary": [], "content": 3},
        {"summary": [], "form": "x"},
    ],
)
def test_reasoning_of_an_odd_form_is_kept_whole(fields):
    item = {"type": "reasoning", **fields}
    assert part(item) == {"type": "generic", "value": item}
    assert again(item) == [item]


def test_an_output_of_an_unknown_tool_is_a_tool_message():
    items = [{"type": "computer_call_output", "call_id": "c", "output": {}}, {"type": "mcp_approval_response", "approve": True}]
    assert messages(*items) == [{"role": "tool", "parts": [item]} for item in items]
    assert again(*items) == items


@pytest.mark.parametrize("item", [7, None, {"content": "a"}, {"role": 3}, {"type": 5}, {"type": "message", "content": "a"}])
def test_an_item_that_is_not_understood_is_kept_whole(item):
    assert CODEC.decode_message(item) == [{"role": "unknown", "parts": [{"type": "generic", "value": item, "form": "message"}]}]
    assert again(item) == [item]


def test_an_item_that_calls_itself_generic_is_wrapped():
    item = {"type": "generic", "value": 1}
    assert part(item) == {"type": "generic", "value": item}
    assert again(item) == [item]


def test_a_message_of_the_model_without_content_is_kept():
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    assert messages(item) == [{"role": "assistant", "parts": [item]}]
    assert again(item) == [item]


def test_blocks_of_the_model_that_are_not_understood_stay_in_their_message():
    content = [{"type": "output_text", "text": "a"}, {"type": "hologram", "depth": 1}, {"odd": 1}]
    item = {**TEXT, "content": content}
    assert [p["type"] for p in messages(item)[0]["parts"]] == ["text", "generic", "generic"]
    assert again(item) == [item]


@pytest.mark.parametrize("content", [7, {"a": 1}])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_content_of_an_unknown_kind_is_kept(role, content):
    item = {"type": "message", "role": role, "content": content}
    assert again(item) == [item]


def test_no_content_is_no_part():
    assert messages({"role": "user", "content": None}) == [{"role": "user", "parts": []}]


def test_fields_of_a_message_of_the_user_are_kept():
    item = {"type": "message", "role": "user", "content": "a", "id": "msg_9", "status": "completed"}
    assert messages(item)[0]["extra"] == {"id": "msg_9", "status": "completed"}
    assert again(item) == [item]


def test_empty_annotations_say_nothing_and_others_are_kept():
    block = {"type": "output_text", "text": "a", "annotations": [], "logprobs": []}
    assert CODEC.decode_part(block) == {"type": "text", "content": "a"}
    cited = {**block, "annotations": [{"type": "url_citation"}]}
    assert CODEC.decode_part(cited) == {"type": "text", "content": "a", "annotations": [{"type": "url_citation"}]}


MEDIA = [
    (
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA", "detail": "auto"},
    ),
    (
        {"type": "input_image", "image_url": "https://example.com/a.png"},
        {"type": "uri", "modality": "image", "uri": "https://example.com/a.png"},
    ),
    ({"type": "input_image", "file_id": "file-1"}, {"type": "file", "modality": "image", "file_id": "file-1"}),
    ({"type": "input_file", "file_id": "file-1"}, {"type": "file", "modality": "document", "file_id": "file-1"}),
    (
        {"type": "input_file", "file_url": "https://example.com/a.pdf"},
        {"type": "uri", "modality": "document", "uri": "https://example.com/a.pdf"},
    ),
    (
        {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"},
        {"type": "blob", "modality": "document", "mime_type": "application/pdf", "content": "AAAA", "filename": "a.pdf"},
    ),
    ({"type": "input_file", "file_data": "AAAA"}, {"type": "blob", "modality": "document", "content": "AAAA"}),
    (
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "blob", "modality": "audio", "mime_type": "audio/mp3", "content": "AAAA"},
    ),
]


@pytest.mark.parametrize(("block", "decoded"), MEDIA)
def test_media_blocks_become_media_parts_and_back(block, decoded):
    assert CODEC.decode_part(block) == decoded
    item = {"type": "message", "role": "user", "content": [block]}
    assert again(item) == [item]


def test_a_null_beside_the_place_of_the_data_says_nothing():
    assert CODEC.decode_part({"type": "input_image", "image_url": None, "file_id": "f"}) == {
        "type": "file", "modality": "image", "file_id": "f",
    }  # fmt: skip


@pytest.mark.parametrize(
    "block",
    [
        {"type": "input_image"},
        {"type": "input_image", "image_url": "u", "file_id": "f"},
        {"type": "input_image", "image_url": 3},
        {"type": "input_file", "file_id": "f", "content": "x"},
    ],
)
def test_a_media_block_that_is_not_understood_is_kept(block):
    assert CODEC.decode_part(block) == block


@pytest.mark.parametrize(
    "odd",
    [{"type": "file", "modality": "image"}, {"type": "blob", "modality": "image"}, {"type": "uri", "modality": "document"}],
)
def test_a_media_part_without_its_data_is_written_as_it_is(odd):
    assert CODEC.encode_request({"messages": [{"role": "user", "parts": [odd, odd]}]})["input"][0]["content"] == [odd, odd]


def test_parts_that_are_no_item_are_written_as_they_are():
    parts = ["loose", {"type": "tool_call", "id": "c", "name": "f", "call_id": "taken"}]
    assert CODEC.encode_request({"messages": [{"role": "assistant", "parts": parts}]})["input"] == parts


# ---- bodies


def test_instructions_are_the_system_and_leading_messages_join_them():
    body = {
        "instructions": "a",
        "input": [{"type": "message", "role": "developer", "content": "b"}, USER],
    }
    request = CODEC.decode_request(body)
    assert request["system"] == [{"type": "text", "content": "a"}, {"type": "text", "content": "b"}]
    assert len(request["messages"]) == 1
    assert CODEC.encode_request(request) == body


def test_instructions_alone_and_one_system_message_come_back_as_they_were():
    for body in ({"instructions": "a"}, {"instructions": "a", "input": [USER]}):
        assert CODEC.encode_request(CODEC.decode_request(body)) == body
    body = {"input": [{"type": "message", "role": "system", "content": "a"}]}
    assert CODEC.encode_request(CODEC.decode_request(body)) == body


def test_a_system_of_several_parts_is_a_leading_message():
    system = [{"type": "text", "content": "a"}, {"type": "text", "content": "b"}]
    body = CODEC.encode_request({"params": {}, "system": system, "messages": []})
    assert [b["text"] for b in body["input"][0]["content"]] == ["a", "b"]
    assert CODEC.decode_request(body) == {"params": {}, "system": system, "messages": []}


def test_parameters_have_their_genai_names():
    body = {
        "model": "m", "max_output_tokens": 5, "reasoning": {"effort": "low", "summary": "auto"},
        "previous_response_id": "resp_0", "stream": True, "store": False,
        "tools": [{"type": "function", "name": "f", "parameters": {}, "strict": True}],
    }  # fmt: skip
    request = CODEC.decode_request(body)
    assert request["params"] == {
        "max_tokens": 5, "reasoning.level": "low", "previous_response.id": "resp_0", "stream": True,
    }  # fmt: skip
    assert request["extra"] == {"reasoning": {"summary": "auto"}, "store": False}
    assert CODEC.encode_request(request) == body
    assert CODEC.encode_request(CODEC.decode_request({"reasoning": {"effort": "low"}})) == {"reasoning": {"effort": "low"}}


def test_fields_of_a_wrong_type_are_kept_in_extra():
    body = {"model": 7, "input": 3, "instructions": [], "tools": {}, "reasoning": "x"}
    assert CODEC.decode_request(body) == {"params": {}, "extra": body}
    assert CODEC.encode_request(CODEC.decode_request(body)) == body


REPLY = {
    "id": "resp_1", "object": "response", "created_at": 5, "status": "completed", "error": None, "incomplete_details": None,
    "instructions": "s", "metadata": {}, "model": "m-1", "parallel_tool_calls": True, "temperature": 0.5, "tool_choice": "auto",
    "tools": [], "top_p": 1.0, "max_output_tokens": None,
    "output": [REASONING, {**TEXT, "content": [{"type": "output_text", "text": "a", "annotations": []}]}, CALL],
    "usage": {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 2}, "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 13,
    },
}  # fmt: skip


def test_a_response_is_one_message_of_all_its_items():
    response = CODEC.decode_response(REPLY)
    (message,) = response["messages"]
    assert [p["type"] for p in message["parts"]] == ["reasoning", "text", "tool_call"]
    assert (message["finish_reason"], response["finish_reasons"]) == ("tool_call", ["completed"])
    assert response["usage"] == {
        "input_tokens": 10, "output_tokens": 3, "cache_read.input_tokens": 2, "reasoning.output_tokens": 1,
    }  # fmt: skip


def test_a_complete_response_is_written_as_it_was_and_nothing_is_assumed():
    assert CODEC.encode_response(CODEC.decode_response(REPLY)) == (REPLY, ())


def test_the_turn_of_a_response_is_the_turn_that_the_next_request_repeats():
    (message,) = CODEC.decode_response(REPLY)["messages"]
    (repeated,) = messages(*REPLY["output"])
    assert message["parts"] == repeated["parts"]


def test_why_a_response_is_incomplete_is_its_reason():
    reply = {**REPLY, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    response = CODEC.decode_response(reply)
    assert (response["finish_reasons"], response["messages"][0]["finish_reason"]) == (["max_output_tokens"], "length")
    assert CODEC.encode_response(response)[0] == reply


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "incomplete", "incomplete_details": {"reason": "completed"}},
        {"status": "incomplete", "incomplete_details": None},
        {"status": "failed", "error": {"code": "server_error"}},
        {"status": 7},
        {"status": "queued", "output": 3},
    ],
)
def test_any_other_status_comes_back(fields):
    reply = {**REPLY, **fields}
    assert CODEC.encode_response(CODEC.decode_response(reply))[0] == reply


def test_content_of_the_output_of_another_kind_is_kept():
    reply = {**REPLY, "output": [{"type": "message", "id": "m", "status": "completed", "role": "assistant", "content": 7}]}
    assert CODEC.encode_response(CODEC.decode_response(reply)) == (reply, ())


def test_items_of_the_output_that_are_not_understood_stay():
    output = [7, {"type": "message", "role": "user", "content": []}, {"type": "web_search_call", "id": "w"}]
    reply = {**REPLY, "output": output}
    assert CODEC.encode_response(CODEC.decode_response(reply))[0]["output"] == [
        7, {**output[1], "id": "msg_1", "status": "completed"}, output[2],
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["stop", "tool_calls", "tool_call"])
def test_a_reason_in_another_vocabulary_is_a_completed_response(word):
    body, _ = CODEC.encode_response({"finish_reasons": [word], "messages": []})
    assert body["status"] == "completed"


def test_what_a_recording_never_held_is_neutral_and_listed():
    parts = [
        {"type": "text", "content": "a"},
        {"type": "reasoning", "content": "r"},
        {"type": "tool_call", "name": "f"},
        {"type": "tool_call", "name": "g", "form": "custom", "arguments": "x"},
    ]
    body, assumed = CODEC.encode_response({"messages": [{"role": "assistant", "parts": parts}]}, defaults={"created_at": 9})
    assert body["output"] == [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a", "annotations": []}],
            "id": "msg_0",
            "status": "completed",
        },
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "r"}], "id": "rs_1"},
        {"type": "function_call", "name": "f", "call_id": "call_2", "arguments": "{}", "id": "fc_2", "status": "completed"},
        {"type": "custom_tool_call", "name": "g", "input": "x", "call_id": "call_3"},
    ]
    assert body["usage"] == {
        "input_tokens": 0, "output_tokens": 0, "total_tokens": 0,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    assert body["created_at"] == 9
    assert {"status", "created_at", "output[0].id", "output[2].arguments"} <= set(assumed)
    assert "usage.input_tokens_details" in assumed


def test_details_that_were_recorded_are_not_completed():
    assert CODEC.encode_response(CODEC.decode_response(REPLY))[0]["usage"]["input_tokens_details"] == {"cached_tokens": 2}
    reply = {**REPLY, "usage": {**REPLY["usage"], "input_tokens_details": None}}
    assert CODEC.encode_response(CODEC.decode_response(reply))[0]["usage"]["input_tokens_details"] is None


def test_usage_of_another_kind_is_kept():
    reply = {**REPLY, "usage": None}
    assert CODEC.encode_response(CODEC.decode_response(reply)) == (reply, ())


def test_an_unknown_kind_of_object_is_kept():
    assert CODEC.decode_response({"object": "list"}) == {"extra": {"object": "list"}}
