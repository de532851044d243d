"""The HTTP application on a port, by uvicorn in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import uvicorn

from otelreplay.receiver.access import Access
from otelreplay.receiver.connections import WatchedConnection, connections_allowed
from otelreplay.receiver.door import Door
from otelreplay.receiver.http_app import App
from otelreplay.receiver.sockets import listening, unusable

THREADS = 8


class HttpServer:
    """Serves OTLP/HTTP and ``/status`` on one port. ``port`` is the real one."""

    def __init__(
        self,
        door: Door,
        access: Access,
        *,
        host: str,
        port: int,
        report: Callable[[], dict[str, Any]],
        tls_files: tuple[Path, Path, Path | None] | None = None,
    ) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="otelreplay-http")
        app: Any = App(door, access, executor=self._pool, report=report)
        self._address = f"{host}:{port}"
        self._socket = listening(host, port, option="--http")
        self.port: int = self._socket.getsockname()[1]
        certificate, key, authority = tls_files or (None, None, None)
        config = uvicorn.Config(
            app,
            http=type("Connection", (WatchedConnection,), {"allowed": connections_allowed()}),
            ws="none",
            loop="asyncio",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=10,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            ssl_ca_certs=str(authority) if authority else None,
            ssl_cert_reqs=2 if authority else 0,  # CERT_REQUIRED
        )
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # its messages may quote requests
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="otelreplay-http", daemon=True)

    def start(self) -> None:
        """Begin to serve; returns when requests are taken."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.005)
        if not self._server.started:
            raise unusable(self._address, "the HTTP server does not start", "--http")

    def stop(self) -> None:
        """Take no more requests, and end those that run."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join()
        self._socket.close()
        self._pool.shutdown(wait=True)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])
