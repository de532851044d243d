"""The supervisor's end of the pipe on which the replayed processes report.

The other end is :func:`otelreplay.run.guard.say`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_LARGEST = 64 << 20
"""Bytes of one message; more is no message of ours."""


class Channel:
    """A named pipe in a private folder. Opened without waiting, kept open so that it never looks closed."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pipe"
        os.mkfifo(self.path, 0o600)
        self._read = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self._kept = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        self._rest = b""
        self._pieces: dict[tuple[bytes, bytes], list[bytes]] = {}

    def fileno(self) -> int:
        """Readable when there is a report."""
        return self._read

    def close(self) -> None:
        """Whoever reports from now on reports to nobody."""
        os.close(self._read)
        os.close(self._kept)

    def messages(self) -> list[dict[str, Any]]:
        """What has come in since the last time; frames of a message that is not complete wait."""
        found = []
        while True:
            try:
                data = os.read(self._read, 1 << 16)
            except BlockingIOError:
                break
            *lines, self._rest = (self._rest + data).split(b"\n")
            found += [m for m in map(self._line, lines) if m is not None]
            if not data:
                break
        return found

    def _line(self, line: bytes) -> dict[str, Any] | None:
        parts = line.split(b" ", 3)
        if len(parts) != 4:
            return None
        who = parts[0], parts[1]
        pieces = self._pieces.setdefault(who, [])
        pieces.append(parts[3])
        if parts[2] == b"1" and sum(map(len, pieces)) <= _LARGEST:
            return None
        del self._pieces[who]
        try:
            value = json.loads(b"".join(pieces))
        except ValueError:
            return None
        return value if isinstance(value, dict) else None
