"""Spring AI, Genkit, Mastra, LangWatch, Laminar and Braintrust: spans with a kind, an input and an output."""

import json

import pytest

from otelreplay.dialects import genkit, mastra, observed, spring_ai
from tests.dialects.views import absent, read, said

J = json.dumps
PLACES = {
    "langwatch": ("langwatch.span.type", "langwatch.input", "langwatch.output"),
    "laminar": ("lmnr.span.type", "lmnr.span.input", "lmnr.span.output"),
    "braintrust": ("braintrust.span_attributes", "braintrust.input_json", "braintrust.output_json"),
}


def observe(sdk, kind, given, gave, **more):
    at, asked, said_at = PLACES[sdk]
    told = J({"type": kind, "name": "look"}) if sdk == "braintrust" else kind.upper() if sdk == "laminar" else kind
    wrap = (lambda v: {"type": "json", "value": v}) if sdk == "langwatch" else lambda v: v
    return read(observed.DIALECT, {at: told, asked: J(wrap(given)), said_at: J(wrap(gave)), **more}, name="look")


@pytest.mark.parametrize("sdk", PLACES)
def test_an_observed_model_call_has_its_messages_and_its_reply(sdk):
    asked = [{"role": "system", "content": "brief"}, {"role": "user", "content": "where?"}]
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"id": 1}'}}
    got = observe(
        sdk, "llm", asked, {"role": "assistant", "content": None, "tool_calls": [call]}, **{"gen_ai.request.model": "m"}
    )
    assert (got.kind, got.name) == ("model", "m")
    assert got.fields["request.system"] == [{"type": "text", "content": "brief"}]
    assert said(got.fields["request.messages"]) == [("user", ["where?"])]
    assert said(got.fields["response.messages"]) == [("assistant", [{"id": 1}])]


@pytest.mark.parametrize("sdk", PLACES)
def test_an_observed_tool_has_arguments_and_result(sdk):
    got = observe(sdk, "tool", {"id": 1}, {"at": 2})
    assert (got.kind, got.name) == ("tool", "look")
    assert got.fields == {"request.arguments": {"id": 1}, "response.result": {"at": 2}}


def test_an_observed_body_is_read_as_that_of_its_provider():
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0}
    choices = [{"message": {"role": "assistant", "content": "yo"}, "finish_reason": "stop"}]
    got = observe("braintrust", "llm", body, choices, **{"braintrust.metadata": J({"provider": "openai", "top_p": 1})})
    assert got.fields["request.params"] == {"temperature": 0}
    assert (got.fields["request.provider"], got.fields["response.finish_reasons"]) == ("openai", ["stop"])
    plain = observe("laminar", "llm", "hi", "yo")
    assert said(plain.fields["request.messages"] + plain.fields["response.messages"]) == [
        ("user", ["hi"]),
        ("assistant", ["yo"]),
    ]


def test_observed_steps_of_other_kinds_are_no_boundaries():
    assert observe("langwatch", "span", 1, 2) is None
    assert observe("laminar", "llm", None, None).gaps


GENKIT_IN = {
    "messages": [
        {"role": "system", "content": [{"text": "brief"}]},
        {"role": "user", "content": [{"text": "where?"}, {"media": {"url": "http://x/a.png", "contentType": "image/png"}}]},
        {"role": "model", "content": [{"toolRequest": {"name": "look", "ref": "c0", "input": {"id": 0}}}]},
        {"role": "tool", "content": [{"toolResponse": {"name": "look", "ref": "c0", "output": "gone"}}]},
    ],
    "config": {"temperature": 0, "maxOutputTokens": 9},
    "tools": [{"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}],
}  # fmt: skip
GENKIT_OUT = {
    "message": {"role": "model", "content": [{"text": "home"}]},
    "finishReason": "stop",
    "usage": {"inputTokens": 3, "outputTokens": 1},
}


def action(kind, given, gave, name="look", **more):
    told = {"genkit:type": "action", "genkit:metadata:subtype": kind, "genkit:name": name}
    return read(genkit.DIALECT, {**told, "genkit:input": J(given), "genkit:output": J(gave), **more})


def test_a_model_of_genkit_is_read_whole():
    got = action("model", GENKIT_IN, GENKIT_OUT, "openai/gpt-5").fields
    assert (got["request.provider"], got["request.model"]) == ("openai", "gpt-5")
    assert got["request.params"] == {"max_tokens": 9, "temperature": 0}
    assert got["request.tools"] == [
        {"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object"}}
    ]
    assert [role for role, _ in said(got["request.messages"])] == ["user", "assistant", "tool"]
    assert got["request.messages"][1]["parts"] == [{"type": "tool_call", "id": "c0", "name": "look", "arguments": {"id": 0}}]
    assert got["request.messages"][2]["parts"][0]["response"] == "gone"
    assert (said(got["response.messages"]), got["response.usage"]) == (
        [("assistant", ["home"])], {"input_tokens": 3, "output_tokens": 1},
    )  # fmt: skip
    older = action("model", GENKIT_IN, {"candidates": [GENKIT_OUT]}).fields
    assert said(older["response.messages"]) == [("assistant", ["home"])]


def test_tools_flows_and_retrievers_of_genkit_keep_their_values():
    assert action("tool", {"id": 1}, [2]).fields == {"request.arguments": {"id": 1}, "response.result": [2]}
    assert action("retriever", {"query": "q"}, {"documents": []}).kind == "retrieval"
    flow = read(genkit.DIALECT, {"genkit:type": "flow", "genkit:name": "desk", "genkit:input": '"hi"'})
    assert (flow.kind, flow.name, flow.fields) == ("agent", "desk", {"request.input": "hi"})
    assert read(genkit.DIALECT, {"genkit:type": "util", "genkit:name": "generate"}) is None


def test_a_failed_action_of_genkit_failed():
    got = action("tool", {"id": 1}, None, **{"genkit:state": "error"})
    assert got.fields["error"] is not None


def test_a_tool_of_spring_ai_is_a_tool_with_or_without_content():
    named = {"spring.ai.kind": "tool_call", "spring.ai.tool.definition.name": "look", "gen_ai.operation.name": "framework"}
    got = read(
        spring_ai.DIALECT, {**named, "spring.ai.tool.call.arguments": '{"id": 1}', "spring.ai.tool.call.result": '"home"'}
    )
    assert (got.kind, got.name) == ("tool", "look")
    assert got.fields == {"request.arguments": {"id": 1}, "response.result": "home"}
    hidden = read(spring_ai.DIALECT, named)
    assert absent(hidden) == {"request.arguments": "content_not_captured", "response.result": "content_not_captured"}
    assert "spring.ai.tools.observations.include-content" in hidden.gaps[0].remedy


def test_a_vector_store_of_spring_ai_is_a_search_and_adding_to_it_is_none():
    told = {"spring.ai.kind": "vector_store", "db.operation.name": "query", "db.vector.query.content": "late",
            "db.vector.query.response.documents": '["a"]'}  # fmt: skip
    assert read(spring_ai.DIALECT, told).fields == {"request.query": "late", "response.result": ["a"]}
    assert read(spring_ai.DIALECT, {**told, "db.operation.name": "add"}) is None


def test_an_agent_of_mastra_is_given_and_gives():
    told = {"mastra.span.type": "agent_run", "gen_ai.agent.name": "desk"}
    got = read(
        mastra.DIALECT, {**told, "mastra.agent_run.input": '[{"role": "user"}]', "mastra.agent_run.output": '{"text": "x"}'}
    )
    assert (got.kind, got.name) == ("agent", "desk")
    assert got.fields == {"request.input": [{"role": "user"}], "response.output": {"text": "x"}}
    older = read(
        mastra.DIALECT, {"mastra.span.type": "TOOL_CALL", "gen_ai.tool.name": "look", "input": '{"id": 1}', "output": "2"}
    )
    assert older.fields == {"request.arguments": {"id": 1}, "response.result": 2}


def test_spans_of_others_are_left_alone():
    for module in (genkit, mastra, observed, spring_ai):
        assert read(module.DIALECT, {"gen_ai.operation.name": "chat"}) is None
