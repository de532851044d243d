"""What was recorded of a response, in the GenAI form, from whatever a decorated function gave."""

import pytest

from otelreplay.canonical import Tagged
from otelreplay.providers import anthropic_messages, openai_chat
from otelreplay.replay.wire import chunks_of, plain, response_of

COMPLETION = {
    "id": "c-1", "model": "m-1", "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It left."}, "finish_reason": "stop"}],
}  # fmt: skip


def chunk(said, **more):
    return {"id": "c-1", "object": "chat.completion.chunk", "model": "m-1",
            "choices": [{"index": 0, "delta": {"content": said}, **more}]}  # fmt: skip


CHUNKS = [chunk("It "), chunk("left."), chunk("", finish_reason="stop")]


def said(response):
    return [part["content"] for message in response["messages"] for part in message["parts"]]


def instance(fields, **more):
    return Tagged("model", {"class": "sdk:Completion", "fields": fields, **more})


def test_an_instance_is_the_fields_that_the_provider_had_sent():
    held = instance({"id": "c-1", "seed": None, "n": [instance({"a": 1})]}, set=["id", "n"], extra={"trace": 7})
    assert plain(held) == {"id": "c-1", "n": [{"a": 1}], "trace": 7}


def test_an_instance_that_does_not_say_what_was_set_is_all_of_its_fields():
    assert plain(instance({"id": "c-1", "seed": None}, extra=None)) == {"id": "c-1", "seed": None}


def test_an_instance_of_something_else_is_its_value():
    assert plain((Tagged("enum", {"class": "a:B", "value": ["x"]}), {1: "y"})) == [["x"], {"1": "y"}]


def test_an_object_of_an_sdk_says_more_than_the_messages_that_were_read_from_it():
    held = {"messages": [{"role": "assistant", "parts": []}], "result": instance(COMPLETION), "id": "span"}
    response = response_of(held)
    assert said(response) == ["It left."]
    assert (response["id"], response["finish_reasons"]) == ("c-1", ["stop"])
    assert response["usage"]["input_tokens"] == 3


def test_chunks_amount_to_their_response_and_stay_with_it():
    response = response_of({"chunks": CHUNKS, "model": "m-1"})
    assert said(response) == ["It left."]
    assert response["chunks"] == CHUNKS


def test_messages_that_were_recorded_are_taken_where_the_result_is_nothing_that_a_provider_sends():
    held = {"messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]}], "result": {"answer": 1}}
    assert response_of(held) is held


@pytest.mark.parametrize("held", [{"result": "It left."}, {"chunks": ["It ", "left."]}])
def test_a_text_is_a_message_of_the_assistant(held):
    assert said(response_of(held)) == ["It left."]
    assert response_of(held).items() >= held.items()


@pytest.mark.parametrize("held", [{"result": {"answer": 1}}, {"chunks": [1, 2]}, {}])
def test_what_is_no_response_of_a_model_is_left_as_it_is(held):
    assert response_of(held) is held


def test_chunks_are_given_only_in_the_shape_that_they_have():
    held = {"chunks": CHUNKS}
    assert chunks_of(held, openai_chat.API) == CHUNKS
    assert chunks_of(held, anthropic_messages.API) is None
    assert chunks_of({"chunks": ["It ", "left."]}, openai_chat.API) is None
    assert chunks_of({"chunks": []}, openai_chat.API) is None
    assert chunks_of({}, openai_chat.API) is None
