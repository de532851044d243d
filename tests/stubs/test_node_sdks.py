"""npm's openai and the Vercel AI SDK read what the stubs send, whole and streamed, and try no refusal again."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from otelreplay.replay.fixtures import Fixture
from otelreplay.stubs.refusals import refusal
from otelreplay.stubs.replies import reply_for
from tests.stubs.answers import ARGUMENTS, BODIES
from tests.stubs.builders import Asking, served
from tests.stubs.serving import serving
from tests.stubs.test_python_sdks import recorded_of

pytestmark = pytest.mark.slow

PACKAGES = ("openai@7.59.0", "ai@7.0.173", "@ai-sdk/openai@4.0.118")


def without_node(reason):
    """No reason to pass over the test where everything must be there."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the packages and the program that uses them."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        without_node("node or npm is not on this machine")
    place = tmp_path_factory.mktemp("node")
    (place / "package.json").write_text("{}", encoding="utf-8")
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", *PACKAGES]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode:
        without_node(f"npm cannot install the packages: {done.stderr[-300:]}")
    shutil.copy(Path(__file__).with_name("read.mjs"), place)
    return place


def answer(path, body):
    """What a server answers whose recordings hold a body of each API."""
    if path.endswith("/embeddings"):
        made = served(None, kind="embeddings", fixture=Fixture(response={"result": [0.5, -1.0]}))
        return reply_for(Asking("openai.embeddings", body=body), made)
    api = "openai.responses" if path.endswith("/responses") else "openai.chat"
    response = recorded_of(api)
    one = {key: response[key][:1] for key in ("messages", "finish_reasons")}  # Vercel's SDK takes all choices for one
    return reply_for(Asking(api, stream=body.get("stream") is True, body=body), served(response | one))


@pytest.mark.timeout(400)
def test_they_read_every_form(folder):
    with serving(answer) as good, serving(refusal("openai.chat", "nothing like this was recorded", code="x")) as bad:
        done = subprocess.run(
            ["node", "read.mjs", good.url, bad.url], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        asked_in_vain = len(bad.asked)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout)
    message = BODIES["openai.chat"]["choices"][0]["message"]
    assert said["chat"]["content"] == said["chatStream"]["message"]["content"] == message["content"]
    assert said["chat"]["tool_calls"] == message["tool_calls"]
    assert said["chatStream"]["message"]["tool_calls"][0]["function"]["arguments"] == ARGUMENTS
    assert said["chatStream"]["usage"] == BODIES["openai.chat"]["usage"]
    assert said["response"] == said["responseStream"]["text"] == "Hello there, look"
    assert said["responseStream"]["types"] == ["response.created", "response.completed"]
    assert said["vector"] == [0.5, -1.0]
    calls = {"reason": "tool-calls", "streamedReason": "tool-calls"}
    chat = {"text": "Hello there", "streamed": "Hello there", "calls": ["look", "wait"], "streamedCalls": ["look", "wait"]}
    assert said["vercelChat"] == calls | chat
    for way in ("text", "streamed"):  # the refusal behind it may be read as more text
        assert said["vercelResponses"][way].startswith("Hello there, look")
    assert said["vercelResponses"]["calls"][0] == said["vercelResponses"]["streamedCalls"][0] == "look"
    assert said["refusal"] == "BadRequestError: 400 nothing like this was recorded"
    assert "nothing like this was recorded" in said["vercelRefusal"]
    assert asked_in_vain == 2
