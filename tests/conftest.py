"""What holds for every test: no network beyond loopback, and property tests without a clock of their own."""

import socket

import pytest
from hypothesis import settings

settings.register_profile("otelreplay", deadline=None, print_blob=True)
settings.load_profile("otelreplay")


def _is_local(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a Unix socket's path
    return str(address[0]) in {"127.0.0.1", "::1", "localhost"}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """A connection that would leave the machine fails the test that makes it."""
    connect = socket.socket.connect

    def guarded(self, address):
        if not _is_local(address):
            raise AssertionError("a test tried to reach the network")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
