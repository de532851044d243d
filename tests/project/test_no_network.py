"""No test can reach the network: the guard of ``tests/conftest.py`` is in place for every one of them."""

import socket

import pytest


@pytest.mark.parametrize("address", [("192.0.2.1", 443), ("example.com", 80)])
def test_a_connection_beyond_loopback_is_refused(address):
    with socket.socket() as ours, pytest.raises(AssertionError, match="network"):
        ours.connect(address)


def test_loopback_is_open():
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())
