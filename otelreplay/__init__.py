"""otelreplay: record an agent as OpenTelemetry spans, keep the run as a redacted, sealed cassette, replay it offline.

Everything is imported when it is first used: ``import otelreplay`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otelreplay.instrument.configure import configure, flush
    from otelreplay.instrument.decorators import agent, model, retrieval, state, tool

__all__ = ["__version__", "agent", "configure", "flush", "model", "retrieval", "state", "tool"]

__version__ = "0.1.0.dev0"

_HOMES = {
    "agent": "decorators",
    "configure": "configure",
    "flush": "configure",
    "model": "decorators",
    "retrieval": "decorators",
    "state": "decorators",
    "tool": "decorators",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'otelreplay' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"otelreplay.instrument.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
