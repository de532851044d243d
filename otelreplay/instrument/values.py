"""Payload values as JSON text, with a note of each leaf that could not be said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otelreplay.canonical import Loss, dumps, dumps_reporting
from otelreplay.canonical.paths import join

Losses = list[dict[str, Any]]
"""``{"path", "class", "reason"}`` each; the path begins with the field: ``arguments.image``, ``chunks[2]``."""

LOSSES = "otelreplay.losses"


def text(value: Any, field: str, losses: Losses) -> str:
    """JSON text in the typed encoding; what is lost is added to ``losses``."""
    data, lost = dumps_reporting(value)
    if lost:
        add_losses(losses, field, lost)
    return data.decode()


def add_losses(losses: Losses, field: str, lost: Iterable[Loss]) -> None:
    """Losses inside the value of a field."""
    losses += ({"path": join(field, *loss.path), "class": loss.class_name, "reason": loss.reason} for loss in lost)


def put_losses(attributes: dict[str, Any], losses: Losses) -> None:
    """Losses as an attribute."""
    if losses:
        attributes[LOSSES] = dumps(losses).decode()


def fit(attributes: dict[str, Any], losses: Losses, limit: int) -> None:
    """Leave out texts that the provider would cut: half a JSON text cannot be read. The loss says how long each was."""
    for name, value in list(attributes.items()):
        if isinstance(value, str) and len(value) > limit:
            del attributes[name]
            losses.append(
                {"path": name, "class": "builtins:str", "reason": "attribute_limit", "size": len(value), "limit": limit}
            )
