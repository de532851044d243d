"""Outboxes of instrumented programs, by the names that a user gives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from otelreplay.errors import UsageError
from otelreplay.instrument.folder import default_outbox
from otelreplay.instrument.left import Left, Sent, send_left, survey


def outbox_folder(name: str) -> Path:
    """The folder of that name; empty: ``$OTELREPLAY_OUTBOX``, else the one in the user's state folder."""
    return Path(name) if name else default_outbox(os.environ, Path.home())


def outboxes_in(folder: Path) -> list[Left]:
    """What lies in it."""
    return survey(folder)


def send_outboxes(folder: Path, *, headers: Sequence[str], seconds: float) -> list[Sent]:
    """Send what no living process will send. ``headers`` as ``NAME=VALUE``; none: those of the environment."""
    return send_left(folder, headers=_headers(headers) if headers else None, environ=os.environ, seconds=seconds)


def _headers(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for each in given:
        name, is_one, value = each.partition("=")
        if not is_one or not name.strip():
            raise UsageError(
                "this is no header", code="outbox.header", where="--header", next_step="write it as NAME=VALUE",
            )  # fmt: skip
        found[name.strip()] = value
    return found
