"""The work of ``configure``: settings → provider, recorder, outbox, exits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opentelemetry import trace

from otelreplay import boundary
from otelreplay.instrument import capture as capturing
from otelreplay.instrument.configure import Setup
from otelreplay.instrument.counts import Counts
from otelreplay.instrument.destination import resolve_destination
from otelreplay.instrument.notice import tell, warn
from otelreplay.instrument.policy import redactor_for
from otelreplay.instrument.recorder import Recorder
from otelreplay.instrument.sdk import make_provider
from otelreplay.instrument.sender import Sender
from otelreplay.instrument.store import MemoryStore, Store
from otelreplay.instrument.transport import transport_for

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
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Made(Setup(active=False, why="OTEL_SDK_DISABLED is set"))
    if boundary.interceptor() is not None:
        return Made(Setup(active=False, why="this is a replay"))
    redactor = redactor_for(policy)
    make_store: Callable[[], Store] = lambda: MemoryStore(_IN_MEMORY)  # noqa: E731

    def make_sender(counts: Counts) -> Sender:
        return Sender(
            transport=lambda: transport_for(to), timeout=to.timeout, counts=counts, url=to.url, durable=durable,
            hold=lambda: boundary.interceptor() is not None, redact_text=redactor.text,
        )  # fmt: skip

    recorder = Recorder(redact=redactor.span, make_store=make_store, make_sender=make_sender, durable=durable)
    capturing.set_capture(captured)
    provider = make_provider(service_name)
    provider.add_span_processor(recorder)
    trace.set_tracer_provider(provider)
    return Made(
        Setup(active=True, url=to.url, protocol=to.protocol, durable=durable, capture=captured.on, policy=redactor.policy.name),
        recorder,
    )


def show(setup: Setup, *, quiet: bool) -> None:
    """The one line at start, and the cautions."""
    if not quiet:
        tell(setup.sentence())
    for caution in setup.cautions:
        warn(f"{caution.text} [{caution.code}]")


def say_twice() -> None:
    """The second call asks for something else than the first."""
    warn("configure was called again with other settings; the first ones stay [configure.twice]")
