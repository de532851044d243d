"""The smallest answers: one text, one refusal, and what cannot be answered."""

import json

import pytest

from otelreplay.stubs.refusals import refusal
from otelreplay.stubs.replies import reply_for
from tests.stubs.builders import Asking, absent, served, text

APIS = ("openai.chat", "openai.responses", "openai.embeddings", "anthropic.messages", "gemini.generate_content")


def test_a_text_becomes_a_chat_completion_and_what_was_filled_in_is_listed():
    reply = reply_for(Asking("openai.chat", model="m-1"), served(text("hello", id="chatcmpl-9", finish_reasons=["stop"])))
    body = json.loads(reply.body)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert body["choices"][0]["message"]["content"] == "hello"
    assert (body["id"], body["model"]) == ("chatcmpl-9", "m-1")
    assert {"model", "created", "usage"} <= set(reply.assumed)
    assert "id" not in reply.assumed


@pytest.mark.parametrize("api", APIS)
def test_a_refusal_says_its_text_and_that_trying_again_is_of_no_use(api):
    reply = refusal(api, "no such call was recorded", code="unexpected_call")
    assert reply.status == 400
    assert reply.headers["x-should-retry"] == "false"
    assert json.loads(reply.body)["error"]["message"] == "no such call was recorded"


def test_what_only_a_function_made_of_an_answer_is_no_answer():
    assert absent({"result": 42}).mark.field == "response.messages"
