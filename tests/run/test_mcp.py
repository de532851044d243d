"""Programs whose tools are on MCP servers: recorded with the real SDK and real servers, run again without any server."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time

import pytest

from tests.run.recorded import ENVIRON

pytestmark = pytest.mark.slow

SERVER = '''
import os, sys
from mcp.server.mcpserver import MCPServer
name, how, port = sys.argv[1:]
with open(f"started-{name}", "a") as file:
    file.write("x")
server = MCPServer(name, log_level="ERROR")
@server.tool()
def find(order: str) -> dict:
    """Finds an order."""
    return {"order": order, "of": name}
@server.tool()
def refuse(why: str) -> str:
    """Always fails."""
    raise ValueError(why)
server.run(how, **({"port": int(port)} if how != "stdio" else {}))
'''
AGENT = """
import asyncio, json, os, sys
from mcp import Client, StdioServerParameters
from opentelemetry import trace
FOLDER = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(FOLDER, "server.py")
tracer = trace.get_tracer("desk")
async def call(client, tool, **arguments):
    held = {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    held["gen_ai.tool.call.arguments"] = json.dumps(arguments)
    with tracer.start_as_current_span(f"tools/call {tool}", attributes=held) as span:
        result = await client.call_tool(tool, arguments)
        span.set_attribute("gen_ai.tool.call.result", result.model_dump_json(by_alias=True, exclude_none=True))
        if result.is_error:
            span.set_attribute("error.type", "tool_error")
    return result.content[0].text
def started(name="orders"):
    return Client(StdioServerParameters(command=sys.executable, args=[SERVER, name, "stdio", "0"], cwd=FOLDER))
def reached(port):
    return Client(f"http://127.0.0.1:{port}/mcp")
async def one(client, number):
    async with client as opened:
        names = [tool.name for tool in (await opened.list_tools()).tools]
        return [names, await call(opened, "find", order=f"A-{number}"), await call(opened, "refuse", why="no")]
async def main(how, port):
    if how == "two":
        clients = [started("orders"), started("stock")]
    else:
        clients = [started() if how == "stdio" else reached(port)]
    said = await asyncio.gather(*(one(client, n) for n, client in enumerate(clients)))
    print(json.dumps(said))
if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
"""
CAUGHT = """
async def caught(client):
    try:
        await client.call_tool("erase", {})
    except Exception:
        return None
"""
RECORD = """
import asyncio, sys
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_tracer_provider
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
set_tracer_provider(provider)
import agent
how, port = sys.argv[1:]
with provider.get_tracer("desk").start_as_current_span("desk"):
    asyncio.run(agent.main(how, port))
with open(how + ".pb", "wb") as file:
    file.write(encode_spans(spans.get_finished_spans()).SerializeToString())
"""
WAYS = ("stdio", "http", "two")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """(a folder with a cassette a way, what the program said of each then)."""
    folder = tmp_path_factory.mktemp("mcp")
    for name, text in (("server.py", SERVER), ("agent.py", AGENT), ("record.py", RECORD)):
        (folder / name).write_text(text, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {**ENVIRON, "OTELREPLAY_KEYS": str(folder / "keys")}
    serving = subprocess.Popen([sys.executable, "server.py", "web", "streamable-http", str(port)], cwd=folder, env=environ)
    try:
        _wait_for(port)
        said = {way: _recorded(folder, environ, way, port) for way in WAYS}
    finally:
        serving.terminate()
        serving.wait()
    return folder, environ, port, said


def _wait_for(port):
    for _ in range(600):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server of the recording did not start")


def _recorded(folder, environ, way, port):
    done = subprocess.run(
        [sys.executable, "record.py", way, str(port)], cwd=folder, env=environ, check=True, stdout=subprocess.PIPE, timeout=120
    )
    made = [sys.executable, "-m", "otelreplay", "convert", f"{way}.pb", "--out", way]
    subprocess.run(made, cwd=folder, env=environ, check=True, capture_output=True, timeout=120)
    (cassette,) = (folder / way).glob("*.cassette.jsonl")
    cassette.rename(folder / f"{way}.cassette.jsonl")
    return json.loads(done.stdout)


def run(recorded, way, *more, agent=AGENT, command=None, environ=None):
    """(the exit code, what the program wrote, the report, the servers that were started)."""
    folder, known, port, _ = recorded
    for file in folder.glob("started-*"):
        file.unlink()
    (folder / "again.py").write_text(agent, encoding="utf-8")
    words = command or [sys.executable, "again.py", way, str(port)]
    started = [
        sys.executable,
        "-m",
        "otelreplay",
        "run",
        f"{way}.cassette.jsonl",
        "--report",
        "report.json",
        *more,
        "--",
        *words,
    ]
    (folder / "report.json").unlink(missing_ok=True)
    done = subprocess.run(started, cwd=folder, env={**known, **(environ or {})}, capture_output=True, timeout=120, check=False)
    report = folder / "report.json"
    held = json.loads(report.read_text(encoding="utf-8")) if report.exists() else None
    return done, held, sorted(file.name for file in folder.glob("started-*"))


@pytest.mark.parametrize("way", WAYS)
def test_a_program_runs_again_without_its_servers(recorded, way):
    """What it says is what it said then; no server is started, and none is reached."""
    done, report, started = run(recorded, way)
    assert (report["outcome"], report["blocked"], report["unused"], started) == ("as_recorded", [], 0, []), done.stderr.decode()
    assert done.returncode == 0
    assert _without_lists(json.loads(done.stdout)) == _without_lists(recorded[3][way])
    assert report["served"] == 2 * len(recorded[3][way])


def test_the_program_does_start_its_server_where_nothing_leads_it_away(recorded):
    """The control: the file that a server leaves behind is there when it has run."""
    folder, environ, port, said = recorded
    for file in folder.glob("started-*"):
        file.unlink()
    done = subprocess.run(
        [sys.executable, "agent.py", "stdio", str(port)], cwd=folder, env=environ, check=True, capture_output=True, timeout=120
    )
    assert json.loads(done.stdout) == said["stdio"]
    assert [file.name for file in folder.glob("started-*")] == ["started-orders"]


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_changed_arguments_are_named(recorded, way):
    """The call, the field, and both values; the program sees the error."""
    done, report, started = run(recorded, way, agent=AGENT.replace('f"A-{number}"', '"A-7"'))
    first = report["first_divergence"]
    assert (first["code"], first["path"], first["expected"], first["received"]) == (
        "replay.request_changed", "request.arguments.order", "A-0", "A-7",
    )  # fmt: skip
    assert (done.returncode, started) == (1, [])
    assert b"replay.request_changed" in done.stderr


def test_a_tool_that_was_not_recorded_is_unexpected(recorded):
    """Also where the program catches the error and goes on."""
    agent = AGENT.replace('await call(opened, "refuse"', 'await caught(opened), await call(opened, "refuse"')
    agent = agent.replace("async def main(", f"{CAUGHT}async def main(")
    done, report, _ = run(recorded, "stdio", agent=agent)
    assert report["first_divergence"]["code"] == "replay.unexpected_call"
    assert report["first_divergence"]["received_operation"] == "erase"
    assert done.returncode == 1


def test_a_program_that_makes_no_connection_leaves_its_calls_unused(recorded):
    """Tools of MCP servers count as covered before the start; that they were called is seen at the end."""
    done, report, _ = run(recorded, "stdio", command=[sys.executable, "-c", "pass"])
    assert report["unused"] == 2
    assert done.returncode == 1


def test_tools_of_which_the_recording_does_not_say_that_they_are_on_a_server_are_named(recorded):
    """A framework's spans have no trace of MCP: without the option, nothing stands in for the tool."""
    folder, environ, _, _ = recorded
    held = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.call.result": "late",
            "gen_ai.tool.call.arguments": json.dumps({"order": "A-0"})}  # fmt: skip
    span = {
        "traceId": "cd" * 16, "spanId": "1" * 16, "name": "execute_tool find", "startTimeUnixNano": "1", "endTimeUnixNano": "2",
        "attributes": [{"key": name, "value": {"stringValue": value}} for name, value in held.items()],
    }  # fmt: skip
    (folder / "other.json").write_text(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "some.framework"}, "spans": [span]}]}]}),
        encoding="utf-8",
    )
    made = [sys.executable, "-m", "otelreplay", "convert", "other.json", "--out", "other"]
    subprocess.run(made, cwd=folder, env=environ, check=True, capture_output=True, timeout=120)
    (cassette,) = (folder / "other").glob("*.cassette.jsonl")
    cassette.rename(folder / "other.cassette.jsonl")
    agent = AGENT.replace(', await call(opened, "refuse", why="no")', "")
    command = [sys.executable, "again.py", "stdio", "0"]
    done, report, _ = run(recorded, "other", agent=agent, command=command)
    assert (done.returncode, report) == (2, None)
    assert b"find" in done.stderr
    assert b"--mcp" in done.stderr
    for name in ("find", "*"):
        done, report, started = run(recorded, "other", "--mcp", name, agent=agent, command=command)
        assert (report["outcome"], report["served"], started) == ("as_recorded", 1, []), done.stderr.decode()
        assert json.loads(done.stdout) == [[["find"], "late"]]


NODE = """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const [how, port] = process.argv.slice(2);
const transport = how === "stdio" ? new StdioClientTransport({ command: "no-such-command", args: ["orders"] })
  : new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`));
const client = new Client({ name: "desk", version: "1" });
await client.connect(transport);
const found = await client.callTool({ name: "find", arguments: { order: "A-0" } });
const refused = await client.callTool({ name: "refuse", arguments: { why: "no" } });
console.log(JSON.stringify([found.content[0].text, refused.content[0].text, refused.isError]));
await client.close();
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_program_for_node_runs_again_without_its_servers(recorded, way):
    """With the SDK for Node, over the same recording."""
    folder, _, port, said = recorded
    _node_sdk(folder)
    (folder / "agent.mjs").write_text(NODE, encoding="utf-8")
    done, report, started = run(recorded, way, command=["node", "agent.mjs", way, str(port)])
    assert (report["outcome"], report["served"], report["blocked"], started) == ("as_recorded", 2, [], []), done.stderr.decode()
    assert json.loads(done.stdout) == [*said[way][0][1:], True]


def _node_sdk(folder):
    """The SDK, installed once into a folder; a machine without it cannot say anything."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        if os.environ.get("CI"):
            raise AssertionError("CI must have node and npm")
        pytest.skip("node and npm are not installed")
    if not (folder / "node_modules").exists():
        (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "@modelcontextprotocol/sdk@1.32.2"]
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=240, check=False)
        if done.returncode and not os.environ.get("CI"):
            pytest.skip("npm could not install the SDK")
        assert done.returncode == 0


def _without_lists(said):
    """Lists of tools are rebuilt, not recorded."""
    return [answers[1:] for answers in said]
