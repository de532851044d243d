"""Tool definitions of every shape are one shape."""

import json

import pytest

from otelreplay.providers import CODECS, decode_tool

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
FLAT = {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA}


@pytest.mark.parametrize(
    "definition",
    [
        FLAT,
        {"name": "f", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"type": "custom", "name": "f", "description": "d", "input_schema": SCHEMA},
        {"type": "function", "name": "f", "description": "d", "inputSchema": SCHEMA},
        {"type": "function", "name": "f", "description": "d", "inputSchema": {"jsonSchema": SCHEMA}},
        {"name": "f", "description": "d", "parametersJsonSchema": SCHEMA},
        {"functionDeclarations": [{"name": "f", "description": "d", "parameters_json_schema": SCHEMA}]},
        {"function_declarations": [{"name": "f", "description": "d", "parameters": SCHEMA}], "google_search": None},
        json.dumps(FLAT),
    ],
)  # fmt: skip
def test_every_shape_of_a_function_is_the_same_tool(definition):
    assert decode_tool(definition) == [FLAT]


def test_description_and_parameters_may_be_missing_and_null_is_not_missing():
    assert decode_tool({"type": "function", "name": "f"}) == [{"type": "function", "name": "f"}]
    assert decode_tool({"name": "f", "description": None}) == [{"type": "function", "name": "f", "description": None}]


def test_other_fields_are_kept():
    tool = {"type": "function", "function": {"name": "f", "strict": True}, "cache_control": {"type": "ephemeral"}}
    assert decode_tool(tool) == [{"type": "function", "name": "f", "strict": True, "cache_control": {"type": "ephemeral"}}]


def test_several_declarations_and_a_tool_of_the_provider_are_a_tool_each():
    tools = decode_tool({"functionDeclarations": [{"name": "f"}, {"name": "g"}], "googleSearch": {}})
    assert [t.get("name") for t in tools] == ["f", "g", None]
    assert tools[2] == {"type": "googleSearch", "googleSearch": {}}


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "web_search", "search_context_size": "low"},
        {"type": "namespace", "name": "n", "tools": [FLAT]},
        {"type": "custom", "name": "sql", "format": {"type": "text"}},
        {"type": "function", "function": {"name": "f"}, "name": "f"},
        {"type": "function", "function": 3},
        {"type": "function"},
    ],
)
def test_what_is_no_function_is_kept_under_its_own_type(definition):
    (tool,) = decode_tool(definition)
    assert {k: tool[k] for k in definition} == definition


@pytest.mark.parametrize(
    "definition", [7, None, "text", "[1]", {}, {"a": 1, "b": 2}, {"type": 3}, {"type": "generic"}, {"custom": 1}]
)
def test_what_has_no_type_is_generic(definition):
    assert decode_tool(definition) == [{"type": "generic", "value": definition}]


WIRES = {
    "openai.chat_completions": {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
    "openai.responses": FLAT,
    "anthropic.messages": {"name": "f", "description": "d", "input_schema": SCHEMA},
    "gemini.generate_content": {"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": SCHEMA}]},
}


@pytest.mark.parametrize("api", WIRES)
def test_a_function_is_written_as_each_api_wants_it(api):
    assert CODECS[api].encode_request({"tools": [FLAT]})["tools"] == [WIRES[api]]
    assert CODECS[api].decode_tool(WIRES[api]) == [FLAT]


@pytest.mark.parametrize("api", WIRES)
@pytest.mark.parametrize("definition", [7, {"a": 1, "b": 2}, {"googleSearch": {}}, {"type": "web_search"}])
def test_a_tool_that_is_no_function_is_written_as_it_was(api, definition):
    assert CODECS[api].encode_request({"tools": decode_tool(definition)})["tools"] == [definition]


def test_a_schema_under_a_name_that_is_taken_stays_where_it_is():
    tool = {**FLAT, "input_schema": {}}
    assert CODECS["anthropic.messages"].encode_request({"tools": [tool]})["tools"] == [tool]
