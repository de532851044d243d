"""A small HTTP server that gives prepared replies, and keeps what it was asked."""

import json
import threading
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from otelreplay.stubs.reply import Reply


class Server(ThreadingHTTPServer):
    """Answers every request with what ``answer(path, body)`` gives."""

    daemon_threads = True

    def __init__(self, answer: Callable[[str, dict], Reply]):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.asked: list[tuple[str, dict]] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, sent))
        reply = self.server.answer(self.path, sent)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.chunks is None:
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in (*reply.chunks, b""):
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")

    def log_message(self, *args):
        pass


@contextmanager
def serving(answer):
    """A running server; ``answer``: a reply, or a function of path and body."""
    server = Server(answer if callable(answer) else lambda path, body: answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
