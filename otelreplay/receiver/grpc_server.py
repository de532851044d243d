"""OTLP over gRPC.

Theory of operation. Threads, not asyncio: a message is taken from the connection only when a thread is free for it, so that
memory is bounded by the number of threads, and what waits for one waits in the sender. (The library's own limit of concurrent
calls would answer RESOURCE_EXHAUSTED, after which OTLP forbids to send again.) Messages are handed on as bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import grpc

from otelreplay.inputs.signals import Signal
from otelreplay.receiver.access import Access
from otelreplay.receiver.answers import GRPC_CODES, status, success
from otelreplay.receiver.door import Door, RefusedError, Request
from otelreplay.receiver.inflate import encoding_of_message
from otelreplay.receiver.sockets import listening, unusable

THREADS = 8
SERVICES: dict[str, Signal] = {
    "opentelemetry.proto.collector.trace.v1.TraceService": "traces",
    "opentelemetry.proto.collector.logs.v1.LogsService": "logs",
    "opentelemetry.proto.collector.metrics.v1.MetricsService": "metrics",
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_FRAMING = 1024
"""Bytes beyond the limit that the library lets through, so that it is we who refuse and say both sizes."""


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM texts: certificate chain, private key, and the authority of client certificates where those are asked for."""

    certificate: bytes
    key: bytes
    client_authority: bytes | None = None


class GrpcServer:
    """Serves the three services on one port. ``port`` is the real one after the start."""

    def __init__(self, door: Door, access: Access, *, host: str, port: int, tls: Tls | None = None) -> None:
        options = [
            ("grpc.max_receive_message_length", door.limit + _FRAMING),
            ("grpc.per_message_decompression", 0),  # by us, within the limit
            ("grpc.so_reuseport", 0),  # a second server on this port shall fail, not share it
            ("grpc.max_concurrent_streams", 4 * THREADS),
            ("grpc.max_metadata_size", 16 << 10),
            ("grpc.server_handshake_timeout_ms", 20_000),
        ]
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="otelreplay-grpc")
        self._server = grpc.server(self._pool, options=options)
        for name, signal in SERVICES.items():
            method = grpc.unary_unary_rpc_method_handler(_export(door, access, signal))
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, {"Export": method}),))
        listening(host, port, option="--grpc").close()  # the library would say why not in a log line of its own
        self.port = self._listen(f"{host}:{port}", tls)

    def _listen(self, address: str, tls: Tls | None) -> int:
        try:
            if tls is None:
                found: int = self._server.add_insecure_port(address)
            else:
                credentials = grpc.ssl_server_credentials(
                    [(tls.key, tls.certificate)],
                    root_certificates=tls.client_authority,
                    require_client_auth=tls.client_authority is not None,
                )
                found = self._server.add_secure_port(address, credentials)
        except (RuntimeError, ValueError):
            found = 0
        if not found:
            raise unusable(address, "gRPC refuses it", "--grpc")
        return found

    def start(self) -> None:
        """Begin to serve."""
        self._server.start()

    def stop(self, grace: float) -> None:
        """Take no more requests, and end those that run within so many seconds."""
        self._server.stop(grace).wait()
        self._pool.shutdown(wait=True)


def _export(door: Door, access: Access, signal: Signal) -> Callable[[bytes, Any], bytes]:
    def export(body: bytes, context: Any) -> bytes:
        try:
            tenant = access.tenant(_authorization(context))
            if tenant is None:
                raise RefusedError("unauthenticated", "a bearer token of this receiver is required")
            request = Request(signal=signal, form="protobuf", encoding=encoding_of_message(body), body=body, tenant=tenant)
            return success(door.take(request), signal, "protobuf")
        except RefusedError as refused:
            context.set_trailing_metadata((("grpc-status-details-bin", status(refused).SerializeToString()),))
            context.abort(_CODES[GRPC_CODES[refused.kind]], refused.message)
        raise AssertionError("abort raises")

    return export


def _authorization(context: Any) -> str:
    for key, value in context.invocation_metadata():
        if key == "authorization":
            return value if isinstance(value, str) else value.decode("ascii", "replace")
    return ""
