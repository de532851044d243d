"""otelreplay: record an agent as OpenTelemetry spans, keep the run as a redacted, sealed cassette, replay it offline.

Everything is imported when it is first used: ``import otelreplay`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otelreplay.instrument.configure import configure, flush
    from otelreplay.instrument.decorators import agent, model, retrieval, state, tool
    from otelreplay.instrument.moments import clock, new_id, random
    from otelreplay.instrument.threads import copy_context

__all__ = [
    "__version__",
    "agent",
    "clock",
    "configure",
    "copy_context",
    "flush",
    "model",
    "new_id",
    "random",
    "retrieval",
    "state",
    "tool",
]

__version__ = "0.1.0.dev0"

_HOMES = {
    "configure": ("configure", "flush"),
    "decorators": ("agent", "model", "retrieval", "state", "tool"),
    "moments": ("clock", "new_id", "random"),
    "threads": ("copy_context",),
}
"""Modules of ``otelreplay.instrument`` and the names that are theirs."""


def __getattr__(name: str) -> object:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'otelreplay' has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(f"otelreplay.instrument.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
