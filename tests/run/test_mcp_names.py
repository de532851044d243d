"""The names of connections: the same rule in Python and in the preload for Node."""

import json
import os
import shutil
import subprocess

import pytest

from otelreplay.run.mcp_clients import name_of
from otelreplay.run.supervisor import STARTUP

SERVERS = ["orders", "orders-archive", "stock", "--"]
CASES = [
    "https://mcp.example.com/orders",
    "npx\0-y\0@acme/Orders_Archive",
    "https://a/orders-and-stock",
    "python\0caf\xe9.py\0",
    "",
]


def test_a_connection_has_the_name_of_the_one_server_that_it_names():
    """The longest name counts; of two that are both there, neither; a digest where there is none."""
    found = {text: name_of(text, SERVERS) for text in CASES}
    assert [name for name in found.values() if not name.startswith("~")] == ["orders", "orders-archive"]
    assert len(set(found.values())) == len(found)
    assert name_of("", []) == "~e3b0c44298fc"


def test_a_connection_is_named_alike_in_node():
    """A program of several processes in both languages opens the same connection under one name."""
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            raise AssertionError("CI must have node")
        pytest.skip("node is not installed")
    program = f"""
    const seen = [];
    globalThis.fetch = async (url) => {{
      seen.push(decodeURIComponent(String(url).split("/mcp/")[1]));
      return new Response("");
    }};
    require({json.dumps(str(STARTUP / "mcp.cjs"))});
    const message = JSON.stringify({{jsonrpc: "2.0", id: 1, method: "ping"}});
    const headers = {{accept: "application/json, text/event-stream"}};
    (async () => {{
      for (const url of {json.dumps(CASES)}) await fetch(url, {{method: "POST", body: message, headers}});
      console.log(JSON.stringify(seen));
    }})();
    """
    environ = {**os.environ, "OTELREPLAY_RUN_STUB": "http://127.0.0.1:1/t", "OTELREPLAY_RUN_MCP": json.dumps(SERVERS)}
    environ.pop("NODE_OPTIONS", None)
    done = subprocess.run(["node", "-e", program], env=environ, check=True, capture_output=True, timeout=60)
    assert json.loads(done.stdout) == [name_of(text, SERVERS) for text in CASES]


def test_requests_that_are_no_mcp_are_left_alone_in_node():
    """A request to a model takes event streams too, and JSON-RPC of others does not."""
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            raise AssertionError("CI must have node")
        pytest.skip("node is not installed")
    program = f"""
    const seen = [];
    globalThis.fetch = async (url) => {{ seen.push(String(url)); return new Response("") }};
    require({json.dumps(str(STARTUP / "mcp.cjs"))});
    const events = {{accept: "application/json, text/event-stream"}};
    (async () => {{
      await fetch("http://a/1", {{method: "POST", body: '{{"model": "m"}}', headers: events}});
      await fetch("http://a/2", {{method: "POST", body: '{{"jsonrpc": "2.0"}}'}});
      await fetch("http://a/3", {{headers: {{accept: "text/event-stream"}}}});
      await fetch("http://a/4");
      await fetch("http://a/5", {{method: "POST", body: "[null, 1", headers: events}});
      await fetch(new Request("http://a/6"));
      console.log(JSON.stringify(seen.length));
      console.log(seen.every((url) => !url.includes("/mcp/")));
    }})();
    """
    environ = {**os.environ, "OTELREPLAY_RUN_STUB": "http://127.0.0.1:1/t"}
    environ.pop("NODE_OPTIONS", None)
    done = subprocess.run(["node", "-e", program], env=environ, check=True, capture_output=True, timeout=60)
    assert done.stdout.split() == [b"6", b"true"]
