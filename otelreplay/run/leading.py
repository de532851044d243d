"""Leads requests to a model to the replay where a program has its provider's address in the code.

The variables of :mod:`otelreplay.run.providers` lead the SDKs that read them. A program that names an address itself (of a
gateway, a server of its own, a provider that imitates OpenAI) reads none. So the HTTP clients that SDKs are built on are
wrapped the moment their module is loaded, at the last step before the network:

    httpx     HTTPTransport, AsyncHTTPTransport
    requests  HTTPAdapter.send
    aiohttp   ClientSession._request

What is led is a POST whose path is that of a model's API, whatever the host: it cannot go live, so there is nothing else that
it could become. Everything else goes on, and meets the guard. The host is told for whom the request was meant.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from otelreplay.run.mcp_stdio import STUB
from otelreplay.stubs.routes import MEANT_FOR, is_of_a_model

WhenImported = Callable[[str, Callable[[ModuleType], None]], None]
_POOLS = ("ConnectionPool", "AsyncConnectionPool")
"""Of httpcore: those that connect to the address they are given. Any other leads to a proxy."""


def begin(when_imported: WhenImported) -> None:
    """Called once, before the program; does nothing where no answers are served."""
    stub = os.environ.get(STUB, "")
    if not stub:
        return
    for name in ("httpx", "httpx2"):
        when_imported(f"{name}._transports.default", functools.partial(_httpx, stub))
    when_imported("requests.adapters", functools.partial(_requests, stub))
    when_imported("aiohttp.client", functools.partial(_aiohttp, stub))


def led(stub: str, method: str, url: str) -> str:
    """The address of the replay in place of a model's; empty for anything else, and for what goes to the replay already."""
    at = urlsplit(url)
    if method.upper() != "POST" or at.scheme not in ("http", "https") or not is_of_a_model(at.path):
        return ""
    if url.startswith(f"{stub}/"):
        return ""
    return f"{stub}/meant{at.path}" + (f"?{at.query}" if at.query else "")


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _httpx(stub: str, module: ModuleType) -> None:
    def turned(request: Any) -> Any:
        url = str(request.url)
        other = led(stub, request.method, url)
        if not other:
            return None
        headers = [("Host", _host(other)), (MEANT_FOR, _host(url))]
        headers += [(name, value) for name, value in request.headers.multi_items() if name.lower() != "host"]
        kind = type(request)
        return kind(request.method, other, headers=headers, stream=request.stream, extensions=request.extensions)

    def transport_of(self: Any, kind: Any) -> Any:
        if type(getattr(self, "_pool", None)).__name__ in _POOLS:
            return self
        if "_otelreplay" not in vars(self):
            self._otelreplay = kind()
        return self._otelreplay

    plain, asynchronous = module.HTTPTransport.handle_request, module.AsyncHTTPTransport.handle_async_request

    @functools.wraps(plain)
    def handle_request(self: Any, request: Any) -> Any:
        other = turned(request)
        return plain(self, request) if other is None else plain(transport_of(self, module.HTTPTransport), other)

    @functools.wraps(asynchronous)
    async def handle_async_request(self: Any, request: Any) -> Any:
        other = turned(request)
        if other is None:
            return await asynchronous(self, request)
        return await asynchronous(transport_of(self, module.AsyncHTTPTransport), other)

    module.HTTPTransport.handle_request = handle_request
    module.AsyncHTTPTransport.handle_async_request = handle_async_request


def _requests(stub: str, module: ModuleType) -> None:
    original = module.HTTPAdapter.send

    @functools.wraps(original)
    def send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        other = led(stub, request.method or "", request.url or "")
        if not other:
            return original(self, request, *args, **kwargs)
        copy = request.copy()
        copy.url = other
        copy.headers[MEANT_FOR] = _host(request.url)
        copy.headers.pop("Host", None)
        found = original(self, copy, *args[:3], **{**kwargs, "proxies": None})
        found.request, found.url = request, request.url
        return found

    module.HTTPAdapter.send = send


def _aiohttp(stub: str, module: ModuleType) -> None:
    original = module.ClientSession._request

    @functools.wraps(original)
    async def _request(self: Any, method: str, str_or_url: Any, **kwargs: Any) -> Any:
        url = str(self._build_url(str_or_url))
        other = led(stub, method, url)
        if not other:
            return await original(self, method, str_or_url, **kwargs)
        headers = kwargs.pop("headers", None)
        kept = dict(headers) if headers is not None else {}
        kept[MEANT_FOR] = _host(url)
        for name in ("proxy", "proxy_auth", "ssl", "server_hostname"):
            kwargs.pop(name, None)
        return await original(self, method, type(self._build_url(str_or_url))(other, encoded=True), headers=kept, **kwargs)

    module.ClientSession._request = _request
