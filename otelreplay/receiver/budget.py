"""How many bytes of requests are held at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class FullError(Exception):
    """There is no room for this now; later there may be."""


class Budget:
    """Bytes that all requests together may hold. A request finds room if it fits, or if nothing else is held."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Hold bytes; FullError if there is no room."""
        with self._lock:
            if self.held and self.held + size > self.limit:
                raise FullError
            self.held += size

    def give(self, size: int) -> None:
        """Let go of bytes that were taken."""
        with self._lock:
            self.held -= size

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Hold bytes for as long as the context lasts."""
        self.take(size)
        try:
            yield
        finally:
            self.give(size)
