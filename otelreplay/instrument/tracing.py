"""Where spans go: the tracer of whichever provider is there. Imports nothing of OpenTelemetry until a provider is.

Theory of operation. Without a provider every decorated function must cost next to nothing, so whether there is one is asked of
``sys.modules``: nobody can have set a provider without importing the API. The tracer is asked for once for each provider. What
is *current* is set and reset around each stretch of the program's own code, never over a ``yield``; resetting in another
context than the one it was set in (a generator that is closed elsewhere) means that there is nothing to reset.
"""

from __future__ import annotations

import contextlib
import os
import sys
from contextvars import Token
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Tracer, TracerProvider

SCOPE: Final = "otelreplay"
_API: Final = "opentelemetry.trace"

if os.environ.get("OTEL_PYTHON_TRACER_PROVIDER"):
    import opentelemetry.trace  # noqa: F401 - the provider that this variable names is made when it is first asked for


class _Tracing:
    """The tracer in use, and what it was made from."""

    __slots__ = ("limit", "own", "provider", "tracer")

    def __init__(self) -> None:
        self.own: TracerProvider | None = None
        """A provider that is used whatever the global one is."""
        self.provider: object = None
        self.tracer: Tracer | None = None
        self.limit: int | None = None
        """Longest text that an attribute can hold; None: no limit."""


_tracing: Final = _Tracing()


def use(provider: TracerProvider | None) -> None:
    """Send decorated calls to this provider instead of the global one; None takes that back."""
    _tracing.own = provider


def tracer() -> Tracer | None:
    """The tracer to record with; None where there is no provider."""
    provider: Any = _tracing.own
    if provider is None:
        api: Any = sys.modules.get(_API)
        found = getattr(api, "get_tracer_provider", None)  # absent while another thread imports it
        if found is None:
            return None
        provider = found()
    if provider is not _tracing.provider:
        _resolve(provider)
    return _tracing.tracer


def limit() -> int | None:
    """Longest text that an attribute of the current tracer can hold."""
    return _tracing.limit


def _resolve(provider: Any) -> None:
    from opentelemetry import trace

    from otelreplay import __version__

    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        _tracing.tracer = None
    else:
        _tracing.tracer = provider.get_tracer(SCOPE, __version__)
        limits = getattr(_tracing.tracer, "_span_limits", None)
        _tracing.limit = getattr(limits, "max_span_attribute_length", None)
    _tracing.provider = provider


def current() -> Any:
    """OpenTelemetry's context of the running code, a mapping; None where nobody uses OpenTelemetry."""
    api: Any = sys.modules.get("opentelemetry.context")
    return None if api is None else api.get_current()


def attach(context: Context) -> Token[Context]:
    """Make it current."""
    from opentelemetry import context as api

    return api.attach(context)


def detach(token: Token[Context]) -> None:
    """Undo :func:`attach`. In another context there is nothing to undo, which is no error and is not logged."""
    from opentelemetry import context as api

    with contextlib.suppress(ValueError):
        api._RUNTIME_CONTEXT.detach(token)
