"""The instances and exceptions of a recorded event; see :mod:`otelreplay.instances`."""

from __future__ import annotations

from typing import Any

from otelreplay.events import Event, Failure
from otelreplay.instances import Instances, not_loaded

__all__ = ["Reviver", "not_loaded", "raised_by"]


class Reviver(Instances):
    """Rebuilds values, and the failures of events."""

    def error(self, event: Event, failure: Failure) -> tuple[BaseException, str]:
        """The recorded failure as an exception, and what of it is assumed."""
        return self.raised(raised_by(event, failure), kind=failure.type, message=failure.message)


def raised_by(event: Event, failure: Failure) -> dict[str, Any]:
    """What was recorded of the exception itself: ``class``, ``args`` and ``fields``, as far as they are there."""
    extra = failure.model_extra or {}
    for held in (extra, extra.get("raised"), extra.get("exception"), event.attributes.get("otelreplay.error")):
        if isinstance(held, dict) and isinstance(held.get("class"), str):
            return held
    return {}
