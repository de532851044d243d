"""What holds for every test: no network beyond loopback, and property tests without a clock of their own."""

import os
import socket

import pytest
from hypothesis import HealthCheck, settings

# A machine that judges a change tries the same examples each time, everybody else new ones; slow machines are no fault.
settings.register_profile(
    "otelreplay",
    deadline=None,
    print_blob=True,
    derandomize=os.environ.get("CI") == "true",
    suppress_health_check=[HealthCheck.too_slow],
)
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
