"""Params that a package wrote although nobody had sent them.

Some instrumentations write a value where the program gave none: a marker that no API takes (``-1`` tokens, an empty text), or
the API's default, which cannot be told from one that was sent. Both are left out, of the recording and of the live request
alike, so that absence and such a value are equal; any other live value there is a change: the package would have written it.

    marker      any package   "", [], {}, "NOT_GIVEN", "Infinity", a count of tokens below 0
    default     by package    the table :data:`FILLED`
    transport   any package   ``streaming``, another spelling of ``stream``

A decorated function's own params are never touched: they are what was passed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from otelreplay.events import Event

_MARKERS: Final = ("", "NOT_GIVEN", "NotGiven", "NotGiven()", "Infinity", "-Infinity", "inf", "-inf")
_COUNTS: Final = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "seed", "top_k"})
_TRANSPORT: Final = frozenset({"streaming"})
FILLED: Final[Mapping[str, Mapping[str, Any]]] = {
    "openlit": {
        "temperature": 1.0, "top_p": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0, "seed": 0, "choice.count": 1,
    },
}  # fmt: skip
"""By the first word of the package's scope: what it writes for a param that was not given."""


def filled_in(events: Collection[Event]) -> dict[str, Any]:
    """The defaults that the packages of a recording fill in for models."""
    found: dict[str, Any] = {}
    for event in events:
        if event.kind == "model":
            scope = event.attributes.get("otelreplay.scope")
            found |= FILLED.get(_package(scope) if isinstance(scope, str) else "", {})
    return found


def fills_in(scope: str) -> bool:
    """Whether the package of this scope fills defaults in."""
    return _package(scope) in FILLED


def _package(scope: str) -> str:
    return scope.replace(" ", ".").partition(".")[0]


def sent(request: Mapping[str, Any], filled: Mapping[str, Any]) -> tuple[dict[str, Any], frozenset[str]]:
    """(the request without what was not sent, the names of the params that are left out)."""
    params = request.get("params")
    if not isinstance(params, dict):
        return dict(request), frozenset()
    gone = frozenset(name for name, value in params.items() if _unsent(name, value, filled))
    if not gone:
        return dict(request), gone
    return {**request, "params": {name: value for name, value in params.items() if name not in gone}}, gone


def _unsent(name: str, value: Any, filled: Mapping[str, Any]) -> bool:
    if name in _TRANSPORT or (isinstance(value, list | tuple | dict) and not value):
        return True
    if isinstance(value, str):
        return value in _MARKERS
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name in _COUNTS and value < 0:
        return True
    return name in filled and filled[name] == value
