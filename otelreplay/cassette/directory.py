"""A store in a folder.

    <root>/cassettes/<run-id>[.rN].cassette.jsonl[.zst]      current
    <root>/superseded/…                                      older revisions, unchanged
    <root>/tombstones/<root hash>.json                       invalidations

With ``flat`` the current cassettes lie in ``root`` itself and the rest in the hidden ``root/.otelreplay``.

A file appears under its name whole or not at all. It is written under a hidden name in the folder where it will lie,
flushed to disk, and linked to its name, which fails if the name is taken; then the folder is flushed. Lines that the writer
of this package has just sealed are taken at their word but for header and seal; lines from anywhere else are read again in
full first. A crash leaves a hidden ``.<name>.<random>.inflight`` that no listing shows and :meth:`DirectoryStore.recover`
removes: its writer holds a lock on it while it lives (:mod:`otelreplay.cassette.locks`). A crash after a new revision has its
name and before the old one has moved leaves both: listings show the newest only, and the next ``put`` or ``recover`` moves the
other.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import zstandard

from otelreplay.cassette.header import Header, cassette_name
from otelreplay.cassette.locks import free, hold
from otelreplay.cassette.store import (
    NAME,
    Arrival,
    Entry,
    Passing,
    arrival,
    check_succession,
    conflict,
    entry_of,
    not_found,
    same_content,
    select,
)
from otelreplay.cassette.tombstone import Tombstone, parse_tombstone
from otelreplay.errors import UsageError

IN_FLIGHT = ".inflight"
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})
_SUFFIXES = ("", ".zst")


class DirectoryStore:
    """See :class:`otelreplay.cassette.store.CassetteStore` for what each method promises. Folders are made when needed."""

    def __init__(self, root: Path, *, flat: bool = False, compress: bool = False) -> None:
        hidden = root / ".otelreplay" if flat else root
        self._current = root if flat else root / "cassettes"
        self._old, self._stones = hidden / "superseded", hidden / "tombstones"
        self._folders = (str(self._current), str(self._old))
        self._compress = compress
        self._listed: dict[str, Set[int]] | None = None

    # --- cassettes ----------------------------------------------------------------------------------------------------

    def put(self, lines: Iterable[bytes]) -> Entry:
        """Store a sealed cassette."""
        passing = Passing(lines)
        with self._in_flight(self._current, "cassette") as (temporary, file):
            self._fill(file, passing)
            new = passing.arrival(lambda: temporary.open("rb"))
            name = new.name + (".zst" if self._compress else "")
            before = self._revisions(new.header)
            held = self._held(new, before)
            if held is None:
                check_succession(new, self._newest(before))
                if not self._publish(temporary, self._current / name):
                    held = self._held(new, self._revisions(new.header))
            if held is not None:
                self._require_same(held, temporary, new)
                name = held
            elif not before:
                return entry_of(name, os.fstat(file.fileno()).st_size)
        revisions = self._revisions(new.header)
        self._settle(revisions)
        return next(entry for entry in revisions if entry.name == name)

    def _fill(self, file: BinaryIO, lines: Iterable[bytes]) -> None:
        if self._compress:
            with zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False) as packed:
                for line in lines:
                    packed.write(line)
        else:
            file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())

    @staticmethod
    def _held(new: Arrival, revisions: Iterable[Entry]) -> str | None:
        """The name of the file that holds this revision already."""
        return next((entry.name for entry in revisions if entry.revision == new.header.revision), None)

    def _require_same(self, held: str, temporary: Path, new: Arrival) -> None:
        with self.open(held) as one, temporary.open("rb") as other:
            if not same_content(one, other):
                raise conflict(new)

    def _newest(self, revisions: Sequence[Entry]) -> Arrival | None:
        if not revisions:
            return None
        with self.open(revisions[-1].name) as file:
            return arrival(file)

    def _revisions(self, header: Header) -> tuple[Entry, ...]:
        """Every revision of the run that is held, in order.

        The folder is listed once in the life of this object: to list it for every cassette would take longer with each. What
        has come since is found under the names that it can have: revisions follow one another without a gap.
        """
        found = self._following(header, self._known().get(header.run_id, frozenset()))
        if header.revision > 1 and all(entry.revision != header.revision - 1 for entry in found):
            self._listed = None  # it does not follow what is known here: look at everything
            found = self._following(header, self._known().get(header.run_id, frozenset()))
        if found:
            self._known()[header.run_id] = frozenset(entry.revision for entry in found)
        return select(found, superseded=True)

    def _following(self, header: Header, known: Set[int]) -> list[Entry]:
        numbers = sorted({*known, header.revision, max(1, header.revision - 1)})
        found = [entry for number in numbers for entry in self._probe(header.run_id, number)]
        number = numbers[-1] + 1
        while further := self._probe(header.run_id, number):
            found += further
            number += 1
        return found

    def _known(self) -> dict[str, Set[int]]:
        found = self._listed
        if found is None:
            found = {}
            for entry in self.list(superseded=True):
                found[entry.run_id] = found.get(entry.run_id, frozenset()) | {entry.revision}
            self._listed = found
        return found

    def _probe(self, run_id: str, revision: int) -> list[Entry]:
        """The files of one revision."""
        name, found = cassette_name(run_id, revision), []
        for suffix in _SUFFIXES:
            for folder in self._folders:  # in the order in which a file moves
                with contextlib.suppress(FileNotFoundError):
                    found.append(entry_of(name + suffix, os.stat(f"{folder}/{name}{suffix}").st_size))  # noqa: PTH116 - cheaper
                    break
        return found

    def _settle(self, revisions: Iterable[Entry]) -> None:
        """Move what a newer revision superseded."""
        for entry in revisions:
            if entry.superseded:
                with contextlib.suppress(FileNotFoundError):  # it lies there already, or another process moves it
                    _make(self._old)
                    (self._current / entry.name).rename(self._old / entry.name)
                    _flush_folder(self._old)
                    _flush_folder(self._current)

    def open(self, name: str) -> BinaryIO:
        """Open the stored bytes of a cassette."""
        for folder in (self._current, self._old) if NAME.fullmatch(name) else ():
            with contextlib.suppress(FileNotFoundError):  # another process may move it from the first to the second
                return (folder / name).open("rb")
        raise not_found(name)

    def list(self, *, superseded: bool = False) -> tuple[Entry, ...]:
        """List current cassettes, or all."""
        found, aside = {}, set()
        for folder in (self._current, self._old):  # in the order in which a file moves
            for path in folder.iterdir() if folder.is_dir() else ():
                with contextlib.suppress(FileNotFoundError):
                    if NAME.fullmatch(path.name) and path.is_file():
                        found[path.name] = entry_of(path.name, path.stat().st_size)
                        aside |= {path.name} if folder == self._old else set()
        for entry in select(list(found.values()), superseded=False):
            while entry.name in aside:  # set aside; or moved since the first folder was read, as a newer one had come
                later = self._probe(entry.run_id, entry.revision + 1)
                if not later:
                    break
                entry = later[0]  # each is there before the one before it moves, so none is missed
                found[entry.name] = entry
                aside |= set() if (self._current / entry.name).exists() else {entry.name}
        listed = [replace(e, superseded=e.superseded or e.name in aside) for e in select(found.values(), superseded=True)]
        return tuple(entry for entry in listed if superseded or not entry.superseded)

    def delete(self, run_id: str) -> tuple[str, ...]:
        """Remove every revision of a run."""
        names = tuple(entry.name for entry in self.list(superseded=True) if entry.run_id == run_id)
        for folder in (self._current, self._old):
            for name in names:
                (folder / name).unlink(missing_ok=True)
            if names and folder.is_dir():
                _flush_folder(folder)
        return names

    def set_aside(self, run_id: str) -> tuple[str, ...]:
        """Move the current cassette of a run to the superseded ones."""
        names = tuple(entry.name for entry in self.list() if entry.run_id == run_id)
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                _make(self._old)
                (self._current / name).rename(self._old / name)
                _flush_folder(self._old)
                _flush_folder(self._current)
        return names

    def recover(self, *, older_than: float, now: float) -> tuple[str, ...]:
        """Finish what a crash interrupted. Removes in-flight files whose writer does not live any more; their names.

        Where the file system has no locks: those that nobody touched for ``older_than`` seconds before ``now``.
        """
        removed = []
        for folder in (self._current, self._stones):
            for path in folder.glob(f".*{IN_FLIGHT}"):
                with contextlib.suppress(OSError):  # it is gone, or somebody else's
                    if _abandoned(path, untouched_since=now - older_than):
                        removed.append(path.name)
        self._settle(self.list(superseded=True))
        return tuple(removed)

    # --- tombstones ---------------------------------------------------------------------------------------------------

    def put_tombstone(self, tombstone: Tombstone) -> None:
        """Keep a signed tombstone."""
        with self._in_flight(self._stones, "tombstone") as (temporary, file):
            file.write(tombstone.line())
            file.flush()
            os.fsync(file.fileno())
            self._publish(temporary, self._stones / tombstone.name)

    def tombstones(self) -> tuple[Tombstone, ...]:
        """Every tombstone."""
        paths = sorted(self._stones.glob("[0-9a-f]*.json"))
        return tuple(parse_tombstone(path.read_bytes(), path.name) for path in paths)

    # --- files --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _in_flight(self, folder: Path, what: str) -> Iterator[tuple[Path, BinaryIO]]:
        """A new hidden file in ``folder``, gone at the end unless it got a name."""
        try:
            _make(folder)
            temporary, number = _new_file(folder, what)
        except OSError as error:
            raise UsageError(
                f"the store cannot be written ({error.strerror})", code="store.unwritable", where=str(folder),
                next_step="choose a folder that you may write to",
            ) from None  # fmt: skip
        try:
            with open(number, "wb") as file:  # noqa: PTH123 - of a descriptor
                yield temporary, file
        finally:
            temporary.unlink(missing_ok=True)

    @staticmethod
    def _publish(temporary: Path, path: Path) -> bool:
        """Give the file its name unless that is taken; False if it is."""
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS or path.exists():
                raise
            temporary.rename(path)  # a file system without hard links: the check above is the best there is
        _flush_folder(path.parent)
        return True


def _new_file(folder: Path, what: str) -> tuple[Path, int]:
    """A new hidden file that nobody takes for abandoned: its path and descriptor."""
    while True:
        temporary = folder / f".{what}.{secrets.token_hex(8)}{IN_FLIGHT}"
        number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        if hold(number):
            return temporary, number
        os.close(number)


def _abandoned(path: Path, *, untouched_since: float) -> bool:
    """Remove a file in flight whose writer does not live any more; False if it may live."""
    number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        alone = free(number)
        if alone is None:
            alone = os.fstat(number).st_mtime <= untouched_since
        if alone:
            path.unlink()
        return alone
    finally:
        os.close(number)


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _flush_folder(folder: Path) -> None:
    """Make names durable, where the platform can."""
    if os.name != "posix":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
