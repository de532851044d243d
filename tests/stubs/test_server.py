"""HTTP as clients speak it: kept connections, chunks both ways, limits, and nobody served without the token."""

import gzip
import http.client
import socket
import threading

import pytest

from otelreplay.stubs import server as module
from otelreplay.stubs.reply import Reply
from otelreplay.stubs.server import Server


class Served:
    """A server that remembers what it was asked, and says what it is told to."""

    def __init__(self):
        self.asked, self.reply = [], Reply(body=b"ok", headers={"content-type": "text/plain"})
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self.server = Server(listener, self.answer, token="T")
        self.server.start()

    def answer(self, request):
        self.asked.append(request)
        return self.reply

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def raw(self, data):
        """Everything that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            got = b""
            while piece := client.recv(1 << 16):
                got += piece
        return got


@pytest.fixture
def served():
    held = Served()
    yield held
    held.server.stop()


def test_a_connection_serves_many_requests(served):
    client = served.connect()
    for n in range(3):
        client.request("POST", f"/T/v1/x?n={n}", body=b"b" * n, headers={"X-Y": "1"})
        answer = client.getresponse()
        assert (200, b"ok") == (answer.status, answer.read())
    client.close()
    assert [("POST", f"/v1/x?n={n}", b"b" * n, "1") for n in range(3)] == [
        (r.method, r.path, r.body, r.headers["x-y"]) for r in served.asked
    ]
    assert 1 == served.server.stop()


@pytest.mark.parametrize("path", ["/", "/v1/x", "/T2/v1/x", "/t/v1/x", "/Tv1"])
def test_nobody_is_served_without_the_token(served, path):
    client = served.connect()
    client.request("POST", path, body=b"x")
    answer = client.getresponse()
    assert (404, b"") == (answer.status, answer.read())
    client.close()
    assert [] == served.asked


def test_a_stream_comes_in_its_chunks(served):
    served.reply = Reply(chunks=(b"data: 1\n\n", b"", b"data: 2\n\n"), headers={"content-type": "text/event-stream"})
    said = served.raw(b"POST /T/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n" == body
    assert b"transfer-encoding: chunked" in head.lower()
    assert b"content-length" not in head.lower()


def test_chunked_and_compressed_bodies_are_read(served):
    client = served.connect()
    client.request("POST", "/T/x", body=iter([b"ab", b"c"]), encode_chunked=True, headers={"transfer-encoding": "chunked"})
    client.getresponse().read()
    client.request("POST", "/T/x", body=gzip.compress(b"packed"), headers={"content-encoding": "gzip"})
    client.getresponse().read()
    client.close()
    assert [b"abc", b"packed"] == [r.body for r in served.asked]


@pytest.mark.parametrize(
    ("head", "body", "status"),
    [
        ("content-length: 11", b"x" * 11, 413),
        ("content-length: -1", b"", 400),
        ("content-length: 5", b"xx", 400),
        ("transfer-encoding: chunked", b"zz\r\n", 400),
        ("transfer-encoding: chunked", b"-1\r\n", 413),
        ("transfer-encoding: chunked", b"b\r\n" + b"x" * 11 + b"\r\n0\r\n\r\n", 413),
        ("content-encoding: br\r\ncontent-length: 1", b"x", 415),
        ("content-encoding: gzip\r\ncontent-length: 1", b"x", 400),
        ("content-encoding: gzip\r\ncontent-length: SIZE", gzip.compress(b"x" * 1000, mtime=0), 413),
    ],
)
def test_bodies_that_are_too_large_or_broken_are_refused_before_they_are_held(served, monkeypatch, head, body, status):
    monkeypatch.setattr(module, "LARGEST", 1000 if "SIZE" in head else 10)
    if "SIZE" in head:
        body = gzip.compress(b"x" * 1001)
    said = served.raw(f"POST /T/x HTTP/1.1\r\nhost: x\r\n{head.replace('SIZE', str(len(body)))}\r\n\r\n".encode() + body)
    assert said.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"connection: close" in said.lower()
    assert [] == served.asked


def test_connections_that_nobody_accepted_are_counted_too(served):
    served.server._http.shutdown()  # nobody accepts any more
    clients = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(3)]
    try:
        assert 3 == served.server.stop()
    finally:
        for client in clients:
            client.close()


def test_many_clients_at_once_get_their_own_answers(served):
    def answer(request):
        return Reply(body=request.body)

    served.server._http.answer = answer
    wrong = []

    def ask(n):
        client = served.connect()
        for k in range(20):
            client.request("POST", "/T/x", body=f"{n}/{k}".encode())
            if client.getresponse().read() != f"{n}/{k}".encode():
                wrong.append((n, k))
        client.close()

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == wrong
