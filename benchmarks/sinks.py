"""Servers to be measured, each in a process of its own: ``python -m benchmarks.sinks NAME FOLDER``.

Prints its port, waits for a line on stdin before each measurement and after it, and prints the processor seconds in between.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
_OPTIONS = [("grpc.max_receive_message_length", 64 << 20)]


def _handlers(export: Any) -> Any:
    method = grpc.unary_unary_rpc_method_handler(export)
    return (grpc.method_handlers_generic_handler(SERVICE, {"Export": method}),)


@contextlib.contextmanager
def _threads(export: Any) -> Iterator[int]:
    server = grpc.server(ThreadPoolExecutor(8), options=_OPTIONS)
    server.add_generic_rpc_handlers(_handlers(export))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield port
    server.stop(None)


def _nothing(_body: bytes, _context: Any) -> bytes:
    return b""


def _decoded(body: bytes, _context: Any) -> bytes:
    ExportTraceServiceRequest.FromString(body)
    return b""


def sink(_: Path) -> contextlib.AbstractContextManager[int]:
    """A gRPC server with threads that does nothing with what it gets."""
    return _threads(_nothing)


def parser(_: Path) -> contextlib.AbstractContextManager[int]:
    """The same, but the message is decoded."""
    return _threads(_decoded)


@contextlib.contextmanager
def sink_asyncio(_: Path) -> Iterator[int]:
    """A gRPC server on asyncio that does nothing with what it gets."""
    ready, found = threading.Event(), []

    async def export(_body: bytes, _context: Any) -> bytes:
        return b""

    async def serve() -> None:
        server = grpc.aio.server(options=_OPTIONS)
        server.add_generic_rpc_handlers(_handlers(export))
        found.append(server.add_insecure_port("127.0.0.1:0"))
        await server.start()
        ready.set()
        await server.wait_for_termination()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    ready.wait()
    yield found[0]


@contextlib.contextmanager
def _receiver(folder: Path, way: str, policy: str) -> Iterator[int]:
    from otelreplay.receiver.sealer import SECOND, Patience
    from otelreplay.receiver.server import Settings
    from otelreplay.wiring.serving import serving

    anywhere, later = ("127.0.0.1", 0), Patience(quiet=3600 * SECOND)  # sealing is measured as conversion is
    settings = Settings(grpc=anywhere if way == "grpc" else None, http=anywhere if way == "http" else None, patience=later)
    with serving(folder, policy=policy, settings=settings, tokens={}, say=lambda _: None) as receiver:
        server = receiver.grpc or receiver.http
        assert server is not None
        yield server.port


def receiver(folder: Path) -> contextlib.AbstractContextManager[int]:
    """The receiver, over gRPC, with the default policy."""
    return _receiver(folder, "grpc", "default")


def receiver_http(folder: Path) -> contextlib.AbstractContextManager[int]:
    """The receiver, over HTTP."""
    return _receiver(folder, "http", "default")


def receiver_off(folder: Path) -> contextlib.AbstractContextManager[int]:
    """The receiver, over gRPC, with nothing to redact."""
    return _receiver(folder, "grpc", "off")


def main(arguments: list[str]) -> None:
    """Serve, and say how long the processor took."""
    kinds = {each.__name__: each for each in (sink, parser, sink_asyncio, receiver, receiver_http, receiver_off)}
    with kinds[arguments[0]](Path(arguments[1])) as port:
        print(port, flush=True)
        while sys.stdin.readline():
            began = time.process_time()
            sys.stdin.readline()
            print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
