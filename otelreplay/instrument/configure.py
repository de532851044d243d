"""``configure`` and ``flush``: the two calls that a program makes.

Imports nothing heavy: what it needs is imported by the call.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otelreplay.instrument.counts import FlushResult
    from otelreplay.instrument.recorder import Recorder
    from otelreplay.instrument.setup import Setup


@dataclass(slots=True)
class _Process:
    setup: Setup | None = None
    given: tuple[Any, ...] = ()
    recorder: Recorder | None = None
    lock: Any = field(default_factory=threading.RLock)


_process = _Process()


def configure(
    *, endpoint: str | None = None, protocol: str | None = None, durable: bool = True, policy: Any = "default",
    service_name: str | None = None, headers: Mapping[str, str] | None = None, outbox: str | Path | None = None,
    outbox_limit: int = 1 << 30, capture: bool | None = None, signals: bool = True, exit_timeout: float = 3.0,
    quiet: bool = False,
) -> Setup:  # fmt: skip
    """Record the spans of this process and send them to ``endpoint``.

    Sets up a tracer provider without limits, or joins the one that is set up already. Spans are redacted under ``policy`` in
    the background, before they are written or sent. A second call changes nothing and returns the first set-up.

    :param endpoint: of an OTLP receiver, as ``http://127.0.0.1:4317``; else ``OTEL_EXPORTER_OTLP_ENDPOINT`` and its kin.
    :param protocol: ``grpc`` or ``http/protobuf``; else by the environment, else by the port.
    :param durable: keep spans in an outbox on disk until the receiver has acknowledged them; False: in memory.
    :param policy: ``default``, ``off``, a file, a ``Policy`` or a ``Redactor``.
    :param headers: sent with every request; else ``OTEL_EXPORTER_OTLP_HEADERS``.
    :param outbox: folder of the outbox; else ``OTELREPLAY_OUTBOX``, else in the user's state folder.
    :param outbox_limit: bytes that may wait; beyond, the newest spans are lost and counted.
    :param capture: whether arguments, messages and results are recorded; else ``OTELREPLAY_CAPTURE``.
    :param signals: keep what has ended also when SIGTERM or SIGHUP ends the process, where the program does not handle them.
    :param exit_timeout: seconds that the end of the process may wait for the receiver.
    :param quiet: do not show the one line at start.
    :raises UsageError: a setting that cannot be; also PolicyError and KeyringError.
    """
    given = (endpoint, protocol, durable, policy, service_name, headers, outbox, capture)
    with _process.lock:
        if _process.setup is not None:
            if given != _process.given:
                from otelreplay.instrument import setting_up

                setting_up.say_twice()
            return _process.setup
        with _keeping_random_numbers():  # what is imported here may import plugins of others, and those draw some
            from otelreplay.instrument import setting_up

            made = setting_up.set_up(
                endpoint=endpoint, protocol=protocol, durable=durable, policy=policy, service_name=service_name,
                headers=headers, outbox=outbox, outbox_limit=outbox_limit, capture=capture, signals=signals,
                exit_timeout=exit_timeout, environ=os.environ,
            )  # fmt: skip
        _process.setup, _process.recorder, _process.given = made.setup, made.recorder, given
        setting_up.show(made.setup, quiet=quiet)
        return made.setup


@contextlib.contextmanager
def _keeping_random_numbers() -> Iterator[None]:
    """A program that has seeded ``random`` gets the numbers that it would get without us."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)


def flush(*, timeout: float = 10.0) -> FlushResult:
    """Have everything that has ended so far committed and sent; call it at the end of a run, from any thread.

    Returns as soon as that is done, an attempt to send has failed, or ``timeout`` seconds are over. Blocks: from a coroutine,
    use ``await asyncio.to_thread(otelreplay.flush)``.
    """
    recorder = _process.recorder
    if recorder is None:
        from otelreplay.instrument.counts import FlushResult

        return FlushResult(sent=0, pending=0, lost=0, open=0, durable=False)
    return recorder.flush(timeout)
