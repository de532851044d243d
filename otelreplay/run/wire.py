"""A line to the host of the replay: one kept HTTP connection for each thread, JSON both ways.

Written on the bare socket: a program may have put something of its own in place of ``socket`` or ``http.client``, and each call
of a tool waits for this.
"""

from __future__ import annotations

import _socket
import json
import os
import threading
from collections.abc import Mapping
from typing import Any, Final

STUB: Final = "OTELREPLAY_RUN_STUB"
"""The variable that holds the address of the host, with its token: ``http://127.0.0.1:PORT/TOKEN``."""
_BASE: Final = os.environ.get(STUB, "")
"""As it was at the start: a program may empty its environment."""
_PATH: Final = "/otelreplay/call"


class HostGoneError(OSError):
    """The host of the replay cannot be reached."""


class _Kept(threading.local):
    process = 0
    connection: Any = None


_kept = _Kept()


def exchange(message: Mapping[str, Any]) -> dict[str, Any]:
    """Send a message and wait for the answer to it. Raises HostGoneError."""
    host, _, path = _BASE.partition("://")[2].partition("/")
    body = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    head = (
        f"POST /{path}{_PATH} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    data = head.encode("ascii") + body
    try:
        try:
            connection = _connection(host)
            connection.sendall(data)
        except OSError:  # the program has closed descriptors that were not its own: nothing was sent
            _kept.connection = None
            connection = _connection(host)
            connection.sendall(data)
        status, answer = _read(connection)
    except OSError as error:
        _kept.connection = None
        raise HostGoneError(f"the host of the replay at {host} cannot be reached: {error}") from None
    if status != 200:
        raise HostGoneError(f"the host of the replay at {host} answered {status}")
    found: dict[str, Any] = json.loads(answer)
    return found


def _connection(host: str) -> Any:
    """The connection of this thread; a fork makes its own."""
    if _kept.connection is not None and _kept.process == os.getpid():
        return _kept.connection
    name, _, port = host.rpartition(":")
    made = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    made.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    made.connect((name, int(port)))
    _kept.process, _kept.connection = os.getpid(), made
    return made


def _read(connection: Any) -> tuple[int, bytes]:
    """(status, body) of a response with a length."""
    data = b""
    while (end := data.find(b"\r\n\r\n")) < 0:
        more = connection.recv(65536)
        if not more:
            raise OSError("the connection was closed")
        data += more
    first, *lines = data[:end].decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length, body = int(headers.get("content-length", "0")), [data[end + 4 :]]
    left = length - len(body[0])
    while left > 0:
        more = connection.recv(min(left, 1 << 20))
        if not more:
            raise OSError("the connection was closed")
        body.append(more)
        left -= len(more)
    if headers.get("connection", "").lower() == "close":
        _kept.connection = None
    return int(first.split(" ")[1]), b"".join(body)
