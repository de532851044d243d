"""The folder of outboxes: one folder a destination in it, so that what a process left behind is sent where it was meant to go.

<base>/<destination>/destination.json      protocol, URL and the names of the headers; never their values
<base>/<destination>/<pid>-<random>.outbox one a process, see ``outbox``
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from otelreplay.errors import UsageError
from otelreplay.instrument import locking
from otelreplay.instrument.destination import Destination
from otelreplay.instrument.locking import Lock
from otelreplay.instrument.notice import warn
from otelreplay.instrument.outbox import LOCK, SUFFIX, Outbox
from otelreplay.instrument.store import Row, Work

ENVIRONMENT = "OTELREPLAY_OUTBOX"
TOLD = "destination.json"


def default_outbox(environ: Mapping[str, str], home: Path) -> Path:
    """``$OTELREPLAY_OUTBOX``, else ``otelreplay/outbox`` in the user's state folder of this platform."""
    if chosen := environ.get(ENVIRONMENT):
        return Path(chosen)
    if sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        chosen = environ.get("XDG_STATE_HOME", "")
        base = Path(chosen) if chosen.startswith("/") else home / ".local" / "state"
    return base / "otelreplay" / "outbox"


def folder_for(base: Path, to: Destination) -> Path:
    """The folder of a destination, made if need be, for the user alone. Raises UsageError."""
    if not locking.AVAILABLE:
        raise UsageError(
            "outboxes need file locks that this platform does not have", code="outbox.platform",
            next_step="use durable=False, which keeps spans in memory until they are sent",
        )  # fmt: skip
    folder = base / to.key()
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for each in (base, folder):
            _check(each)
        told = folder / TOLD
        if not told.exists():
            made = folder / f".{os.getpid()}.{TOLD}"
            text = json.dumps({"protocol": to.protocol, "url": to.url, "headers": sorted(name for name, _ in to.headers)})
            with open(os.open(made, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as file:  # noqa: PTH123
                file.write(text)
            made.replace(told)
    except OSError as error:
        raise UsageError(
            f"the outbox cannot be used ({error.strerror})", code="outbox.unusable", where=str(base),
            next_step=f"make it writable for you, name another folder ({ENVIRONMENT}), or use durable=False",
        ) from None  # fmt: skip
    return folder


def _check(folder: Path) -> None:
    status = folder.stat()
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise UsageError(
            "others may read or change the outbox", code="outbox.permissions", where=str(folder),
            next_step="run chmod 700 on it, or name a folder of your own",
        )  # fmt: skip


class Adopted:
    """The outbox of a process that is gone, as a source of the sender."""

    own = False

    def __init__(self, folder: Path, lock: Lock) -> None:
        self.path, self._lock = lock.path.with_suffix(SUFFIX), lock
        self.store = Outbox(folder, largest=1 << 62, taken=lock)
        self._damaged = not self._commit(Work(end_stubs=True))

    def rows(self, after: int, limit: int) -> Sequence[Row]:
        """See :class:`otelreplay.instrument.sender.Source`."""
        if not self._damaged:
            try:
                return self.store.rows(after, limit)
            except (sqlite3.Error, OSError):
                self._damaged = True
        return ()

    def settle(self, rows: list[int], lost: dict[str, int]) -> None:
        """See :class:`otelreplay.instrument.sender.Source`."""
        self._damaged = not self._commit(Work(settled=rows, lost=lost))

    def finished(self) -> None:
        """Remove it; put it aside if it cannot be read, since what is in it may still be of use."""
        if not self._damaged:
            self.store.close()
            return
        self.store.pause()
        aside = self.path.with_suffix(".damaged")
        with contextlib.suppress(OSError):
            self.path.replace(aside)
        self._lock.release(remove=True)
        warn(f"an outbox cannot be read and was put aside as {aside}")

    def let_go(self) -> None:
        """Leave it to whoever comes next; it is removed if nothing is left in it."""
        self.store.close()

    def _commit(self, work: Work) -> bool:
        try:
            self.store.commit(work)
        except (sqlite3.Error, OSError):
            return False
        return True


def adopt(folder: Path) -> Iterator[Adopted]:
    """Take over every outbox whose process is gone. Each is held until it is finished."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        lock = Lock.take(path.with_suffix(LOCK))
        if lock is None:
            continue
        if not path.exists():
            lock.release(remove=True)
            continue
        yield Adopted(folder, lock)
