"""A replay's session as the service of a supervised run, or by itself in the foreground."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from otelreplay.cassette import Cassette
from otelreplay.errors import UsageError
from otelreplay.replay.session import Session
from otelreplay.run import guard, mcp_clients
from otelreplay.stubs import mcp
from otelreplay.stubs.crossing import Crossing
from otelreplay.stubs.host import Host
from otelreplay.stubs.reply import Reply, json_reply
from otelreplay.stubs.server import Answer, Request, Server

CALL: Final = "/otelreplay/call"

Variables = Callable[[str], Mapping[str, str]]
"""From the base URL, what programs need to be told."""


class Hosted:
    """Implements :class:`otelreplay.run.supervisor.Service` over a session."""

    def __init__(
        self, session: Session, cassette: Cassette, *, token: str, variables: Variables, local: Collection[str] = ()
    ) -> None:
        """``token``: stands in every path, so that nobody else on the loopback is served.

        ``local``: names of the tools that the programs have without MCP.
        """
        self._session, self._token, self._variables = session, token, variables
        catalogue = mcp.catalogue_of(cassette.events, local=local)
        self._servers = json.dumps(catalogue.names())
        over_mcp = mcp.answering(mcp.McpServer(session, catalogue))
        self._host = Host(session, {CALL: _crossing(Crossing(session, cassette)), mcp.MOUNT: over_mcp})
        self._server: Server | None = None

    def variables(self, host: str, port: int) -> Mapping[str, str]:
        """Where the stub is, in the words of everybody who asks."""
        base = f"http://{host}:{port}/{self._token}"
        servers = {mcp_clients.SERVERS: self._servers, mcp_clients.PYTHON: sys.executable}
        return {guard.STUB: base, **servers, **self._variables(base)}

    def start(self, listener: socket.socket) -> None:
        """Serve from now on."""
        self._server = Server(listener, self._host.answer, token=self._token)
        self._server.start()

    def progress(self) -> Mapping[str, Any]:
        """Where the replay is."""
        return self._session.progress()

    def stop(self) -> int:
        """Serve no more."""
        return self._server.stop() if self._server is not None else 0


def _crossing(crossing: Crossing) -> Answer:
    def answer(request: Request) -> Reply:
        try:
            return json_reply(crossing.handle(json.loads(request.body)))
        except (ValueError, UsageError):
            return Reply(status=400)

    return answer
