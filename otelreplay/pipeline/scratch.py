"""A private folder for what does not fit into memory: hidden, readable by its owner only, gone when the process is.

Theory of operation. The folder lies in the output folder (same file system, and nothing of the data leaves it), and holds a
file ``lock`` on which its owner keeps an advisory lock for as long as it lives. The kernel lets go of the lock however the
process ends, so a folder whose lock can be taken belongs to nobody any more: the next start removes it. A folder without a
lock file is either about to get one or was left between two steps of making it; it is removed once it is old.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
import weakref
from pathlib import Path

from otelreplay.cassette.locks import free, hold

PREFIX = ".otelreplay-spool-"
_UNLOCKED_FOR = 60.0
"""Seconds after which a folder without a lock file is taken for a left-over."""


class ScratchFolder:
    """Makes a private folder in ``parent``, which is made too if it is not there. ``close`` removes it with all it holds."""

    def __init__(self, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))  # mode 0700
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        hold(lock)
        self._remove = weakref.finalize(self, _remove, str(self.path), lock, os.getpid())  # also at the interpreter's exit

    def close(self) -> None:
        """Remove the folder; safe to call again."""
        self._remove()


def remove_stale(parent: Path) -> int:
    """Remove the folders that killed processes left in ``parent``; how many there were."""
    count = 0
    with contextlib.suppress(OSError):  # no such folder, or none of ours: nothing to tidy
        for path in parent.glob(f"{PREFIX}*"):
            if _abandoned(path):
                shutil.rmtree(path, ignore_errors=True)
                count += 1
    return count


def _abandoned(path: Path) -> bool:
    """True for a folder of ours that no living process holds."""
    try:
        if path.is_symlink() or not path.is_dir() or path.stat().st_uid != os.getuid():
            return False
        lock = os.open(path / "lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return _age(path) > _UNLOCKED_FOR
    except OSError:
        return False
    try:
        return bool(free(lock))
    finally:
        os.close(lock)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _remove(path: str, lock: int, owner: int) -> None:
    os.close(lock)
    if os.getpid() == owner:  # a forked child shares the folder, but does not own it
        shutil.rmtree(path, ignore_errors=True)
