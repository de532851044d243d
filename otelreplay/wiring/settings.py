"""What the environment decides, and the parts that are made from it."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from otelreplay.cassette import Retention
from otelreplay.cassette.keyring import Keyring, default_folder
from otelreplay.errors import UsageError
from otelreplay.wiring.files import opened

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def open_keyring() -> Keyring:
    """The keys of this user: in ``$OTELREPLAY_KEYS``, else in the configuration folder."""
    return Keyring(default_folder(os.environ, Path.home()))


def trust_key(name: str) -> str:
    """Trust the public key that a file holds; its id."""
    with opened(name) as stream:
        return open_keyring().trust(stream.read(4096).decode("utf-8", "replace"))


def now() -> datetime:
    """The wall clock, aware."""
    return datetime.now(UTC)


def retention(*, purpose: str = "", classification: str = "", expires: str = "") -> Retention:
    """How long cassettes are kept and what for, from what a user wrote; UsageError for a time that is none or is past."""
    return Retention(
        expires=_expiry(expires, now()) if expires else None, purpose=purpose or None, classification=classification or None
    )


def _expiry(text: str, at: datetime) -> str:
    try:
        if text[-1:] in _UNITS:
            found = at + timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
        else:
            found = datetime.fromisoformat(text)
            found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            "this is no time to expire at",
            code="retention.expires",
            where="--expires",
            next_step="write a number of hours, days or weeks as 12h, 90d or 4w, or a date as 2030-12-31",
        ) from None
    if found <= at:
        raise UsageError(
            "that time is past", code="retention.past", where="--expires", next_step="name a time that is still to come"
        )
    return found.strftime("%Y-%m-%dT%H:%M:%SZ")
