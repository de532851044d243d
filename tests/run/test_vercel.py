"""An agent for Node with the Vercel AI SDK, its model and its MCP server both answered from one cassette."""

import json
import os
import shutil
import subprocess

import pytest

AGENT = """
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as Stdio } from "@ai-sdk/mcp/mcp-stdio";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs } from "ai";
const client = await createMCPClient({ transport: new Stdio({ command: "no-such-command", args: ["orders"] }) });
const said = await generateText({
  model: createOpenAI().chat("m-1"), temperature: 0.5, system: "be brief", prompt: "Where is A1?",
  tools: await client.tools(), stopWhen: stepCountIs(3),
});
console.log(said.text);
await client.close();
"""
PACKAGES = ("ai@6.0.326", "@ai-sdk/openai@3.0.141", "@ai-sdk/mcp@1.0.102")
SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"], "additionalProperties": False}
TOOLS = [{"type": "function", "name": "find", "description": "Finds an order.", "parameters": SCHEMA}]
BLOCKS = [{"type": "text", "text": "late"}]
USER = {"role": "user", "parts": [{"type": "text", "content": "Where is A1?"}]}
CALL = {"role": "assistant", "parts": [{"type": "tool_call", "id": "call_1", "name": "find", "arguments": {"order": "A1"}}]}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": json.dumps(BLOCKS)}]}
REPLY = {"role": "assistant", "parts": [{"type": "text", "content": "A1 is late."}]}


def span(number, name, **held):
    values = [{"key": k, "value": {"doubleValue": v} if isinstance(v, float) else {"stringValue": v}} for k, v in held.items()]
    return {"traceId": "ab" * 16, "spanId": f"{number:016x}", "name": name, "startTimeUnixNano": str(number * 1000),
            "endTimeUnixNano": str(number * 1000 + 100), "attributes": values}  # fmt: skip


def chat(number, messages, reply, reason):
    held = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m-1",
        "gen_ai.request.temperature": 0.5, "gen_ai.response.model": "m-1", "gen_ai.response.id": f"r-{number}",
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "be brief"}]),
        "gen_ai.input.messages": json.dumps(messages),
        "gen_ai.output.messages": json.dumps([{**reply, "finish_reason": reason}]),
        "gen_ai.tool.definitions": json.dumps(TOOLS),
    }  # fmt: skip
    return span(number, "chat m-1", **held)


def trace():
    called = {
        "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find",
        "gen_ai.tool.call.id": "call_1", "gen_ai.tool.call.arguments": json.dumps({"order": "A1"}),
        "gen_ai.tool.call.result": json.dumps({"content": BLOCKS, "isError": False}),
    }  # fmt: skip
    spans = [
        chat(1, [USER], CALL, "tool_calls"), span(2, "tools/call find", **called), chat(3, [USER, CALL, RESULT], REPLY, "stop"),
    ]  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "some.package"}, "spans": spans}]}]}


@pytest.fixture
def program(desk):
    """The agent beside its packages, and its cassette."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        if os.environ.get("CI"):
            raise AssertionError("CI must have node and npm")
        pytest.skip("node and npm are not installed")
    desk.write("package.json", '{"private": true}')
    words = ["npm", "install", "--silent", "--no-audit", "--no-fund", *PACKAGES]
    done = subprocess.run(words, cwd=desk.folder, capture_output=True, timeout=240, check=False)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip("npm could not install the packages")
    assert done.returncode == 0
    desk.write("agent.mjs", AGENT)
    desk.write("trace.json", json.dumps(trace()))
    desk.run("convert", "trace.json", "--out", "made")
    (made,) = (desk.folder / "made").glob("*.cassette.jsonl")
    return str(made)


@pytest.mark.slow
def test_an_agent_of_the_vercel_ai_sdk_runs_again_without_model_and_server(desk, program):
    """As recorded; a changed prompt is named, and the SDK does not try again."""
    done = desk.run("run", program, "--report", "report.json", "--", "node", "agent.mjs")
    report = json.loads((desk.folder / "report.json").read_text(encoding="utf-8"))
    assert ("as_recorded", 3, 0, []) == (report["outcome"], report["served"], report["unused"], report["blocked"])
    assert done.out.strip() == "A1 is late."
    desk.write("agent.mjs", AGENT.replace("be brief", "be long"))
    done = desk.run("run", program, "--report", "report.json", "--", "node", "agent.mjs", expect=1)
    report = json.loads((desk.folder / "report.json").read_text(encoding="utf-8"))
    assert report["first_divergence"]["code"] == "replay.request_changed"
    assert report["first_divergence"]["path"].startswith("request.system")
    assert (report["served"], report["calls"], report["others"]) == (0, 1, [])
