"""What the encoders write is what each provider's own SDK reads. Needs the SDKs, which are no dependency."""

import importlib
import os

import pytest
from hypothesis import HealthCheck, given, settings

from otelreplay.providers import CODECS
from tests.providers.strategies import ANTHROPIC, CHAT, GEMINI, RESPONSES, responses

BRIEF = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
BARE = {"messages": [{"role": "assistant", "parts": [{"type": "text", "content": "a"}, {"type": "tool_call", "name": "f"}]}]}


def needed(module):
    """A module of an SDK: without it the test is skipped, but in CI it fails."""
    if os.environ.get("CI") == "true":
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f"{module} is not installed")


@pytest.fixture(scope="module")
def chat():
    return needed("openai.types.chat").ChatCompletion


@pytest.fixture(scope="module")
def response():
    return needed("openai.types.responses").Response


@pytest.fixture(scope="module")
def anthropic():
    return needed("anthropic.types").Message


@pytest.fixture(scope="module")
def gemini():
    return needed("google.genai.types").GenerateContentResponse


def known(body, *path, words, value):
    """The body with every reason that the SDK has no name for replaced: the codec keeps words of the future."""
    for choice in body[path[0]] if len(path) > 1 else [body]:
        if choice[path[-1]] not in words:
            choice[path[-1]] = value
    return body


@given(value=responses(CHAT))
@BRIEF
def test_the_openai_sdk_reads_chat_completions(chat, value):
    body, _ = CODECS["openai.chat_completions"].encode_response(value)
    parsed = chat.model_validate(known(body, "choices", "finish_reason", words={"stop", "length", "tool_calls"}, value="stop"))
    assert len(parsed.choices) == len(value["messages"])


@given(value=responses(RESPONSES))
@BRIEF
def test_the_openai_sdk_reads_responses(response, value):
    body, _ = CODECS["openai.responses"].encode_response(value)
    body["output"] = [item for item in body["output"] if item["type"] != "web_search_call"]
    assert len(response.model_construct(**body).output) == len(body["output"])
    for item in body["output"]:
        assert parsed_item(item)


def parsed_item(item):
    types = needed("openai.types.responses")
    models = {
        "message": types.ResponseOutputMessage,
        "reasoning": types.ResponseReasoningItem,
        "function_call": types.ResponseFunctionToolCall,
        "custom_tool_call": types.ResponseCustomToolCall,
    }
    return models[item["type"]].model_validate(item)


@given(value=responses(ANTHROPIC))
@BRIEF
def test_the_anthropic_sdk_reads_messages(anthropic, value):
    body, _ = CODECS["anthropic.messages"].encode_response(value)
    words = {"end_turn", "stop_sequence", "tool_use"}
    parsed = anthropic.model_validate(known(body, "stop_reason", words=words, value="end_turn") | {"container": None})
    assert len(parsed.content) == len(value["messages"][0]["parts"])


@given(value=responses(GEMINI))
@BRIEF
def test_the_google_sdk_reads_responses(gemini, value):
    body, _ = CODECS["gemini.generate_content"].encode_response(value)
    body = {k: v for k, v in body.items() if k not in ("createTime", "promptFeedback")}
    for candidate in body["candidates"]:
        for part in candidate["content"]["parts"]:
            part.pop("thoughtSignature", None)  # base64 on the wire; the strategy draws any text
    assert len(gemini.model_validate(body).candidates) == len(value["messages"])


def test_each_sdk_reads_a_response_of_which_little_is_known(chat, response, anthropic, gemini):
    for api, model in zip(CODECS, (chat, response, anthropic, gemini), strict=True):
        assert model.model_validate(CODECS[api].encode_response(BARE)[0])
