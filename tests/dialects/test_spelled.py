"""Messages that are spelled out attribute by attribute, and content blocks of Bedrock's Converse API."""

import json

import pytest

from otelreplay.dialects.openinference import DIALECT
from otelreplay.dialects.spelled import create_result, spelled_messages
from otelreplay.providers.converse_blocks import are_blocks, parts_of, result_of_blocks
from tests.dialects.views import absent, read, said


def message(**members):
    (made,) = spelled_messages([{"message": members}])
    return dict(made)


def test_the_answer_of_a_tool_has_id_and_name_where_they_are_said():
    assert message(role="tool", tool_call_id="c1", name="find", content="42") == {
        "role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "name": "find", "response": "42"}],
    }  # fmt: skip
    assert message(role="tool", content="42")["parts"] == [{"type": "tool_call_response", "response": "42"}]


def test_an_answer_in_blocks_is_their_text():
    blocks = [{"message_content": {"type": "text", "text": "a"}}, {"message_content": {"type": "text", "text": "b"}}]
    assert message(role="tool", tool_call_id="c1", contents=blocks)["parts"][0]["response"] == "a\nb"


def test_each_block_of_a_message_may_answer_a_call_of_its_own():
    blocks = [
        {"message": {"tool_call_id": "c1"}, "message_content": {"type": "text", "text": "a"}},
        {"message": {"tool_call_id": "c2"}, "message_content": {"type": "text", "text": "b"}},
        {"message": {"tool_call_id": "c3"}},
    ]
    assert message(role="tool", contents=blocks) == {
        "role": "tool",
        "parts": [
            {"type": "tool_call_response", "id": "c1", "response": "a"},
            {"type": "tool_call_response", "id": "c2", "response": "b"},
            {"type": "tool_call_response", "id": "c3"},
        ],
    }


def test_who_speaks_is_said_of_users_and_not_of_the_assistant():
    assert message(role="user", name="ann", content="hi")["name"] == "ann"
    assert "name" not in message(role="assistant", name="desk", content="hi")
    assert message(content="hi")["role"] == message(role="model", content="hi")["role"] == "assistant"


def test_blocks_are_parts_and_what_is_none_is_kept_or_nothing():
    blocks = [
        {"message_content": {"type": "thinking", "text": "hm"}},
        {"message_content": {"type": "text", "text": "hi"}},
        {"message_content": {"type": "image", "image": {"image": {"url": "https://a.example/b.png"}}}},
        {"message_content": {"type": "image", "image": {"kept": 1}}},
        {"message_content": {"kept": 1}},
        {"tool_call": {"id": "c1", "function": {"name": "find", "arguments": '{"n": 1}'}}},
        {"message_content": "?"},
        "?",
    ]
    assert message(role="assistant", contents=blocks, content="hi")["parts"] == [
        {"type": "reasoning", "content": "hm"}, {"type": "text", "content": "hi"},
        {"type": "uri", "modality": "image", "uri": "https://a.example/b.png"}, {"type": "image", "image": {"kept": 1}},
        {"type": "unknown", "kept": 1}, {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"n": 1}},
    ]  # fmt: skip


def test_a_call_may_have_neither_id_nor_arguments():
    calls = [{"tool_call": {"function": {"name": "find"}}}, {"tool_call": {"function": "?"}}, {"other": 1}]
    assert message(role="assistant", tool_calls=calls)["parts"] == [
        {"type": "tool_call", "name": "find"}, {"type": "tool_call", "name": None},
    ]  # fmt: skip


def test_answers_of_functions_that_stand_beside_a_message_are_messages_of_the_tool():
    answers = [json.dumps({"content": "42", "call_id": "c1"}), {"content": "7"}]
    made = spelled_messages([{"message": {"role": "user"}, "function": answers}, {"other": 1}, "?"])
    assert [dict(m) for m in made] == [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "42"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "response": "7"}]},
    ]


def test_the_reply_of_autogen_is_text_or_calls_with_the_thought_beside():
    def reply(content, thought=None):
        made = create_result({"content": content, "finish_reason": "stop", "thought": thought})
        return made and made["parts"]

    assert reply("hi") == [{"type": "text", "content": "hi"}]
    assert reply("hi", "hm")[0] == {"type": "reasoning", "content": "hm"}
    call = {"id": "c1", "name": "find", "arguments": "{}"}
    assert reply([call], "I look.") == [
        {"type": "text", "content": "I look."}, {"type": "tool_call", "id": "c1", "name": "find", "arguments": {}},
    ]  # fmt: skip
    assert reply(["?"]) is reply(7) is None
    assert create_result({"content": "hi"}) is create_result("hi") is None


USE = {"toolUse": {"toolUseId": "c1", "name": "find", "input": {"n": 1}}}
ANSWER = {"toolResult": {"toolUseId": "c1", "content": [{"json": {"n": 1}}]}}


def test_blocks_of_the_converse_api_are_parts():
    thought = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}
    assert parts_of([{"text": "hi"}, USE, ANSWER, thought, {"reasoningContent": {"redactedContent": "x"}}, "bare"]) == [
        {"type": "text", "content": "hi"},
        {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"n": 1}},
        {"type": "tool_call_response", "id": "c1", "response": {"n": 1}},
        {"type": "reasoning", "content": "hm", "signature": "s"},
        {"type": "generic", "value": {"reasoningContent": {"redactedContent": "x"}}},
        {"type": "text", "content": "bare"},
    ]
    assert parts_of("hi") == [{"type": "text", "content": "hi"}]


@pytest.mark.parametrize(
    ("blocks", "result"),
    [
        ([{"text": '{"n": 1}'}], {"n": 1}), ([{"text": "plain"}], "plain"), ([{"json": [1]}], [1]),
        ([{"image": 1}], [{"image": 1}]),
        ([{"text": "a"}, {"text": "b"}], [{"text": "a"}, {"text": "b"}]), ("plain", "plain"), ([], []), (["a"], ["a"]),
    ],
)  # fmt: skip
def test_one_block_is_what_it_holds_and_several_stay_blocks(blocks, result):
    assert result_of_blocks(blocks) == result


def test_only_a_list_of_nothing_but_blocks_is_one():
    assert are_blocks([{"text": "hi"}, USE])
    assert not any(map(are_blocks, ([], "hi", [{"text": "hi"}, {"type": "text", "text": "hi"}], [{"other": 1}], ["hi"])))


def inference(kind, /, **attributes):
    held = {"openinference.span.kind": kind} | {k.replace("__", "."): v for k, v in attributes.items()}
    return read(DIALECT, held, name="span")


def test_a_bare_list_of_items_is_the_input_of_a_responses_call():
    items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}]
    got = inference("LLM", input__value=json.dumps(items), llm__model_name="m")
    assert said(got.fields["request.messages"]) == [("user", ["hello"])]


def test_instructions_among_the_parameters_are_the_system_prompt():
    asked = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hello"}
    got = inference("LLM", llm__invocation_parameters=json.dumps({"instructions": "be brief", "temperature": 0.5}), **asked)
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]
    assert got.fields["request.params"] == {"temperature": 0.5}


def test_messages_that_a_limit_dropped_are_named_and_a_role_is_not_guessed():
    held = {"openinference.span.kind": "LLM", "llm.input_messages.2.message.content": "hello"}
    got = read(DIALECT, held | {"llm.model_name": "m"}, dropped_attributes_count=5)
    lost = [mark for mark in got.marks if mark.field == "request.messages"]
    assert [mark.cause for mark in lost] == ["attributes_dropped"]
    assert "the first 2 messages" in lost[0].detail
    assert said(got.fields["request.messages"]) == [("", ["hello"])]


def test_a_tool_has_the_id_of_its_call():
    got = inference("TOOL", tool__name="find", tool_call__id="c1", input__value='{"n": 1}', output__value="42")
    assert (got.name, got.fields["request.call_id"], got.fields["response.result"]) == ("find", "c1", 42)


def test_an_agent_without_content_has_gaps_and_no_content():
    got = inference("AGENT", agent__name="desk")
    assert not got.fields.keys() & {"request.input", "response.output"}
    assert absent(got).keys() >= {"request.input", "response.output"}


def test_what_a_retriever_found_is_its_documents_or_its_output():
    found = {"retrieval.documents.0.document.content": "a", "retrieval.documents.0.document.score": 0.5}
    got = inference("RETRIEVER", input__value="orders", **found).fields
    assert (got["request.query"], got["response.result"]) == ("orders", [{"content": "a", "score": 0.5}])
    assert inference("RETRIEVER", output__value='["a"]').fields["response.result"] == ["a"]
    assert "response.result" not in inference("RETRIEVER", input__value="orders").fields
