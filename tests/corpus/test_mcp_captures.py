"""Real recordings of agents whose tools are on an MCP server: run again with the real SDKs, without model and server."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.command import Desk

CAPTURES = Path(__file__).parents[3] / "shared" / "corpus" / "captures"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not CAPTURES.is_dir() and os.environ.get("CI") != "true", reason="the captures are not beside the project"
    ),
]

AGENT = """
import asyncio, json, sys
from mcp import Client, StdioServerParameters
from openai import OpenAI

async def main(first):
    client, messages = OpenAI(), list(first.pop("messages"))
    async with Client(StdioServerParameters(command="no-such-command", args=[])) as server:
        tools = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.input_schema}}
            for t in (await server.list_tools()).tools
        ]
        while True:
            reply = client.chat.completions.create(**first, messages=messages, tools=tools).choices[0].message
            if not reply.tool_calls:
                return reply.content
            calls = [call.model_dump() for call in reply.tool_calls]
            messages.append({"role": "assistant", "content": reply.content, "tool_calls": calls})
            for call in reply.tool_calls:
                result = await server.call_tool(call.function.name, json.loads(call.function.arguments))
                text = "".join(block.text for block in result.content)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

with open(sys.argv[1]) as file:
    print(asyncio.run(main(json.load(file))))
"""


def over_mcp():
    """Captures of agents that were given the MCP SDK."""
    metas = sorted(CAPTURES.glob("*/meta.json"))
    return [m.parent for m in metas if " mcp==" in json.loads(m.read_text(encoding="utf-8")).get("packages", "")]


def test_there_are_captures_to_run_again():
    """Else the test below says nothing."""
    assert over_mcp()


@pytest.mark.parametrize("capture", over_mcp(), ids=lambda folder: folder.name)
def test_the_agent_comes_to_its_recorded_answer(capture, tmp_path):
    """Every call of model and tool is served, under the default policy; a changed argument of a tool is named."""
    desk = Desk(tmp_path)
    truth = [json.loads(line) for line in (capture / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    models = [entry for entry in truth if entry["boundary"] == "model"]
    first = {name: value for name, value in models[0]["request"].items() if name != "tools"}
    desk.write("first.json", json.dumps(first))
    desk.write("agent.py", AGENT)
    quiet = f"import sys\nsys.excepthook = lambda *_: None\n{AGENT}"
    desk.write("other.py", quiet.replace("json.loads(call.function.arguments))", '{"order_id": "another"})'))
    desk.run("convert", capture / "otlp.jsonl", "--one-run", "--out", "made")
    (cassette,) = (tmp_path / "made").glob("*.cassette.jsonl")
    done = desk.run("run", cassette, "--report", "report.json", "--", sys.executable, "agent.py", "first.json")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert ("as_recorded", len(truth), 0, []) == (report["outcome"], report["served"], report["unused"], report["blocked"])
    assert models[-1]["response"]["choices"][0]["message"]["content"] == done.out.strip()
    desk.run("run", cassette, "--report", "report.json", "--", sys.executable, "other.py", "first.json", expect=1)
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["first_divergence"]
    assert ("replay.request_changed", "tool") == (found["code"], found["boundary"])
    assert found["path"].startswith("request.arguments.")
