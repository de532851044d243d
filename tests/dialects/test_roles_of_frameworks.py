"""Roles that a framework has names of its own for, and sends under others."""

from otelreplay.dialects import openinference
from tests.dialects.views import read, said


def test_calls_and_answers_that_are_text_have_the_roles_under_which_they_are_sent():
    attributes = {"openinference.span.kind": "LLM"}
    for n, (role, text) in enumerate(
        [("user", "hello"), ("tool-call", "Calling tools: look"), ("tool-response", "Observation: two")]
    ):
        attributes[f"llm.input_messages.{n}.message.role"] = role
        attributes[f"llm.input_messages.{n}.message.contents.0.message_content.type"] = "text"
        attributes[f"llm.input_messages.{n}.message.contents.0.message_content.text"] = text
    got = read(openinference.DIALECT, attributes).fields
    assert said(got["request.messages"]) == [
        ("user", ["hello"]),
        ("assistant", ["Calling tools: look"]),
        ("user", ["Observation: two"]),
    ]
