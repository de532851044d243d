"""A lock that says whether the process that took it still lives: the kernel lets go of it when that process ends, however.

``flock`` on a file of its own. A forked child would hold its parent's locks with it; :func:`abandon_locks` is called there.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on this platform
    fcntl = None  # type: ignore[assignment]

AVAILABLE = fcntl is not None

_held: set[int] = set()


class Lock:
    """A lock that is held."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor
        _held.add(descriptor)

    @classmethod
    def take(cls, path: Path, *, make: bool = True) -> Lock | None:
        """Take it; None if another holds it, or if there is no such file and none is to be made."""
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if make else 0)
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            if make:  # the folder is gone
                raise
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            same = path.stat(follow_symlinks=False).st_ino == os.fstat(descriptor).st_ino
        except OSError:  # held, or removed by who held it
            same = False
        if not same:
            os.close(descriptor)
            return None
        return cls(path, descriptor)

    def release(self, *, remove: bool = False) -> None:
        """Let go of it; with ``remove`` the file goes first, so that nobody takes a lock on what is about to vanish."""
        if self._descriptor in _held:
            _held.discard(self._descriptor)
            if remove:
                self.path.unlink(missing_ok=True)
            os.close(self._descriptor)


def abandon_locks() -> None:
    """In a forked child: close the parent's locks here, which leaves them with the parent."""
    for descriptor in _held:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _held.clear()
