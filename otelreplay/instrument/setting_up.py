"""The work of ``configure``: settings → provider, recorder, outbox, exits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opentelemetry import trace

from otelreplay import boundary
from otelreplay.instrument import capture as capturing
from otelreplay.instrument.counts import Counts
from otelreplay.instrument.destination import Destination, resolve_destination
from otelreplay.instrument.exits import Exits
from otelreplay.instrument.folder import adopt, default_outbox, folder_for
from otelreplay.instrument.notice import tell, warn
from otelreplay.instrument.outbox import Outbox
from otelreplay.instrument.policy import redactor_for
from otelreplay.instrument.providers import cautions_about, existing_provider, others
from otelreplay.instrument.recorder import Recorder
from otelreplay.instrument.sdk import make_provider
from otelreplay.instrument.sender import Sender
from otelreplay.instrument.setup import Setup
from otelreplay.instrument.store import MemoryStore, Store
from otelreplay.instrument.transports import transport_for
from otelreplay.redaction import Redactor

_IN_MEMORY = 256 << 20


@dataclass(frozen=True, slots=True)
class Made:
    """The set-up, and the recorder if there is one."""

    setup: Setup
    recorder: Recorder | None = None


def set_up(
    *, endpoint: str | None, protocol: str | None, durable: bool, policy: Any, service_name: str | None,
    headers: Mapping[str, str] | None, outbox: str | Path | None, outbox_limit: int, capture: bool | None, signals: bool,
    exit_timeout: float, environ: Mapping[str, str],
) -> Made:  # fmt: skip
    """Everything, once a process. Raises before it has changed anything."""
    captured = capturing.resolve_capture(capture, environ)
    to = resolve_destination(endpoint, protocol, headers, environ)
    if boundary.interceptor() is not None:
        return Made(Setup(active=False, why="this is a replay"))
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Made(Setup(active=False, why="OTEL_SDK_DISABLED is set"))
    redactor = redactor_for(policy)
    base = Path(outbox) if outbox is not None else default_outbox(environ, Path.home())
    folder = folder_for(base, to) if durable else None
    existing = existing_provider()
    recorder = _recorder(to, redactor, folder, outbox_limit)
    provider = existing or make_provider(service_name)
    provider.add_span_processor(recorder)
    if existing is None:
        trace.set_tracer_provider(provider)
    capturing.set_capture(captured)
    Exits(recorder, timeout=exit_timeout, url=to.url).install(signals=signals)
    recorder.begin()
    cautions = (cautions_about(existing) if existing is not None else ()) + others(environ)
    setup = Setup(
        active=True, url=to.url, protocol=to.protocol, durable=durable, outbox=folder, capture=captured.on,
        capture_decided_by=captured.decided_by, policy=redactor.policy.name, own_provider=existing is None, cautions=cautions,
    )  # fmt: skip
    return Made(setup, recorder)


def _recorder(to: Destination, redactor: Redactor, folder: Path | None, limit: int) -> Recorder:
    transport = transport_for(to)

    def make_store() -> Store:
        return MemoryStore(min(limit, _IN_MEMORY)) if folder is None else Outbox(folder, largest=limit)

    def make_sender(counts: Counts) -> Sender:
        return Sender(
            transport=transport, timeout=to.timeout, counts=counts, url=to.url, durable=folder is not None,
            adopt=(lambda: adopt(folder)) if folder is not None else tuple,
            hold=lambda: boundary.interceptor() is not None, redact_text=redactor.text,
        )  # fmt: skip

    return Recorder(redact=redactor.span, make_store=make_store, make_sender=make_sender, durable=folder is not None)


def show(setup: Setup, *, quiet: bool) -> None:
    """The one line at start, and the cautions."""
    if not quiet:
        tell(setup.sentence())
    for caution in setup.cautions:
        warn(f"{caution.text} [{caution.code}]")


def say_twice() -> None:
    """The second call asks for something else than the first."""
    warn("configure was called again with other settings; the first ones stay [configure.twice]")
