"""Real instrumentation packages against the scripted provider, through the real receiver, compared with what crossed the wire.

A new release of a package that writes in another shape is noticed here. The versions stand in the ``test`` extra.
"""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from otelreplay.providers import CODECS
from tests.live.packages import PACKAGES
from tests.project.house import ROOT
from tests.receiver.posts import served

pytestmark = pytest.mark.slow
CHAT = CODECS["openai.chat_completions"]


def here(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def recorded(package, tmp_path):
    """The events of a run under a package, and the exchanges that truly were."""
    module = PACKAGES[package][1]
    if not here(module) and os.environ.get("CI") != "true":
        pytest.skip(f"{module} is not installed; it is in the test extra")
    truth = tmp_path / "truth.json"
    with served(tmp_path / "store", policy="off") as post:
        endpoint = f"http://127.0.0.1:{post.receiver.http.port}"
        command = [sys.executable, "-m", "tests.live.packages", package, endpoint, str(truth)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    events = [event for cassette in post.cassettes().values() for event in cassette.events]
    return events, json.loads(truth.read_text(encoding="utf-8"))


def said(messages):
    """What messages say, without what a convention adds: roles, texts, calls with arguments, results by call."""
    out = []
    for message in messages:
        for part in message["parts"]:
            kind = part["type"]
            if kind == "text" and part["content"]:
                out.append((message["role"], part["content"]))
            elif kind == "tool_call":
                out.append(("call", part["name"], json.dumps(part["arguments"], sort_keys=True)))
            elif kind == "tool_call_response":
                held = part["response"]
                out.append(("result", held if isinstance(held, str) else json.dumps(held)))
    return out


def as_value(turn):
    """Results as values: JSON text and the object behind it are one."""
    return (turn[0], json.loads(turn[1])) if turn[0] == "result" else turn


@pytest.mark.timeout(240)
@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_tells_is_what_crossed_the_wire(package, tmp_path):
    events, truth = recorded(package, tmp_path)
    models = sorted((e for e in events if e.kind == "model"), key=lambda e: int(e.start))
    assert len(models) == len(truth) == 4
    for event, exchange in zip(models, truth, strict=True):
        asked, answered = CHAT.decode_request(exchange["request"]), CHAT.decode_response(exchange["response"])
        got = [*({"role": "system", "parts": [p]} for p in event.request["system"]), *event.request["messages"]]
        want = [*({"role": "system", "parts": [p]} for p in asked.get("system", ())), *asked["messages"]]
        assert list(map(as_value, said(got))) == list(map(as_value, said(want)))
        assert said(event.response["messages"]) == said(answered["messages"])
        assert event.response["usage"]["output_tokens"] == answered["usage"]["output_tokens"]
    tools = [e for e in events if e.kind == "tool"]
    assert sorted(e.name for e in tools) == ["draft_refund", "lookup_order", "lookup_order", "track_parcel"]
    assert all(e.response is not None for e in tools)
