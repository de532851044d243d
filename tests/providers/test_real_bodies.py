"""Bodies that real SDKs and frameworks sent, and what they were answered: nothing is left over and nothing is lost."""

import json
import os
from pathlib import Path

import pytest

from otelreplay.providers import CODECS
from tests.project.house import ROOT

CAPTURES = ROOT.parent / "shared" / "corpus" / "captures"
APIS = {
    "openai.chat": "openai.chat_completions",
    "openai.responses": "openai.responses",
    "anthropic.messages": "anthropic.messages",
    "gemini.generate": "gemini.generate_content",
}


def exchanges(path: Path):
    """(codec, request body, response body) of a capture."""
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record.get("api") in APIS and record.get("response"):
            yield CODECS[APIS[record["api"]]], record["request"], record["response"]


def settled(value):
    """Without the white space of JSON inside strings, which is not kept."""
    if isinstance(value, dict):
        return {k: settled(v) for k, v in value.items()}
    if isinstance(value, list):
        return [settled(v) for v in value]
    if isinstance(value, str) and value[:1] == "{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


@pytest.fixture(scope="module")
def captures():
    found = sorted(CAPTURES.glob("*/truth.jsonl"))
    if not found and os.environ.get("CI") != "true":
        pytest.skip("needs the corpus of captures beside the checkout")
    assert found
    return found


def test_every_response_comes_back_as_it_was(captures):
    for path in captures:
        for codec, _, body in exchanges(path):
            again, assumed = codec.encode_response(codec.decode_response(body))
            assert settled(again) == settled(body)
            assert all(name.endswith((".refusal", ".logprobs")) for name in assumed)


def test_every_request_is_read_the_same_after_writing_and_understood_to_the_last_block(captures):
    for path in captures:
        for codec, body, _ in exchanges(path):
            request = codec.decode_request(body)
            assert codec.decode_request(codec.encode_request(request)) == request
            kinds = {part["type"] for message in request["messages"] for part in message["parts"]}
            assert kinds <= {"text", "tool_call", "tool_call_response", "item_reference", "reasoning"}
            assert not {"messages", "input", "contents", "system", "instructions"} & request.get("extra", {}).keys()
