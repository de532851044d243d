"""Leads the MCP clients of a replayed program to the replay, without the program's knowing.

The functions of the ``mcp`` package that open a connection (and so every library that is built on it) are wrapped the moment
their module is loaded:

    stdio_client                      the command is replaced by the bridge (:mod:`otelreplay.run.mcp_stdio`); it is not run
    StreamableHTTPTransport           the address is replaced by the host's
    sse_client                        becomes a connection of streamable HTTP, to the same

A connection gets the name of the one recorded server whose name its command or address holds. Any other gets a name made from
the digest of command or address: the same for the same server, in every process of the run.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

from otelreplay.run.mcp_stdio import STUB, address

SERVERS = "OTELREPLAY_RUN_MCP"
"""Variable: JSON list of the recorded servers' names."""
PYTHON = "OTELREPLAY_RUN_PYTHON"
"""Variable: a Python that can run the bridge, for programs that are none."""
_BRIDGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mcp_stdio.py")  # noqa: PTH100, PTH118, PTH120
_NOT_HERS = ("OTELREPLAY_RUN_TOOLS", "OTELREPLAY_RUN_MAIN")


class _Settings:
    """As they were at the start: a program may empty its environment."""

    def __init__(self) -> None:
        self.stub = os.environ.get(STUB, "")
        self.environ: dict[str, str] = {}
        self.servers: list[str] = []

    def read(self) -> None:
        names = json.loads(os.environ.get(SERVERS) or "[]")
        self.stub, self.servers = os.environ.get(STUB, ""), [name for name in names if isinstance(name, str)]
        self.environ = {
            name: value
            for name, value in os.environ.items()
            if (name.startswith("OTELREPLAY_") and name not in _NOT_HERS) or name in ("PYTHONPATH", "SYSTEMROOT")
        }


_settings = _Settings()


def begin(when_imported: Callable[[str, Callable[[ModuleType], None]], None]) -> None:
    """Called once, before the program. ``when_imported`` calls back with a module when it has been loaded."""
    _settings.read()
    if _settings.stub:
        when_imported("mcp.client.stdio", _stdio)
        when_imported("mcp.client.streamable_http", _http)
        when_imported("mcp.client.sse", _sse)


def name_of(text: str, servers: list[str]) -> str:
    """The name of the connection that a command or an address opens."""
    plain = _plain(text)
    found = [name for name in servers if _plain(name) and _plain(name) in plain]
    longest = [name for name in found if not any(_plain(name) != _plain(o) and _plain(name) in _plain(o) for o in found)]
    if len(longest) == 1:
        return longest[0]
    return "~" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _stdio(module: ModuleType) -> None:
    original = module.stdio_client

    @functools.wraps(original)
    def stdio_client(server: Any, *args: Any, **kwargs: Any) -> Any:
        words = [server.command, *server.args, str(server.cwd or "")]
        changes = {
            "command": sys.executable or os.environ.get(PYTHON, "python3"),
            "args": [_BRIDGE, name_of("\0".join(words), _settings.servers)],
            "env": dict(_settings.environ),
            "cwd": None,
            "encoding": "utf-8",
        }
        return original(server.model_copy(update=changes), *args, **kwargs)

    module.stdio_client = stdio_client  # type: ignore[attr-defined]


def _http(module: ModuleType) -> None:
    transport = module.StreamableHTTPTransport
    made = transport.__init__

    @functools.wraps(made)
    def begun(self: Any, url: str, *args: Any, **kwargs: Any) -> None:
        made(self, _led(url), *args, **kwargs)

    transport.__init__ = begun
    for name in ("streamablehttp_client", "streamable_http_client"):
        if hasattr(module, name):
            setattr(module, name, _without_auth(getattr(module, name)))


def _sse(module: ModuleType) -> None:
    original = module.sse_client

    @asynccontextmanager
    @functools.wraps(original)
    async def sse_client(url: str, *_args: Any, **_kwargs: Any) -> AsyncIterator[Any]:
        from mcp.client import streamable_http

        opened = getattr(streamable_http, "streamable_http_client", None) or streamable_http.streamablehttp_client  # type: ignore[attr-defined]
        async with opened(_led(url)) as streams:
            yield streams[:2]

    module.sse_client = sse_client  # type: ignore[attr-defined]


def _led(url: str) -> str:
    """The address of the replay in place of a server's."""
    text = str(url)
    return text if text.startswith(_settings.stub) else address(_settings.stub, name_of(text, _settings.servers))


def _without_auth(original: Any) -> Any:
    """What signs in first would call an authorization server."""

    @functools.wraps(original)
    def client(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("auth") is not None:
            kwargs["auth"] = None
        given = kwargs.get("http_client")
        if given is not None:
            given.auth = None
        return original(*args, **kwargs)

    return client
