"""What lies in outboxes, for the person who asks; and sending what no living process will send."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from otelreplay.instrument.counts import Counts
from otelreplay.instrument.destination import PROTOCOLS, Destination, resolve_destination
from otelreplay.instrument.folder import TOLD, adopt
from otelreplay.instrument.locking import Lock
from otelreplay.instrument.outbox import LOCK, SUFFIX, size_of
from otelreplay.instrument.sender import Sender
from otelreplay.instrument.transports import transport_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """One outbox."""

    file: Path
    url: str
    protocol: str
    headers: tuple[str, ...]
    """Names of the headers that go with it."""
    living: bool
    """Its process lives, and sends from it itself."""
    spans: int
    """Spans that wait."""
    open: int
    """Spans that began and have not ended."""
    size: int
    """Bytes of the file."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Spans given up, by reason."""
    damaged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What came of sending to one destination."""

    url: str
    sent: int = 0
    lost: Mapping[str, int] = field(default_factory=dict)
    pending: int = 0
    """Spans of processes that are gone which still wait."""
    error: str = ""
    """Why they wait: what the last attempt failed of, or ``headers`` where those that belong to it are not known here."""


def survey(base: Path) -> list[Left]:
    """Every outbox in the folder, by destination and file. Changes nothing."""
    return [_look(path, told) for folder, told in _destinations(base) for path in sorted(folder.glob(f"*{SUFFIX}"))]


def send_left(base: Path, *, headers: Mapping[str, str] | None, environ: Mapping[str, str], seconds: float) -> list[Sent]:
    """Send what processes that are gone have left, to where it was meant to go. At most ``seconds`` for each destination."""
    found = []
    for folder, told in _destinations(base):
        if not any(not left.living for left in (_look(path, told) for path in folder.glob(f"*{SUFFIX}"))):
            continue
        to = _destination(folder, told, headers, environ)
        if to is None:
            found.append(Sent(url=told.url, pending=_pending(folder, told), error="headers"))
            continue
        sender = Sender(
            transport=transport_for(to), timeout=to.timeout, counts=Counts(), url=to.url, durable=True,
            adopt=partial(adopt, folder),
        )  # fmt: skip
        sender.send_what_is_left(seconds)
        others = sender.for_others
        found.append(
            Sent(url=to.url, sent=others.sent, lost=others.given_up, pending=_pending(folder, told), error=sender.error)
        )
    return found


@dataclass(frozen=True, slots=True)
class _Told:
    url: str
    protocol: str
    headers: tuple[str, ...]


def _destinations(base: Path) -> Iterator[tuple[Path, _Told]]:
    for path in sorted(base.glob(f"*/{TOLD}")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            found = _Told(str(told["url"]), str(told["protocol"]), tuple(str(name) for name in told["headers"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if found.protocol in PROTOCOLS:
            yield path.parent, found


def _destination(
    folder: Path, told: _Told, headers: Mapping[str, str] | None, environ: Mapping[str, str]
) -> Destination | None:
    """The destination of a folder, if the headers here are those of it."""
    given = headers if told.headers else {}
    found = replace(resolve_destination(told.url, told.protocol, given, environ), url=told.url)
    return found if found.key() == folder.name else None


def _look(path: Path, told: _Told) -> Left:
    lock = Lock.take(path.with_suffix(LOCK), make=False)
    living = lock is None and path.with_suffix(LOCK).exists()
    spans = stubs = 0
    lost: dict[str, int] = {}
    damaged = False
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=5.0)
        try:
            spans = connection.execute("SELECT coalesce(sum(spans), 0) FROM frames").fetchone()[0]
            stubs = connection.execute("SELECT count(*) FROM stubs").fetchone()[0]
            lost = dict(connection.execute("SELECT reason, spans FROM losses").fetchall())
        finally:
            connection.close()
    except sqlite3.Error:
        damaged = path.exists()
    finally:
        if lock is not None:
            lock.release()
    return Left(
        file=path, url=told.url, protocol=told.protocol, headers=told.headers, living=living, spans=spans, open=stubs,
        size=size_of(path), lost=lost, damaged=damaged,
    )  # fmt: skip


def _pending(folder: Path, told: _Told) -> int:
    left = [_look(path, told) for path in folder.glob(f"*{SUFFIX}")]
    return sum(each.spans + each.open for each in left if not each.living)
