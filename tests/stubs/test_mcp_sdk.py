"""The MCP SDK of Python against the server over a cassette: streamable HTTP and stdio, as its users open them."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from otelreplay.stubs.mcp import answering
from otelreplay.stubs.server import Server
from tests.stubs.mcp_tapes import Calls, Desk, text

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
BLOCKS = {"content": [{"type": "text", "text": "late"}], "structuredContent": {"state": "late"}, "isError": False}


def tape(version="2025-11-25"):
    calls = Calls()
    if version:
        calls.method("initialize", **{"mcp.protocol.version": version})
    calls.whole("tools/list", {}, {"tools": [{"name": "find", "inputSchema": SCHEMA, "outputSchema": {"type": "object"}},
                                             {"name": "break", "inputSchema": {"type": "object"}}]})  # fmt: skip
    calls.whole("resources/read", {"uri": "a://b"}, {"contents": [{"uri": "a://b", "text": "held"}]})
    calls.whole("prompts/get", {"name": "ask"}, {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]})
    calls.called("find", {"order": "A-1"}, BLOCKS)
    calls.called("find", {"order": "A-2"}, BLOCKS)
    calls.called("break", {}, text("broken") | {"isError": True}, error="tool_error")
    return calls


@contextmanager
def hosted(calls):
    """(the desk, the address of the stub) while it is served."""
    desk = Desk(calls)
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener, answering(desk.server), token="t0ken")
    server.start()
    try:
        yield desk, f"http://127.0.0.1:{listener.getsockname()[1]}/t0ken"
    finally:
        server.stop()


def bridge(base, *name):
    """The command that a client starts, as its configuration has it."""
    words = ["-m", "otelreplay.run.mcp_stdio", *name]
    return StdioServerParameters(command=sys.executable, args=words, env={"OTELREPLAY_RUN_STUB": base}, cwd=Path.cwd())


def opened(how, base, **more):
    return Client(bridge(base) if how == "stdio" else f"{base}/mcp/~one", **more)


WAYS = pytest.mark.parametrize("how", ["http", "stdio"])


@WAYS
@pytest.mark.parametrize(("version", "mode"), [("2025-11-25", "auto"), ("", "auto"), ("", "legacy"), ("", "2026-07-28")])
def test_the_client_lists_calls_and_reads(how, version, mode):
    """Over either transport, with a handshake and without."""

    async def talk(base):
        async with opened(how, base, mode=mode) as client:
            tools = await client.list_tools()
            found = await client.call_tool("find", {"order": "A-1"})
            read = await client.read_resource("a://b")
            prompt = await client.get_prompt("ask")
            return [tool.name for tool in tools.tools], found, read.contents[0].text, prompt.messages[0].content.text

    with hosted(tape(version)) as (desk, base):
        names, found, read, prompt = asyncio.run(talk(base))
    assert (names, read, prompt) == (["find", "break"], "held", "Hi")
    assert (found.content[0].text, found.structured_content, found.is_error) == ("late", {"state": "late"}, False)
    assert desk.session.result().served == 1


@WAYS
def test_a_divergence_is_raised_and_its_line_is_in_the_message(how):
    """So that it is seen by whoever reads the program's output, too."""

    async def talk(base):
        async with opened(how, base) as client:
            await client.call_tool("find", {"order": "A-9"})

    with hosted(tape()) as (desk, base):
        with pytest.raises((MCPError, ExceptionGroup)) as caught:
            asyncio.run(talk(base))
        assert "replay.request_changed" in str(_leaf(caught.value))
    assert desk.first() == "replay.request_changed"


@WAYS
def test_a_recorded_failure_of_a_tool_is_given_as_one(how):
    """It is no divergence."""

    async def talk(base):
        async with opened(how, base) as client:
            return await client.call_tool("break", {})

    with hosted(tape()) as (desk, base):
        said = asyncio.run(talk(base))
    assert (said.is_error, said.content[0].text) == (True, "broken")
    assert desk.session.result().served == 1


def test_the_lower_interface_of_the_sdk_is_served_too():
    """Streams and a session, as older code opens them."""

    async def talk(base):
        async with streamable_http_client(f"{base}/mcp") as streams, ClientSession(*streams[:2]) as session:
            hello = await session.initialize()
            await session.send_ping()
            first = await session.call_tool("find", {"order": "A-1"})
        async with stdio_client(bridge(base, "orders")) as streams, ClientSession(*streams[:2]) as session:
            await session.initialize()
            second = await session.call_tool("find", {"order": "A-2"})
        return hello.protocol_version, first.is_error, second.is_error

    with hosted(tape()) as (desk, base):
        assert asyncio.run(talk(base)) == ("2025-11-25", False, False)
    assert desk.session.result().served == 2


def test_several_sessions_at_once_share_one_recording():
    """Over both transports, in whatever order."""
    calls = Calls()
    for n in range(12):
        calls.called("find", {"n": n}, f"row {n}")

    async def one(how, base, numbers):
        async with opened(how, base) as client:
            said = await asyncio.gather(*(client.call_tool("find", {"n": n}) for n in numbers))
            return [result.content[0].text for result in said]

    async def all_of(base):
        return await asyncio.gather(
            one("http", base, (0, 3, 6, 9)), one("stdio", base, (1, 4, 7, 10)), one("http", base, (2, 5, 8, 11))
        )

    with hosted(calls) as (desk, base):
        said = asyncio.run(all_of(base))
    assert sorted(text for texts in said for text in texts) == sorted(f"row {n}" for n in range(12))
    assert desk.session.result().exit_code == 0


# ---- HTTP by itself


def post(base, body, *, path="/mcp", method="POST", **headers):
    place = urlsplit(base)
    connection = HTTPConnection(place.hostname, place.port)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, place.path + path, body=body, headers={"content-type": "application/json", **names})
    reply = connection.getresponse()
    found = reply.status, dict(reply.getheaders()), reply.read()
    connection.close()
    return found


PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def test_http_answers_as_the_specification_says():
    """Requests, notifications, what is no message, versions, and the methods of HTTP."""
    with hosted(tape()) as (_, base):
        status, headers, body = post(base, PING, accept="application/json, text/event-stream", mcp_session_id="any")
        assert (status, headers["content-type"], json.loads(body)["result"]) == (200, "application/json", {})
        assert post(base, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')[0] == 202
        assert post(base, b"{")[0] == 400
        assert post(base, PING, mcp_protocol_version="2025-06-18")[0] == 200
        assert post(base, PING, mcp_protocol_version="1999-01-01")[0] == 400
        status, headers, _ = post(base, None, method="GET", accept="text/event-stream")
        assert (status, headers["allow"]) == (405, "POST, DELETE")
        assert post(base, None, method="DELETE", mcp_session_id="any")[0] == 200
        assert post(base, PING, path="/mcpx")[0] == 404
        assert post(base.replace("t0ken", "other"), PING)[0] == 404


# ---- stdio by itself


def test_the_bridge_answers_line_by_line_and_ends_with_its_input():
    """Blank lines are nothing; notifications have no answer; bad lines have one."""
    lines = (
        b'\n{"jsonrpc":"2.0","method":"notifications/initialized"}\r\n'
        + PING
        + b'\r\n{\n{"jsonrpc":"2.0","id":"\xc3\xa9","method":"ping"}'
    )
    with hosted(tape()) as (_, base):
        done = _bridged(lines, {"OTELREPLAY_RUN_STUB": base})
    assert done.returncode == 0
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [entry.get("id") for entry in said] == [1, None, "\xe9"]


def test_a_bridge_without_a_replay_says_so():
    """To a request by an error; without an address at all, on stderr."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    done = _bridged(PING + b"\n", {"OTELREPLAY_RUN_STUB": f"http://127.0.0.1:{port}/t0ken"})
    assert done.returncode == 1
    assert "cannot be reached" in json.loads(done.stdout)["error"]["message"]
    done = _bridged(PING, {"OTELREPLAY_RUN_STUB": ""})
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"OTELREPLAY_RUN_STUB" in done.stderr


def test_bridges_at_once_do_not_mix_their_answers():
    """Each has its own lines."""
    with hosted(tape()) as (_, base), ThreadPoolExecutor(3) as pool:
        lines = [b"".join(b'{"jsonrpc":"2.0","id":"%d-%d","method":"ping"}\n' % (n, i) for i in range(5)) for n in range(3)]
        done = list(pool.map(lambda line: _bridged(line, {"OTELREPLAY_RUN_STUB": base}), lines))
    for n, one in enumerate(done):
        assert [json.loads(line)["id"] for line in one.stdout.splitlines()] == [f"{n}-{i}" for i in range(5)]


def _bridged(lines, environ):
    command = [sys.executable, "-m", "otelreplay.run.mcp_stdio"]
    return subprocess.run(command, input=lines, env={**os.environ, **environ}, capture_output=True, timeout=60, check=False)


def _leaf(error):
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
