"""``serve``: receive spans, and seal the runs that they make."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

import typer

from otelreplay.cli.exits import command, say
from otelreplay.cli.output import print_text

_OFF = "the policy is off: nothing is redacted, and the store holds whatever is sent"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "serve")
    def serve(
        *,
        store: Path = typer.Option(..., "--store", metavar="DIR", help="Folder of the store; made if it is not there."),
        grpc: str = typer.Option("127.0.0.1:4317", "--grpc", metavar="HOST:PORT|off", help="Where to take OTLP/gRPC."),
        http: str = typer.Option("127.0.0.1:4318", "--http", metavar="HOST:PORT|off", help="Where to take OTLP/HTTP."),
        policy: str = typer.Option(
            "default", "--policy", metavar="FILE|default|off", help="What is redacted, before any write."
        ),
        quiet_period: float = typer.Option(
            5.0, "--quiet-period", min=0, metavar="SECONDS", help="A run whose root has ended is sealed after so long."
        ),
        idle_period: float = typer.Option(
            3600.0, "--idle-period", min=0, metavar="SECONDS", help="A run whose root has not ended is sealed after so long."
        ),
        retention: float = typer.Option(
            24.0, "--retention", min=0, metavar="HOURS", help="How long spans are held for late ones to join them."
        ),
        limit: int = typer.Option(64, "--limit", min=1, max=1024, metavar="MIB", help="Largest request, also when unpacked."),
        tokens: Path = typer.Option(
            None, "--tokens", metavar="FILE", envvar="OTELREPLAY_TOKENS", help="Who may send: TENANT TOKEN in each line."
        ),
        tls_cert: Path = typer.Option(None, "--tls-cert", metavar="FILE", help="Certificate chain, PEM."),
        tls_key: Path = typer.Option(None, "--tls-key", metavar="FILE", help="Its private key, PEM."),
        tls_client_ca: Path = typer.Option(None, "--tls-client-ca", metavar="FILE", help="Ask clients for its certificates."),
        allow_anyone: bool = typer.Option(
            False, "--allow-anyone", help="Listen beyond this machine with neither tokens nor TLS."
        ),
    ) -> None:
        """Receive OTLP, and seal each run into a cassette.

        Takes traces and logs over gRPC and HTTP; cassettes lie in DIR/cassettes. Prints one line when it is ready.
        SIGTERM or Ctrl-C ends it: what is pending is sealed first.
        """
        from otelreplay.report.receiving import ready_text
        from otelreplay.wiring.addresses import settings_of, tokens_in
        from otelreplay.wiring.serving import serving

        known = tokens_in(tokens) if tokens is not None else {}
        settings = settings_of(
            grpc=grpc,
            http=http,
            limit=limit << 20,
            periods=(quiet_period, idle_period, retention * 3600),
            tls=(tls_cert, tls_key, tls_client_ca),
            guarded=bool(known) or allow_anyone,
        )
        if policy == "off":
            say(_OFF)
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        with serving(store, policy=policy, settings=settings, tokens=known, say=say) as receiver:
            print_text(ready_text(store=str(store), grpc=receiver.grpc_address, http=receiver.http_address))
            sys.stdout.flush()
            stop.wait()
