"""What the recorder tells the person who runs the program. Never payload, never often."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress

logger = logging.getLogger("otelreplay")


def tell(sentence: str) -> None:
    """One line that is always seen: by the log where it is set up for it, else on stderr."""
    if logger.isEnabledFor(logging.INFO) and logger.hasHandlers():
        logger.info(sentence)
    else:
        with suppress(OSError, ValueError, AttributeError):  # stderr closed or None
            print(f"otelreplay: {sentence}", file=sys.stderr, flush=True)


def warn(sentence: str) -> None:
    """Something is lost or late."""
    with suppress(Exception):  # a handler of the program that fails must not fail the program here
        logger.warning("otelreplay: %s", sentence)
