"""Connections of HTTP: how many there may be, and how long one may take to say what it wants.

Theory of operation. The HTTP library bounds how long a connection may rest after an answer, and the application how long a body
may take. Neither bounds the time before a request is complete up to its headers, so connections that send nothing, or a byte
now and then, would be held for ever, until the process has no file left to open for anything else. So each is watched
whenever no request of its own is under way.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 20.0
"""How long a request may take from its first byte, or from the beginning of the connection, to the end of its headers."""
_ALLOWED = 512
_SHARE = 2


def connections_allowed() -> int:
    """Connections at one time: a share of the files that this process may open, which the inbox and cassettes need as well."""
    try:
        import resource
    except ImportError:  # not on this platform
        return _ALLOWED
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _ALLOWED if files in (-1, resource.RLIM_INFINITY) else max(16, files // _SHARE)


class WatchedConnection(H11Protocol):
    """One connection. ``allowed`` is set for all of them at the start."""

    allowed = _ALLOWED
    _waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take it, unless there are too many: then it is closed, and the sender tries again."""
        super().connection_made(transport)
        if len(self.connections) > self.allowed:
            transport.abort()
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Read; the watch ends when a request is under way, and does not begin anew with every byte before."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Rest, or go on with what came meanwhile."""
        super().on_response_complete()
        if self.timeout_keep_alive_task is None:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        super().connection_lost(exc)
        self._unwatch()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._unwatch()
        elif self._waits is None and not self.transport.is_closing():
            self._waits = self.loop.call_later(HEADER_SECONDS, self._late)

    def _unwatch(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _late(self) -> None:
        self._waits = None
        if (self.cycle is None or self.cycle.response_complete) and self.timeout_keep_alive_task is None:
            self.transport.abort()
