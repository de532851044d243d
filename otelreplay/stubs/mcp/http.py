"""Streamable HTTP, as a server that keeps no sessions: each POST has its whole answer as JSON.

POST     requests: 200 and their answer; notifications: 202; no JSON-RPC: 400
GET      405: this server never speaks first
DELETE   200: a client that brings a session of its own may end it
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote

from otelreplay.stubs.mcp import jsonrpc as rpc
from otelreplay.stubs.mcp.serving import HANDSHAKE, MODERN, McpServer
from otelreplay.stubs.reply import Reply
from otelreplay.stubs.server import Request

_JSON: Final = {"content-type": "application/json"}
_VERSIONS: Final = frozenset({*HANDSHAKE, *MODERN})
MOUNT: Final = "/mcp"


def handle(server: McpServer, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
    """Answer one HTTP request.

    :param path: behind the token: ``/mcp`` or ``/mcp/NAME``, with or without a query.
    :param headers: names in lower case.
    """
    name = connection_of(path)
    if name is None:
        return Reply(status=404)
    if method == "DELETE":
        return Reply(status=200)
    if method != "POST":
        return Reply(status=405, headers={"allow": "POST, DELETE"})
    version = headers.get("mcp-protocol-version", "")
    if version and version not in _VERSIONS:
        text = f"Bad Request: Unsupported protocol version (supported versions: {', '.join(sorted(_VERSIONS))})"
        return _json(400, rpc.error(None, rpc.INVALID_REQUEST, text))
    answer = server.answer(body, server=name)
    if answer is None:
        return Reply(status=202)
    broken = answer.startswith(b'{"jsonrpc":"2.0","id":null,"error"')
    return Reply(status=400 if broken else 200, headers=_JSON, body=answer)


def answering(server: McpServer) -> Callable[[Request], Reply]:
    """The server as a part of a host: behind :data:`MOUNT`."""
    return lambda request: handle(server, request.method, request.path, request.headers, request.body)


def connection_of(path: str) -> str | None:
    """The name of the connection that a path asks for; None for a path that is not one of these."""
    first, _, rest = path.partition("?")[0].strip("/").partition("/")
    return unquote(rest) if f"/{first}" == MOUNT else None


def _json(status: int, value: Mapping[str, Any]) -> Reply:
    return Reply(status=status, headers=_JSON, body=json.dumps(value).encode())
