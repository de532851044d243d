"""OpenInference: bodies first, then the spelled-out form; what is hidden is never content."""

import json

import pytest

from otelreplay.dialects import Interner, SpanView
from otelreplay.dialects.flattened import nested
from otelreplay.dialects.openinference import DIALECT
from otelreplay.spans import Span
from otelreplay.testing.dialects import check_dialect

CHAT = {
    "model": "gpt-4o-mini",
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
    "temperature": 0,
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
}
REPLY = {
    "id": "chatcmpl-1",
    "model": "gpt-4o-mini-2024",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
}
SPELLED = {
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "be brief",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.content": "hello",
    "llm.input_messages.10.message.role": "tool",
    "llm.input_messages.10.message.tool_call_id": "call_1",
    "llm.input_messages.10.message.content": "42",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "call_1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "look",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "hi",
    "llm.tools.0.tool.json_schema": json.dumps(CHAT["tools"][0]),
    "llm.invocation_parameters": '{"model": "gpt-4o-mini", "temperature": 0}',
    "llm.model_name": "gpt-4o-mini-2024",
    "llm.token_count.prompt": 3,
    "llm.token_count.completion": 1,
    "llm.finish_reason": "stop",
    "llm.system": "openai",
}


def read(kind="LLM", /, **span):
    attributes = {"openinference.span.kind": kind, **span.pop("attributes", {})}
    view = SpanView(span=Span(trace_id="a" * 32, span_id="b" * 16, attributes=attributes, **span))
    return check_dialect(DIALECT, view)


def texts(messages):
    return [(m["role"], [p.get("content", p.get("response", p.get("arguments"))) for p in m["parts"]]) for m in messages]


def test_the_bodies_of_a_known_api_give_all_of_a_call():
    got = read(attributes={"input.value": json.dumps(CHAT), "output.value": json.dumps(REPLY), "llm.system": "openai"}).fields
    assert got["request.model"] == "gpt-4o-mini"
    assert got["request.params"] == {"temperature": 0}
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert texts(got["request.messages"]) == [("user", ["hello"])]
    assert [t["name"] for t in got["request.tools"]] == ["look"]
    assert texts(got["response.messages"]) == [("assistant", ["hi"])]
    assert (got["response.id"], got["response.finish_reasons"]) == ("chatcmpl-1", ["stop"])
    assert got["response.usage"] == {"input_tokens": 3, "output_tokens": 1}


CALL_IN_BLOCKS = (
    '{"input": [{"role": "assistant", "content": [{"type": "tool-call", "id": "c", "tool_name": "look", "args": "{}"}]}]}'
)


@pytest.mark.parametrize(
    "body", ['{"messages": [[{"lc": 1, "type": "constructor"}]]}', CALL_IN_BLOCKS, "hello", '"hello"', "{", "[]"]
)
def test_a_framework_s_own_serialisation_is_passed_over_for_the_spelled_out_form(body):
    got = read(attributes={"input.value": body, **SPELLED}).fields
    assert texts(got["request.messages"]) == [("user", ["hello"]), ("assistant", [{"a": 1}]), ("tool", ["42"])]
    assert texts(got["response.messages"]) == [("assistant", ["hi"])]
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert got["request.model"] == "gpt-4o-mini"
    assert got["request.provider"] == "openai"
    assert got["response.usage"] == {"input_tokens": 3, "output_tokens": 1}
    assert got["response.finish_reasons"] == ["stop"]


def test_a_call_that_stands_twice_in_a_message_is_one():
    call = {
        "tool_call.id": "t1",
        "tool_call.function.name": "look",
        "tool_call.function.arguments": "{}",
    }
    at = "llm.output_messages.0.message"
    twice = {
        f"{at}.role": "assistant",
        **{f"{at}.tool_calls.0.{k}": v for k, v in call.items()},
        **{f"{at}.contents.0.{k}": v for k, v in call.items()},
    }
    (message,) = read(attributes=twice).fields["response.messages"]
    assert message["parts"] == [{"type": "tool_call", "id": "t1", "name": "look", "arguments": {}}]


def test_hidden_text_is_never_content_and_the_other_form_is_read():
    hidden = {k: "__REDACTED__" if k.endswith("message.content") else v for k, v in SPELLED.items()}
    got = read(attributes={**hidden, "input.value": json.dumps(CHAT), "output.value": json.dumps(REPLY)}).fields
    assert texts(got["request.messages"]) == [("user", ["hello"])]
    reading = read(attributes={**hidden, "input.value": "__REDACTED__", "output.value": "__REDACTED__"})
    assert "response.messages" not in reading.fields
    assert {g.field: g.cause for g in reading.gaps}["response.messages"] == "content_not_captured"
    assert "HIDE" in reading.gaps[0].remedy


def test_a_body_that_was_cut_is_a_gap_with_that_cause():
    cut = json.dumps(CHAT)[:60]
    view = SpanView(
        span=Span(
            trace_id="a" * 32,
            span_id="b" * 16,
            attributes={"openinference.span.kind": "LLM", "input.value": cut, "input.mime_type": "application/json"},
        ),
        limit=60,
    )
    reading = check_dialect(DIALECT, view)
    assert {g.field: g.cause for g in reading.gaps}["request.messages"] == "truncated"


def test_a_tool_s_arguments_are_its_input_and_never_its_schema():
    got = read(
        "TOOL",
        name="look",
        attributes={
            "tool.name": "look",
            "tool.parameters": '{"type": "object"}',
            "input.value": '{"a": 1}',
            "output.value": "two",
        },
    )
    assert got.name == "look"
    assert got.fields["request.arguments"] == {"a": 1}
    assert got.fields["response.result"] == "two"
    printed = read("TOOL", attributes={"tool.name": "look", "input.value": "{'a': 'b'}"})
    assert printed.fields["request.arguments"] == {"a": "b"}
    assert [g.field for g in printed.gaps] == ["response.result"]


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"input": {"a": 1}, "options": None}, {"a": 1}),
        ({"input": {"a": 1}, "options": {"b": 2}}, {"input": {"a": 1}, "options": {"b": 2}}),
        ({"input": "a", "options": None}, {"input": "a", "options": None}),
    ],
)
def test_what_runs_a_tool_beside_its_arguments_is_none_of_them(given, arguments):
    """Unless the tool may well have parameters of these names."""
    got = read("TOOL", attributes={"tool.name": "look", "input.value": json.dumps(given)})
    assert got.fields["request.arguments"] == arguments


def test_a_search_has_its_query_and_its_documents():
    got = read(
        "RETRIEVER",
        attributes={
            "input.value": "late parcels",
            "retrieval.documents.0.document.content": "nine days",
            "retrieval.documents.0.document.score": 0.5,
        },
    ).fields
    assert got["request.query"] == "late parcels"
    assert got["response.result"] == [{"content": "nine days", "score": 0.5}]


def test_embeddings_have_their_texts():
    got = read(
        "EMBEDDING",
        attributes={"embedding.model_name": "e-1", "embedding.embeddings.0.embedding.text": "one"},
    ).fields
    assert got["request.model"] == "e-1"
    assert got["request.inputs"] == ["one"]


def test_a_chain_is_no_boundary():
    assert read("CHAIN", attributes={"input.value": "x", **SPELLED}) is None


def test_numbers_in_names_are_positions_in_order_of_their_value():
    assert nested({"a.10.x": 3, "a.9.x": 2, "a.0.x": 1}, "a.") == [{"x": 1}, {"x": 2}, {"x": 3}]
    assert nested({"a.b": 1}, "c.") is None


def test_the_interner_makes_equal_messages_one_object():
    intern = Interner()
    attributes = {"openinference.span.kind": "LLM", "input.value": json.dumps(CHAT)}
    views = [SpanView(span=Span(trace_id="a" * 32, span_id=c * 16, attributes=attributes)) for c in "bc"]
    one, two = (DIALECT.read(v, intern).fields["request.messages"][0] for v in views)
    assert one is two


def built(kind, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", kind], "kwargs": kwargs}


def test_langchain_s_own_bodies_hold_more_than_what_is_spelled_out():
    asked = {
        "messages": [
            [built("SystemMessage", content=[{"type": "text", "text": "be brief"}]), built("HumanMessage", content="hello")]
        ]
    }
    call = {"name": "look", "args": {"a": 1}, "id": "call_1"}
    gave = {"generations": [[{"message": built("AIMessage", content="", id="chatcmpl-1", tool_calls=[call])}]]}
    spelled = {
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "hello",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
    }
    got = read(attributes={**spelled, "input.value": json.dumps(asked), "output.value": json.dumps(gave)}).fields
    assert got["request.system"] == [{"type": "text", "content": "be brief"}]
    assert got["response.messages"][0]["parts"] == [
        {"type": "tool_call", "id": "call_1", "name": "look", "arguments": {"a": 1}}
    ]
    assert got["response.id"] == "chatcmpl-1"


def test_what_autogen_says_beside_calls_stands_in_its_own_reply_only():
    told = {
        "finish_reason": "function_calls",
        "content": [{"id": "c1", "name": "look", "arguments": '{"a": 1}'}],
        "thought": "so",
    }
    got = read(attributes={"output.value": json.dumps(told)})
    assert texts(got.fields["response.messages"]) == [("assistant", ["so", {"a": 1}])]
    assert got.fields["response.finish_reasons"] == ["function_calls"]
    assert got.drops_text_beside_calls
    plain = read(attributes={"output.value": json.dumps({**told, "content": "hi"})})
    assert [p["type"] for p in plain.fields["response.messages"][0]["parts"]] == ["reasoning", "text"]


def test_the_answers_of_functions_may_stand_beside_the_message():
    answer = json.dumps({"name": "look", "content": "42", "call_id": "c1", "is_error": False})
    held = {"llm.input_messages.0.message.role": "function", "llm.input_messages.0.function.0": answer}
    (message,) = read(attributes=held).fields["request.messages"]
    assert message == {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "42"}]}


@pytest.mark.parametrize("output", [{}, {"output.value": '{"messages": ["…"], "tools": []}'}])
def test_a_step_that_only_prepares_a_request_is_no_call(output):
    got = read(attributes={"llm.model_name": "m", "input.value": "{}", **output}, status_code=1, end=9)
    assert (got.kind, got.no_boundary) == ("context", True)


@pytest.mark.parametrize(
    ("more", "span"),
    [({"output.value": "__REDACTED__"}, {}), ({"llm.token_count.prompt": 1}, {}), ({}, {"status_code": 2}), ({}, {"end": 0}),
     ({}, {"dropped_attributes_count": 1})],
)  # fmt: skip
def test_a_call_of_which_little_is_known_is_still_a_call(more, span):
    assert read(attributes={"llm.model_name": "m", **more}, **{"status_code": 1, "end": 9, **span}).kind == "model"


def test_a_tool_s_answer_to_langchain_tells_its_call():
    told = {"type": "tool", "data": {"content": '{"at": 2}', "tool_call_id": "call_1"}}
    got = read("TOOL", attributes={"tool.name": "look", "input.value": "o-1", "output.value": json.dumps(told)}).fields
    assert got == {"request.arguments": "o-1", "request.call_id": "call_1", "response.result": {"at": 2}}


def test_a_callable_s_own_name_is_the_tool_s():
    assert read("TOOL", name="look.__call__").name == "look"


def test_a_chain_through_which_messages_went_is_context_that_says_so():
    got = read("CHAIN", attributes={"output.value": '{"agent": {"messages": ["…"]}}'}, name="Pipeline.run")
    assert (got.kind, got.conversation) == ("context", True)
    assert read("CHAIN", attributes={"output.value": '{"a": 1}'}) is None


@pytest.mark.parametrize(
    ("name", "expected"), [("gemini-2.5-flash", "gemini-2.5-flash"), ("m-2024-07-18", None), ("m-20250929", None)]
)
def test_the_model_s_name_was_asked_for_unless_it_has_a_date_or_something_else_tells(name, expected):
    got = read(attributes={"llm.model_name": name, "llm.token_count.prompt": 1})
    assert got.fields.get("request.model") == expected
    assert [m.rule for m in got.marks] == (["request_model_from_model_name"] if expected else [])
    told = read(attributes={"llm.model_name": name, "llm.invocation_parameters": '{"model": "m"}', "llm.token_count.prompt": 1})
    assert (told.fields["request.model"], told.marks) == ("m", ())


def test_what_a_response_repeats_of_its_request_is_inferred():
    echo = {
        "id": "resp-1",
        "created_at": 1,
        "temperature": 0,
        "tools": [{"type": "function", "name": "look", "parameters": {}}],
    }
    got = read(attributes={"llm.invocation_parameters": json.dumps(echo), "llm.token_count.prompt": 1})
    assert got.fields["request.params"] == {"temperature": 0}
    assert got.fields["request.tools"][0]["name"] == "look"
    assert {m.field: m.rule for m in got.marks} == dict.fromkeys(
        ["request.params", "request.tools"], "request_from_response_echo"
    )


def test_plain_text_is_the_reply_where_nothing_else_tells_it():
    got = read(attributes={"output.value": "it is late"})
    assert texts(got.fields["response.messages"]) == [("assistant", ["it is late"])]
    assert [m.rule for m in got.marks] == ["reply_from_output_text"]


@pytest.mark.parametrize(
    "attributes",
    [
        {"output.value": " "},
        {"output.value": "__REDACTED__"},
        {"output.value": '{"score": 1}'},
        {"output.value": "ChatCompletion(id='c')"},
        {"output.value": "<stream object at 0x1>"},
        {"output.value": "late", "output.mime_type": "application/json"},
        {"output.value": "late", "llm.output_messages.0.message.role": "assistant"},
    ],
)
def test_what_is_no_plain_text_or_does_not_stand_alone_is_no_reply(attributes):
    assert "response.messages" not in read(attributes=attributes).fields


def test_a_request_that_was_sent_is_a_call_though_its_stream_left_no_reply():
    sent = {"model": "m", "input": [{"role": "user", "content": "hello"}], "stream": True}
    got = read(attributes={"input.value": json.dumps(sent)}, status_code=1, end=9)
    assert (got.kind, texts(got.fields["request.messages"])) == ("model", [("user", ["hello"])])
    assert "response.messages" in {gap.field for gap in got.gaps}
    assert read(attributes={"input.value": json.dumps({"messages": []})}, status_code=1, end=9).no_boundary


def test_a_message_of_which_the_role_alone_is_recorded_says_so():
    held = {"llm.input_messages.0.message.role": "user", "llm.input_messages.1.message.role": "model"}
    user, assistant = read(attributes=held).fields["request.messages"]
    assert [mark.field for mark in user.marks] == ["parts"]
    assert assistant.marks == (), "what a model said may stand in its reply"


def test_tools_among_the_parameters_are_tools_where_they_stand_nowhere_else():
    params = json.dumps({"temperature": 0, "tools": CHAT["tools"]})
    got = read(attributes={"llm.invocation_parameters": params, "input.value": "__REDACTED__"}).fields
    assert [tool["name"] for tool in got["request.tools"]] == [CHAT["tools"][0]["function"]["name"]]
    assert got["request.params"] == {"temperature": 0}
    spelled = {"llm.tools.0.tool.json_schema": json.dumps({"type": "function", "function": {"name": "other"}})}
    assert [t["name"] for t in read(attributes={"llm.invocation_parameters": params, **spelled}).fields["request.tools"]] == [
        "other"
    ]


def test_a_response_as_python_prints_it_is_read_as_that():
    body = {
        "id": "r-1",
        "object": "chat.completion",
        "model": "m-1",
        "choices": [{"index": 0, "message": {"content": "hi", "role": "assistant"}}],
    }
    got = read(attributes={"output.value": str({**body, "error": None})}).fields
    assert (got["response.id"], got["response.model"]) == ("r-1", "m-1")
    assert texts(got["response.messages"]) == [("assistant", ["hi"])]


def test_a_dated_model_of_a_converse_request_was_asked_for():
    asked = {"messages": [{"role": "user", "content": [{"text": "hello"}]}]}
    name = "anthropic.claude-3-5-sonnet-20240620-v1:0"
    assert read(attributes={"llm.model_name": name, "input.value": json.dumps(asked)}).fields["request.model"] == name
    assert "request.model" not in read(attributes={"llm.model_name": name, "input.value": json.dumps(CHAT["messages"])}).fields
