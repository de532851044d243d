"""The server: messages of clients in, answers from the session out. Does no I/O.

One of these serves every connection of a run, over whatever transport: a connection is known by the name that its client was
given (:mod:`otelreplay.run.startup`), nothing else of it is remembered. Any revision of the protocol is spoken:

    2024-11-05 to 2025-11-25    ``initialize`` first; the recorded version is offered back where it is one of these
    2026-07-28                  no handshake: each request says its version in ``_meta``

A call without an answer is a JSON-RPC error, never a result with ``isError``: SDKs raise the one, and give the other to the
model as if the tool had spoken. The divergence is latched in the session before the error is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

from otelreplay import canonical
from otelreplay import semconv as sc
from otelreplay.boundary import Call
from otelreplay.dialects.decorated import ARGUMENTS
from otelreplay.events import Missing
from otelreplay.replay import Session
from otelreplay.replay.divergence import Diverged, plain
from otelreplay.stubs.mcp import jsonrpc as rpc
from otelreplay.stubs.mcp.catalogue import Catalogue, Known, Tool, key_of, plain_name
from otelreplay.stubs.mcp.content import result_of

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN: Final = ("2026-07-28",)
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_UNSUPPORTED_VERSION: Final = -32022
_LISTS: Final = {
    "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts",
}  # fmt: skip
_READS: Final = ("resources/read", "prompts/get", "completion/complete")
_QUIET: Final = ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
"""Requests whose answer is always the same and holds nothing."""
_CACHED: Final = ("server/discover", "tools/list", *_LISTS, "resources/read")
"""Requests whose answer says, since 2026-07-28, how long it may be kept."""

Params = Mapping[str, Any]


class McpServer:
    """Serves one run. Its methods may be called from several threads at once."""

    def __init__(self, session: Session, catalogue: Catalogue) -> None:
        self._session, self._catalogue = session, catalogue
        self._lock = Lock()
        self._given: dict[str, Known | None] = {}
        self._methods: dict[str, Callable[[str, Params], dict[str, Any]]] = {
            "initialize": self._initialize, "server/discover": self._discover, "tools/list": self._list_tools,
            "tools/call": self._call,
        }  # fmt: skip

    def answer(self, body: bytes, *, server: str = "") -> bytes | None:
        """The answer to a body, or to a line without its end; None where nothing is said.

        :param server: the name of the connection; empty where it has none.
        """
        messages, batch = rpc.read(body)
        said = [answer for message in messages if (answer := self._one(message, server)) is not None]
        if not said:
            return None
        return rpc.written(said if batch else said[0])

    def _one(self, message: rpc.Message, server: str) -> dict[str, Any] | None:
        if isinstance(message, rpc.Notice):
            return None
        if isinstance(message, rpc.Broken):
            return rpc.error(message.id, message.code, message.text)
        try:
            return rpc.result(message.id, self._result(message, server))
        except rpc.Refused as refused:
            return rpc.error(message.id, refused.code, refused.text, refused.data)
        except Diverged as diverged:
            code = diverged.divergence.code
            return rpc.error(message.id, rpc.NOT_RECORDED, f"otelreplay: {diverged}", {"code": code})

    def _result(self, request: rpc.Request, server: str) -> dict[str, Any]:
        modern = _version_in(request.params)
        if modern and modern not in MODERN:
            data = {"supported": [*MODERN, *HANDSHAKE], "requested": modern}
            raise rpc.Refused(_UNSUPPORTED_VERSION, "Unsupported protocol version", **data)
        result = self._answered(request.method, server, request.params)
        if modern:
            result = {"resultType": "complete", **result}
            if request.method in _CACHED:
                result = {"ttlMs": 0, "cacheScope": "private", **result}
        return result

    def _answered(self, method: str, server: str, params: Params) -> dict[str, Any]:
        known = self._methods.get(method)
        if known is not None:
            return known(server, params)
        if method in _QUIET:
            return {}
        if method in _LISTS and method in self._catalogue.lists:
            return {_LISTS[method]: [dict(member) for member in self._catalogue.lists[method]]}
        if method in _READS:
            return self._read(method, params)
        raise rpc.Refused(rpc.NO_METHOD, f"Method not found: the recording holds no answer to {plain(method[:80])}")

    def _initialize(self, server: str, params: Params) -> dict[str, Any]:
        asked, then = params.get("protocolVersion"), self._catalogue.version
        known = self._server(server)
        hello = {} if known is None else dict(known.hello)
        then = str(hello.get("protocolVersion") or then)
        version = then if then in HANDSHAKE else asked if asked in HANDSHAKE else HANDSHAKE[-1]
        if isinstance(asked, str) and asked in HANDSHAKE and HANDSHAKE.index(asked) < HANDSHAKE.index(version):
            version = asked  # a client that knows no newer one
        return {"protocolVersion": version, **self._about(server, hello)}

    def _discover(self, server: str, _params: Params) -> dict[str, Any]:
        known = self._server(server)
        hello = {} if known is None else dict(known.hello)
        if (
            str(hello.get("protocolVersion") or self._catalogue.version) in HANDSHAKE
        ):  # as the recorded server: it knew no other
            raise rpc.Refused(rpc.NO_METHOD, "Method not found: server/discover")
        return {"supportedVersions": [*MODERN, *HANDSHAKE], **self._about(server, hello)}

    def _about(self, server: str, hello: Mapping[str, Any]) -> dict[str, Any]:
        able = hello.get("capabilities")
        known = self._server(server)
        named = "" if server.startswith("~") else server
        name = (known.name if known is not None else "") or named or "otelreplay"
        info = hello.get("serverInfo")
        clean = {k: v for k, v in info.items() if v is not None} if isinstance(info, Mapping) else None
        said: dict[str, Any] = {
            "capabilities": self._capabilities(able if isinstance(able, Mapping) else {}),
            "serverInfo": clean or {"name": name, "version": "0"},
        }
        if isinstance(hello.get("instructions"), str):
            said["instructions"] = hello["instructions"]
        return said

    def _capabilities(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """What is served here; of the recorded ones, only what needs nothing of a server but answers."""
        held = {method.partition("/")[0] for method in (*self._catalogue.lists, *(m for m, _ in self._catalogue.held))}
        names = ["tools", *(name for name in ("prompts", "resources") if name in held or recorded.get(name) is not None)]
        return {name: {} for name in names}

    def _list_tools(self, server: str, _params: Params) -> dict[str, Any]:
        tools = self._tools(server)
        for tool in tools:
            for field in tool.assumed:
                reason = "left out: the recorded results have no structure" if field == "outputSchema" else "any object"
                self._session.assume(-1, f"mcp tools/list {plain(tool.name)}: {field}", reason)
        return {"tools": [dict(tool.definition) for tool in tools]}

    def _tools(self, server: str) -> list[Tool]:
        known = self._server(server)
        if known is not None:
            return [*known.tools]
        if not server:
            every = [*(tool for s in self._catalogue.servers for tool in s.tools), *self._catalogue.pool]
            return list({tool.name: tool for tool in reversed(every)}.values())[::-1]
        with self._lock:
            first = next((name for name, given in self._given.items() if given is None), server)
        return [*self._catalogue.pool] if first == server else []

    def _server(self, connection: str) -> Known | None:
        """The recorded server that a connection stands for; None where none can be told."""
        servers = self._catalogue.servers
        if not connection:
            return servers[0] if len(servers) == 1 and not self._catalogue.pool else None
        with self._lock:
            if connection not in self._given:
                self._given[connection] = self._choose(connection, servers)
            return self._given[connection]

    def _choose(self, connection: str, servers: tuple[Known, ...]) -> Known | None:
        name = plain_name(connection)
        exact = next((s for s in servers if s.name and plain_name(s.name) == name), None)
        if exact is not None:
            return exact
        taken = [given for given in self._given.values() if given is not None]
        free = next((server for server in servers if server not in taken), None)
        return free or (servers[0] if len(servers) == 1 else None)

    def _call(self, server: str, params: Params) -> dict[str, Any]:
        tool, arguments = params.get("name"), params.get("arguments")
        if not isinstance(tool, str) or not tool or not (arguments is None or isinstance(arguments, dict)):
            raise rpc.Refused(rpc.INVALID_PARAMS, "Invalid params: tools/call takes a name and an object of arguments")
        known = self._server(server)
        name = self._catalogue.operation((known.name if known is not None else "") or server, tool)
        attributes = {sc.TOOL_NAME: name, sc.TOOL_ARGUMENTS: canonical.dumps(arguments or {}).decode()}
        served = self._session.call(self._session.live_of(Call(kind="tool", name=name, attributes=attributes)))
        result, assumed = result_of(served, self._catalogue.quotes)
        for said in (*served.assumed, *assumed):
            field, _, reason = said.partition(": ")
            self._session.assume(served.seq, field, reason)
        return result

    def _read(self, method: str, params: Params) -> dict[str, Any]:
        held = self._catalogue.held.get((method, key_of(params)))
        if held is not None:
            return dict(held)
        text = canonical.dumps({name: value for name, value in params.items() if name != "_meta"}).decode()
        live = self._session.live_of(Call(kind="context", name=method, attributes={ARGUMENTS: text}))
        mark = None
        if method in self._catalogue.seen:
            mark = Missing(
                field="context", cause="content_not_captured", detail="the recorded spans hold no answers of MCP servers"
            )
        raise self._session.unanswered(live, mark)


def _version_in(params: Params) -> str:
    meta = params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, Mapping) else None
    return version if isinstance(version, str) else ""
