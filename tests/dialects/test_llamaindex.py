"""LlamaIndex's own export: what a call was is told by the events of its span."""

import json

import pytest

from otelreplay.dialects.llamaindex import DIALECT
from otelreplay.spans import SpanEvent
from tests.dialects.views import absent, read, said

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}
BLOCK = {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "find", "tool_kwargs": '{"a": 1}'}
HISTORY = [
    {"role": "system", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "be brief"}]},
    {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "hello"}]},
    {"role": "assistant", "additional_kwargs": {"tool_calls": [CALL]}, "blocks": [{"block_type": "text", "text": ""}, BLOCK]},
    {"role": "tool", "additional_kwargs": {"tool_call_id": "c1"}, "blocks": [{"block_type": "text", "text": "42"}]},
]
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
START = {
    "messages": json.dumps(HISTORY),
    "additional_kwargs.tools": json.dumps(TOOLS),
    "additional_kwargs.tool_choice": "auto",
    "model_dict.model_name": "m",
    "model_dict.temperature": "0.5",
}
RAW = {
    "response.raw.id": "r-1",
    "response.raw.model": "m-1",
    "response.raw.object": "chat.completion",
    "response.raw.choices": json.dumps(
        [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}]
    ),
    "response.raw.usage.prompt_tokens": "3",
    "response.raw.usage.completion_tokens": "1",
    "response.raw.service_tier": "null",
}


def event(name, attributes):
    return SpanEvent(name=name, attributes={**attributes, "class_name": name})


def call(start=START, end=None, *, what="LLMChat", name="OpenAI.achat", **span):
    events = [event(f"{what}StartEvent", start)] + ([] if end is None else [event(f"{what}EndEvent", end)])
    return read(DIALECT, {}, events=tuple(events), name=name, **span)


def test_a_call_is_its_messages_its_tools_and_the_provider_s_own_response():
    got = call(end=RAW)
    assert (got.kind, got.name) == ("model", "m")
    assert got.fields["request.system"] == [{"type": "text", "content": "be brief"}]
    assert said(got.fields["request.messages"]) == [("user", ["hello"]), ("assistant", [{"a": 1}]), ("tool", ["42"])]
    assert [part["id"] for message in got.fields["request.messages"][1:] for part in message["parts"]] == ["c1", "c1"]
    assert [tool["name"] for tool in got.fields["request.tools"]] == ["find"]
    assert got.fields["request.params"] == {"temperature": 0.5, "tool_choice": "auto"}
    assert said(got.fields["response.messages"]) == [("assistant", ["hi"])]
    assert (got.fields["response.id"], got.fields["response.model"]) == ("r-1", "m-1")
    assert got.fields["response.usage"] == {"input_tokens": 3, "output_tokens": 1}
    assert {"LLMChatStartEvent", "LLMChatEndEvent"} <= got.took_events


@pytest.mark.parametrize(
    "end",
    [
        {"response.message.blocks": json.dumps([BLOCK])},
        {"response.message.blocks": "[]", "response.message.additional_kwargs.tool_calls": json.dumps([CALL])},
    ],
)
def test_without_a_response_that_is_known_the_framework_s_message_is_the_reply(end):
    assert said(call(end=end).fields["response.messages"]) == [("assistant", [{"a": 1}])]


def test_a_thought_is_reasoning_and_a_block_that_nobody_knows_is_kept():
    blocks = [{"block_type": "thinking", "content": "hm"}, {"block_type": "image", "url": "u"}]
    (reply,) = call(end={"response.message.blocks": json.dumps(blocks)}).fields["response.messages"]
    assert [part["type"] for part in reply["parts"]] == ["reasoning", "generic"]


def test_a_stream_has_no_end_and_the_remedy_says_so():
    got = call(name="OpenAI.astream_chat")
    assert absent(got)["response.messages"] == "content_not_captured"
    assert "without streaming" in next(gap.remedy for gap in got.gaps if gap.field == "response.messages")


def test_a_response_that_breaks_off_is_a_gap():
    whole = json.dumps([{"index": 0, "message": {"role": "assistant", "content": "a long reply"}}])
    got = call(end={**RAW, "response.raw.choices": whole[:-20]})
    assert absent(got)["response.messages"] == "truncated"


def test_a_completion_is_a_prompt_and_a_text():
    got = call({"prompt": "hello", "model_dict.model_name": "m"}, {"response.text": "hi"}, what="LLMCompletion").fields
    assert said(got["request.messages"] + got["response.messages"]) == [("user", ["hello"]), ("assistant", ["hi"])]


def test_a_search_and_an_embedding():
    got = call({"str_or_query_bundle": "where"}, {"nodes": '[{"text": "here"}]'}, what="Retrieval")
    assert (got.kind, got.fields["request.query"], got.fields["response.result"]) == ("retrieval", "where", [{"text": "here"}])
    got = call({"model_dict.model_name": "e"}, {"chunks": '["a", "b"]'}, what="Embedding")
    assert (got.kind, got.fields["request.model"], got.fields["request.inputs"]) == ("embeddings", "e", ["a", "b"])


def tool(summary, name="FunctionTool.acall", step="ToolCall"):
    attributes = {"llamaindex.step.input_event": step, "llamaindex.step.input_summary": summary}
    return read(DIALECT, attributes, name=name)


def test_a_tool_s_call_is_what_python_prints_of_it():
    got = tool("ToolCall(tool_name='find', tool_kwargs={'a': 1, 'b': ['x']}, tool_id='c1')")
    assert (got.kind, got.name) == ("tool", "find")
    assert got.fields == {"request.arguments": {"a": 1, "b": ["x"]}, "request.call_id": "c1"}
    assert got.taken == {"llamaindex.step.input_summary"}


def test_of_a_call_that_was_cut_the_name_is_known_and_the_arguments_are_a_gap():
    got = tool("ToolCall(tool_name='find', tool_kwargs={'text': 'aaaaaaaaaa...")
    assert (got.name, dict(got.fields)) == ("find", {})
    assert absent(got)["request.arguments"] == "truncated"


@pytest.mark.parametrize(
    ("summary", "name", "step"),
    [
        ("ToolCall(tool_name='find', tool_kwargs={}, tool_id='c1')", "OpenAI.achat", "ToolCall"),
        ("ToolCall(tool_name='find', tool_kwargs={}, tool_id='c1')", "BaseWorkflowAgent.call_tool", "ToolCall"),
        ("ToolCall(tool_name='find', tool_kwargs={}, tool_id='c1')", "FunctionTool.acall", "AgentSetup"),
        ("something else", "FunctionTool.acall", "ToolCall"),
    ],
)
def test_no_other_span_of_the_step_is_the_tool(summary, name, step):
    assert tool(summary, name, step) is None


def test_a_workflow_is_an_agent():
    got = read(DIALECT, {}, events=(SpanEvent(name="workflow.output", attributes={}),), name="FunctionAgent.run")
    assert (got.kind, got.name) == ("agent", "FunctionAgent")
