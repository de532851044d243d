"""The receiver as one object: what is started, in which order it ends, and what it says about itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otelreplay.receiver.access import Access
from otelreplay.receiver.assembler import Assembler, Pass
from otelreplay.receiver.budget import Budget
from otelreplay.receiver.committer import Committer
from otelreplay.receiver.counters import Counters
from otelreplay.receiver.door import LIMIT, Door
from otelreplay.receiver.grpc_server import GrpcServer, Tls
from otelreplay.receiver.http_server import HttpServer
from otelreplay.receiver.inbox import Inbox
from otelreplay.receiver.sealer import Patience, Sealer
from otelreplay.receiver.status import status
from otelreplay.redaction import Redactor

MEMORY = 256 << 20
_GRACE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where and how to serve. Addresses are (host, port); port 0 asks for a free one; None: not this protocol."""

    grpc: tuple[str, int] | None = ("127.0.0.1", 4317)
    http: tuple[str, int] | None = ("127.0.0.1", 4318)
    limit: int = LIMIT
    memory: int = MEMORY
    """Bytes that all requests together may hold."""
    patience: Patience = field(default_factory=Patience)
    tls_files: tuple[Path, Path, Path | None] | None = None
    """Certificate chain, key, and the authority of client certificates, as PEM files."""


class Receiver:
    """Serves from the moment it is made until ``close``, which seals what is pending."""

    def __init__(
        self,
        inbox: Inbox,
        assembler: Assembler,
        *,
        redactor_of: Callable[[str], Redactor],
        access: Access,
        settings: Settings,
        counters: Counters,
        clock: Callable[[], int],
        say: Callable[[str], None],
    ) -> None:
        self._inbox, self._counters, self._settings = inbox, counters, settings
        self._budget = Budget(settings.memory)
        self.grpc: GrpcServer | None = None
        self.http: HttpServer | None = None
        self._committer = Committer(inbox)
        door = Door(
            self._committer,
            redactor_of=redactor_of,
            counters=counters,
            budget=self._budget,
            limit=settings.limit,
        )
        self._sealer = Sealer(inbox, assembler, patience=settings.patience, counters=counters, clock=clock, say=say)
        try:
            if settings.grpc is not None:
                host, port = settings.grpc
                self.grpc = GrpcServer(door, access, host=host, port=port, tls=_tls(settings))
            if settings.http is not None:
                host, port = settings.http
                files = settings.tls_files
                self.http = HttpServer(door, access, host=host, port=port, report=self.status, tls_files=files)
            for server in (self.grpc, self.http):
                if server is not None:
                    server.start()
        except BaseException:
            self._end_servers()
            self._committer.close()
            raise
        self._sealer.start()

    @property
    def grpc_address(self) -> str:
        """``host:port`` where gRPC is taken; empty if it is not."""
        return f"{self._settings.grpc[0]}:{self.grpc.port}" if self.grpc and self._settings.grpc else ""

    @property
    def http_address(self) -> str:
        """``host:port`` where HTTP is taken; empty if it is not."""
        return f"{self._settings.http[0]}:{self.http.port}" if self.http and self._settings.http else ""

    def status(self) -> dict[str, Any]:
        """Counts and pending runs."""
        return status(self._inbox, self._counters.snapshot(), self._counters.recent())

    def close(self) -> Pass:
        """Take no more requests, finish those under way, and seal what is pending."""
        self._end_servers()
        self._committer.close()
        self._sealer.stop()
        return self._sealer.everything()

    def _end_servers(self) -> None:
        if self.grpc is not None:
            self.grpc.stop(_GRACE)
        if self.http is not None:
            self.http.stop()


def _tls(settings: Settings) -> Tls | None:
    if settings.tls_files is None:
        return None
    certificate, key, authority = settings.tls_files
    return Tls(certificate.read_bytes(), key.read_bytes(), authority.read_bytes() if authority else None)
