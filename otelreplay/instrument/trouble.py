"""What goes wrong in the recording is said once, and never reaches the program."""

from __future__ import annotations

import logging
from typing import Final

_LOG: Final = logging.getLogger("otelreplay")
_said: set[str] = set()


def say_once(key: str, message: str, *values: object) -> None:
    """A warning, the first time for this key. ``values`` must hold no payload."""
    if key not in _said:
        _said.add(key)
        _LOG.warning(message, *values)


def failed(doing: str, function: str, error: BaseException) -> None:
    """Recording failed; the program does not notice. The error's own text may be payload: only its class is named."""
    kind = type(error).__name__
    say_once(
        f"{doing}:{function}:{kind}", "otelreplay could not %s of %s (%s); the program is not affected", doing, function, kind
    )


def forget() -> None:
    """Say everything again."""
    _said.clear()
