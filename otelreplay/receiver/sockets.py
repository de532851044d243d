"""Listening sockets, and the one sentence that says why there is none."""

from __future__ import annotations

import socket

from otelreplay.errors import UsageError


def listening(host: str, port: int, *, option: str) -> socket.socket:
    """A socket that listens there. ``option`` is what the user would change. Raises UsageError (``serve.address``)."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(256)
        except BaseException:
            made.close()
            raise
    except OSError as error:
        raise unusable(f"{host}:{port}", error.strerror or "unknown", option) from None
    return made


def unusable(address: str, reason: str, option: str) -> UsageError:
    """The error of an address that cannot be listened on."""
    return UsageError(
        f"cannot listen here ({reason})",
        code="serve.address",
        where=address,
        next_step=f"stop what listens there, or name another one with {option} HOST:PORT",
    )
