"""The same exchange as packages of other languages and versions spell it."""

import json

import pytest

from otelreplay.events import expand
from otelreplay.reconstruct import reconstruct
from otelreplay.spans import Scope, Span, SpanEvent

J = json.dumps
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"id": 1}'}}


def span(n, name, attributes, *, events=(), scope="", parent=""):
    told = tuple(SpanEvent(name=e, time=n, attributes=a) for e, a in events)
    return Span(trace_id="a" * 32, span_id=f"{n:016x}", parent_span_id=parent, name=name, start=n, end=n + 1,
                attributes=attributes, events=told, scope=Scope(name=scope))  # fmt: skip


def events(*spans):
    return [expand(e) for e in reconstruct(spans).events]


def parts(messages):
    return [(m["role"], [p.get("content", p.get("response", p.get("arguments"))) for p in m["parts"]]) for m in messages]


@pytest.mark.parametrize(
    ("operation", "choice"),
    [
        ("chat", {"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [CALL]}}),
        (
            "chat.completions",
            [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [CALL]}}],
        ),
    ],
    ids=["azure", "semantic-kernel.net"],
)
def test_a_body_in_one_attribute_of_an_event_is_the_message(operation, choice):
    told = [
        ("gen_ai.system.message", {"gen_ai.event.content": J({"role": "system", "content": "brief"})}),
        ("gen_ai.user.message", {"gen_ai.event.content": J({"role": "user", "content": "where?"})}),
        ("gen_ai.choice", {"gen_ai.event.content": J(choice)}),
    ]
    call, tool = events(span(1, "chat m", {"gen_ai.operation.name": operation, "gen_ai.request.model": "m"}, events=told))
    assert call.request["system"] == [{"type": "text", "content": "brief"}]
    assert parts(call.request["messages"]) == [("user", ["where?"])]
    assert parts(call.response["messages"]) == [("assistant", [{"id": 1}])]
    assert not call.missing
    assert (tool.kind, tool.name) == ("tool", "look")


def test_the_role_in_place_of_the_content_is_a_message():
    told = {
        "llm.request.type": "completion",
        "gen_ai.request.model": "m",
        "gen_ai.prompt.0.user": "hi",
        "gen_ai.completion.0.content": "yo",
    }
    (call,) = events(span(1, "generate", told))
    assert parts(call.request["messages"] + call.response["messages"]) == [("user", ["hi"]), ("assistant", ["yo"])]


def test_blocks_of_bedrock_in_a_numbered_message_are_its_parts():
    use = [{"text": "wait"}, {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"id": 1}}}]
    told = {"llm.request.type": "chat", "gen_ai.request.model": "m", "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": J([{"text": "hi"}]), "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": J(use)}  # fmt: skip
    call, tool = events(span(1, "converse", told))
    assert parts(call.request["messages"] + call.response["messages"]) == [("user", ["hi"]), ("assistant", ["wait", {"id": 1}])]
    assert tool.request["call_id"] == "c1"


def test_texts_without_roles_and_numbers_as_text_are_read():
    """Spring AI writes all attributes as text."""
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.request.temperature": "0.2",
            "gen_ai.usage.input_tokens": "5", "gen_ai.prompt": '["hi"]', "gen_ai.completion": '["yo"]'}  # fmt: skip
    (call,) = events(span(1, "chat m", told))
    assert parts(call.request["messages"] + call.response["messages"]) == [("user", ["hi"]), ("assistant", ["yo"])]
    assert (call.request["params"], call.response["usage"]) == ({"temperature": 0.2}, {"input_tokens": 5})


def test_a_tool_of_smolagents_is_the_call_that_the_model_asked_for():
    scope = "openinference.instrumentation.smolagents"
    asked = {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
             "llm.input_messages.0.message.content": "hi",
             "llm.output_messages.0.message.role": "assistant",
             "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
             "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
             "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"id": 1}'}  # fmt: skip
    for given in ({"args": [], "kwargs": {"id": 1}}, {"args": [1], "kwargs": {}}):
        ran = {"openinference.span.kind": "TOOL", "tool.name": "look", "tool.parameters": J({"id": {"type": "integer"}}),
               "input.value": J({**given, "sanitize_inputs_outputs": True}), "output.value": '{"at": 2}'}  # fmt: skip
        _, tool = events(span(1, "generate", asked, scope=scope), span(2, "SimpleTool", ran, scope=scope))
        assert (tool.request["arguments"], tool.request["call_id"], tool.response["result"]) == ({"id": 1}, "c1", {"at": 2})
    assert "arguments_named_by_signature" in {m.rule for m in tool.inferred}


def test_what_was_embedded_is_in_the_event():
    told = {"openinference.span.kind": "EMBEDDING", "embedding.model_name": "m"}
    spelled, whole = (
        events(span(1, "embed", {**told, **more}))[0]
        for more in ({"embedding.embeddings.0.embedding.text": "hi"}, {"input.value": J({"input": ["hi"], "model": "m"})})
    )
    assert spelled.request["inputs"] == whole.request["inputs"] == ["hi"]


def test_a_thread_s_run_of_azure_s_agents_is_an_agent_and_no_model():
    told = {"gen_ai.operation.name": "process_thread_run", "gen_ai.agent.name": "desk", "gen_ai.request.model": "m"}
    recording = reconstruct([span(1, "process_thread_run", told)])
    assert [e.kind for e in recording.events] == ["agent"]
    assert "model" in {m.field for m in recording.missing}


def test_an_unknown_convention_says_that_models_and_tools_cannot_be_seen():
    recording = reconstruct([span(1, "step", {"acme.llm.prompt": "hi", "acme.llm.answer": "yo"})])
    assert {(m.field, m.cause) for m in recording.missing} == {
        ("model", "not_carried_by_convention"), ("tool", "not_carried_by_convention"),
    }  # fmt: skip
    (event,) = recording.events
    assert event.attributes["acme.llm.prompt"] == "hi"


def test_a_run_of_other_things_says_nothing_of_models():
    assert not reconstruct([span(1, "GET /", {"http.method": "GET", "recipient_agent_type": "x"})]).missing


def test_one_finish_reason_and_facts_among_metadata_are_read():
    kernel = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.response.finish_reason": "FinishReason.STOP",
    }
    (call,) = events(span(1, "chat m", kernel))
    assert call.response["finish_reasons"] == ["stop"]
    streamed = {"langfuse.observation.type": "generation", "langfuse.observation.metadata.finish_reason": '"tool_calls"',
                "langfuse.observation.metadata.id": '"resp_7"', "langfuse.observation.output": '"wait"'}  # fmt: skip
    (call,) = events(span(1, "generation", streamed))
    assert (call.response["finish_reasons"], call.response["id"]) == (["tool_calls"], "resp_7")
    own = {**streamed, "langfuse.observation.metadata.id": '"order-7"'}
    assert "id" not in events(span(1, "generation", own))[0].response


def test_what_the_sdk_s_own_span_knows_of_the_parameters_is_added():
    """The framework's span lacks one; what both have is the framework's."""
    outer = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.request.temperature": 0.5,
             "gen_ai.input.messages": J([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])}  # fmt: skip
    inner = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.request.temperature": 1,
             "gen_ai.request.max_tokens": 64}  # fmt: skip
    first = span(1, "chat m", outer)
    (call,) = events(first, span(2, "create", inner, parent=first.span_id))
    assert call.request["params"] == {"temperature": 0.5, "max_tokens": 64}


def test_a_call_that_a_framework_and_its_sdk_tell_as_text_is_one_event():
    """The inner span has the conversation as lines, and None in place of a reply that only calls a tool."""
    outer = {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "system",
             "llm.input_messages.0.message.content": "brief", "llm.input_messages.1.message.role": "user",
             "llm.input_messages.1.message.content": "hi", "llm.output_messages.0.message.role": "assistant",
             "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
             "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
             "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}"}  # fmt: skip
    inner = {"langfuse.observation.type": "generation", "langfuse.observation.input": "developer: brief\nuser: hi",
             "langfuse.observation.output": "None"}  # fmt: skip
    first = span(1, "invoke", outer)
    found = events(first, span(2, "chat", inner, parent=first.span_id))
    assert [e.kind for e in found] == ["model", "tool"]
    assert (found[0].request["system"], len(found[0].spans)) == ([{"type": "text", "content": "brief"}], 2)


def test_a_model_call_of_mastra_with_several_steps_hides_exchanges():
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "mastra.span.type": "model_generation",
        "gen_ai.input.messages": J([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]),
        "gen_ai.output.messages": J([{"role": "assistant", "parts": []}]),
    }
    whole = span(1, "chat m", told)
    step = {"gen_ai.operation.name": "model_step", "mastra.span.type": "model_step"}
    steps = [span(n, "step", step, parent=whole.span_id) for n in (2, 3)]
    assert not reconstruct([whole, steps[0]]).missing
    recording = reconstruct([whole, *steps])
    assert [(m.field, m.cause) for m in recording.missing] == [("model", "not_carried_by_convention")]
    assert "request.messages" in {m.field for m in expand(recording.events[0]).missing}
