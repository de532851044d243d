"""HTTP/1.1 on a listening socket that somebody else made: requests in, replies out, nothing known of what they mean.

A connection has a thread of its own and is kept open, as SDKs expect; whole answers are sent in one piece, streams as chunks.
Only requests whose path begins with the token are served: others on this machine's loopback get 404 and nothing else.
"""

from __future__ import annotations

import contextlib
import gzip
import hmac
import io
import socket
import socketserver
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from otelreplay.stubs.reply import Reply

LARGEST: Final = 64 << 20
"""Bytes of one request body, also after decompression."""
_IDLE: Final = 600.0
"""Seconds that a connection may wait for its next request."""
_CHUNK_LINE: Final = 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, read whole."""

    method: str
    path: str
    """Without the token, with the query; begins with a slash."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = field(repr=False)


Answer = Callable[[Request], Reply]


class _Refused(Exception):  # noqa: N818 - the status of a request that is not read
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Server:
    """Serves from :meth:`start` to :meth:`stop`, in threads of its own."""

    def __init__(self, listener: socket.socket, answer: Answer, *, token: str) -> None:
        self._http = _Http(listener, answer, f"/{token}")
        self._ended = False
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def start(self) -> None:
        """Begin to accept."""
        self._thread.start()

    def stop(self) -> int:
        """End, and give the number of connections that were made, those that nobody accepted any more included.

        Twice is as good as once.
        """
        if self._ended:
            return self._http.accepted
        self._ended = True
        self._http.shutdown()
        self._thread.join()
        self._http.socket.setblocking(False)
        with contextlib.suppress(OSError):
            while True:
                self._http.socket.accept()[0].close()
                self._http.accepted += 1
        self._http.close_all()
        return self._http.accepted


class _Http(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, answer: Answer, root: str) -> None:
        super().__init__(listener.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.answer, self.root, self.accepted = listener, answer, root, 0
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def get_request(self) -> tuple[socket.socket, Any]:
        made = self.socket.accept()
        self.accepted += 1
        with self._lock:
            self._open.add(made[0])
        return made

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        """End the connections that are still open."""
        self.server_close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is none of our business."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "otelreplay", ""
    disable_nagle_algorithm = True
    timeout = _IDLE
    server: _Http

    def log_message(self, *_: Any) -> None:
        """Nothing is logged: paths hold the token."""

    def _serve(self) -> None:
        root = self.server.root
        begun, rest = self.path[: len(root)], self.path[len(root) :]
        try:
            if not hmac.compare_digest(begun.encode("utf-8", "replace"), root.encode()) or rest[:1] not in ("/", "?", ""):
                raise _Refused(404)
            body = self._body()
        except _Refused as refused:
            self.close_connection = True
            self._send(Reply(status=refused.status, headers={"content-type": "text/plain"}))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(method=self.command, path=rest if rest[:1] == "/" else f"/{rest}", headers=headers, body=body)
        self._send(self.server.answer(request))

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_OPTIONS = _serve  # noqa: N815 - names of the base class

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            data = self._chunked()
        else:
            length = self.headers.get("content-length", "0").strip()
            if not length.isdecimal():
                raise _Refused(400)
            if int(length) > LARGEST:
                raise _Refused(413)
            data = self.rfile.read(int(length))
            if len(data) != int(length):
                raise _Refused(400)
        return _unpacked(data, self.headers.get("content-encoding", "").strip().lower())

    def _chunked(self) -> bytes:
        out = io.BytesIO()
        while True:
            try:
                size = int(self.rfile.readline(_CHUNK_LINE).split(b";")[0], 16)
            except ValueError:
                raise _Refused(400) from None
            if size < 0 or out.tell() + size > LARGEST:
                raise _Refused(413)
            if not size:
                break
            out.write(self.rfile.read(size))
            self.rfile.readline(3)
        while self.rfile.readline(_CHUNK_LINE).strip():  # trailers
            pass
        return out.getvalue()

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.chunks is None:
            self.send_header("content-length", str(len(reply.body)))
            self._begin(b"" if self.command == "HEAD" else reply.body)
            return
        self.send_header("transfer-encoding", "chunked")
        self._begin(b"")
        for chunk in reply.chunks:
            if chunk:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def _begin(self, body: bytes) -> None:
        """The head and what is known of the body, in one packet."""
        if self.close_connection:
            self.send_header("connection", "close")
        head = [*getattr(self, "_headers_buffer", []), b"\r\n", body]
        self._headers_buffer: list[bytes] = []
        self.wfile.write(b"".join(head))


def _unpacked(data: bytes, encoding: str) -> bytes:
    """The body without its compression, up to the limit."""
    if encoding in ("", "identity"):
        return data
    try:
        if encoding == "gzip":
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                out = file.read(LARGEST + 1)
        elif encoding == "deflate":
            out = zlib.decompressobj().decompress(data, LARGEST + 1)
        else:
            raise _Refused(415)
    except (OSError, EOFError, zlib.error):
        raise _Refused(400) from None
    if len(out) > LARGEST:
        raise _Refused(413)
    return out
