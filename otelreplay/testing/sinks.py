"""An OTLP receiver for tests: it keeps what it is sent, and answers as it is told.

    with Sink() as sink:                                    # OTLP/gRPC; Sink("http/protobuf") for HTTP
        otelreplay.configure(endpoint=sink.url)
        ...
        assert [span.name for span in sink.spans()] == ["root"]

    sink.answers.append(Reply(status=503))                  # for the next request; afterwards all is taken again
    sink.reply = Reply(rejected=1, message="too old")       # for every request

On loopback, on a free port unless one is named. Not durable, and not a model of a receiver: see ``otelreplay.receiver``.
"""

from __future__ import annotations

import io
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from otelreplay.inputs import read_batches
from otelreplay.spans import Span

_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
_GRPC_OF = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    413: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    503: grpc.StatusCode.UNAVAILABLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """How a request is answered."""

    status: int = 200
    """An HTTP status; over gRPC the code that means the same. Only what is answered with 200 counts as taken."""
    rejected: int = 0
    message: str = ""
    delay: float = 0.0
    """Seconds before the answer."""
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was taken."""

    data: bytes
    headers: dict[str, str]

    def spans(self) -> tuple[Span, ...]:
        """The spans in it."""
        return tuple(span for batch in read_batches(io.BytesIO(self.data), name="request") for span in batch.spans)


class Sink:
    """A receiver that listens until it is closed."""

    def __init__(self, protocol: Literal["grpc", "http/protobuf"] = "grpc", *, port: int = 0) -> None:
        self.protocol = protocol
        self.taken: list[Request] = []
        self.asked = 0
        """Requests, also those that were not taken."""
        self.reply = Reply()
        self.answers: deque[Reply] = deque()
        self.refuse: Callable[[bytes], Reply | None] = lambda _: None
        """Decides for itself what is refused, by the request's bytes."""
        self._guard = threading.Lock()
        self._close, self.port = self._grpc(port) if protocol == "grpc" else self._http(port)

    @property
    def url(self) -> str:
        """For ``configure(endpoint=…)``."""
        return f"http://127.0.0.1:{self.port}"

    def spans(self) -> list[Span]:
        """All spans of all requests that were taken, in order of arrival; a span that was sent twice stands here twice."""
        return [span for request in list(self.taken) for span in request.spans()]

    def names(self) -> list[str]:
        """Names of :meth:`spans`, sorted."""
        return sorted(span.name for span in self.spans())

    def wait(self, spans: int, timeout: float = 60.0) -> list[Span]:
        """Until that many spans have arrived; what has arrived."""
        end = time.monotonic() + timeout
        while len(self.spans()) < spans and time.monotonic() < end:
            time.sleep(0.01)
        return self.spans()

    def close(self) -> None:
        """Stop listening."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def _handle(self, data: bytes, headers: dict[str, str]) -> Reply:
        with self._guard:
            self.asked += 1
            reply = self.refuse(data) or (self.answers.popleft() if self.answers else self.reply)
        time.sleep(reply.delay)
        if reply.status == 200:
            ExportTraceServiceRequest.FromString(data)
            self.taken.append(Request(data, headers))
        return reply

    def _grpc(self, port: int) -> tuple[Callable[[], None], int]:
        def export(data: bytes, context: Any) -> bytes:
            reply = self._handle(data, {key: str(value) for key, value in context.invocation_metadata()})
            if reply.status != 200:
                context.abort(_GRPC_OF.get(reply.status, grpc.StatusCode.UNKNOWN), "told to")
            return _body(reply)

        method = grpc.unary_unary_rpc_method_handler(export)
        server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", -1)])
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Export": method}),))
        bound = server.add_insecure_port(f"127.0.0.1:{port}")
        server.start()
        return lambda: server.stop(0).wait(5.0) and None, bound

    def _http(self, port: int) -> tuple[Callable[[], None], int]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["content-length"]))
                reply = sink._handle(data, {key.lower(): value for key, value in self.headers.items()})
                body = _body(reply) if reply.status == 200 else b""
                self.send_response(reply.status)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(body)))
                if reply.retry_after is not None:
                    self.send_header("retry-after", str(reply.retry_after))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Silent."""

        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()

        def close() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return close, server.server_address[1]


def _body(reply: Reply) -> bytes:
    response = ExportTraceServiceResponse()
    if reply.rejected or reply.message:
        response.partial_success.CopyFrom(ExportTracePartialSuccess(rejected_spans=reply.rejected, error_message=reply.message))
    return response.SerializeToString()
