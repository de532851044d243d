"""One receiver a store: a lock that the kernel lets go of however its holder ends."""

from __future__ import annotations

import os
from pathlib import Path

from otelreplay.cassette import locks


class StoreLock:
    """Holds a store while it lives. ``taken`` is False when another process does."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._number: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.taken = locks.free(self._number) is not False
        if not self.taken:
            self.close()

    def close(self) -> None:
        """Let go; safe to call again."""
        if self._number is not None:
            os.close(self._number)
            self._number = None
