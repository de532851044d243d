"""Where cassettes are kept: what any store promises, and the store in memory.

A store holds for each run one *current* cassette, the revisions it superseded, unchanged, and tombstones. Names are those of
``header.cassette_name``; nothing else in a cassette decides where it lies.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, BinaryIO, Protocol

from otelreplay.cassette.header import Header, cassette_name, check_lineage, parse_header
from otelreplay.cassette.limits import DEFAULT_LIMITS
from otelreplay.cassette.lines import Readable, lines
from otelreplay.cassette.scan import Scan
from otelreplay.cassette.seal import Seal, parse_seal
from otelreplay.cassette.tombstone import Tombstone, parse_tombstone
from otelreplay.cassette.write import SealedLines
from otelreplay.errors import IntegrityError, MissingDataError

NAME = re.compile(r"([0-9a-f]{1,64})(?:\.r([0-9]{1,6}))?\.cassette\.jsonl(\.zst)?")
_VOLATILE = ("created", "source")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Entry:
    """One cassette of a store."""

    run_id: str
    revision: int
    name: str
    size: int
    """Bytes as stored."""
    superseded: bool = False


class CassetteStore(Protocol):
    """Sealed cassettes by run and revision. Every method may be called from several threads and processes at once."""

    def put(self, lines: Iterable[bytes]) -> Entry:
        """Store a sealed cassette, whole or not at all; it is durable when this returns.

        An equal one (all but ``created`` and ``source`` of the header, and the seal) is left as it is. The next revision of the
        run moves the one before to the superseded, unchanged. Raises IntegrityError for anything else under a taken name
        (``store.conflict``), for a revision that does not follow the current one (``cassette.lineage``), and for what is not
        sealed.
        """
        ...

    def open(self, name: str) -> BinaryIO:
        """The stored bytes of a current or superseded cassette. Raises MissingDataError (``store.not_found``)."""
        ...

    def list(self, *, superseded: bool = False) -> tuple[Entry, ...]:
        """Current cassettes in the order of run ids; with ``superseded`` also the older revisions."""
        ...

    def delete(self, run_id: str) -> tuple[str, ...]:
        """Remove every revision of a run with all it holds; tombstones stay. Returns the names, none if there was none."""
        ...

    def set_aside(self, run_id: str) -> tuple[str, ...]:
        """Lay the current cassette of a run with the superseded ones, unchanged: another run holds what it held.

        Returns its name, nothing if there was none. It can still be opened, and the run's next revision follows it.
        """
        ...

    def put_tombstone(self, tombstone: Tombstone) -> None:
        """Keep a signed tombstone; the first one of a root stays."""
        ...

    def tombstones(self) -> tuple[Tombstone, ...]:
        """Every tombstone, in the order of roots. Their signatures are for the caller to check."""
        ...


@dataclass(frozen=True, slots=True)
class Arrival:
    """Header and seal of a cassette on its way into a store."""

    header: Header
    seal: Seal

    @property
    def name(self) -> str:
        """The name it is stored under."""
        return cassette_name(self.header.run_id, self.header.revision)


def arrival(stream: Readable) -> Arrival:
    """Check that a stream is a whole cassette with a seal over these lines. Raises IntegrityError or CassetteFormatError."""
    scan = Scan(DEFAULT_LIMITS, keep=False).run(stream)
    if scan.error is not None:
        raise scan.error
    if scan.problems or scan.header is None or scan.seal is None:
        problem = scan.problems[0]
        raise IntegrityError(problem.message, code=problem.code, where=problem.where, next_step="store it once it is sealed")
    return Arrival(scan.header, scan.seal)


class Passing(Iterator[bytes]):
    """Lines on their way into a store. What of them a store has to know is kept.

    Lines that this writer makes are sealed by it as they are made. Of such the store reads only the first and the last again,
    not all in between: if some were taken before, the first is no header. Lines from anywhere else are checked whole.
    """

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._own = isinstance(lines, SealedLines) and lines.own
        self._first = self._last = b""
        self._bytes = self._count = self._longest = 0
        self._held: list[bytes] | None = None
        if isinstance(lines, SealedLines) and lines.held:
            lines = self._held = lines.rest()
            self._note(lines)
        self._source = iter(lines)

    def _note(self, lines: list[bytes]) -> None:
        """All lines, in one go."""
        sizes = list(map(len, lines))
        self._first, self._last = (lines[0], lines[-1]) if lines else (b"", b"")
        self._count, self._bytes, self._longest = len(sizes), sum(sizes), max(sizes, default=0)

    def __iter__(self) -> Iterator[bytes]:
        return self if self._held is None else iter(self._held)

    def __next__(self) -> bytes:
        line = next(self._source)
        if self._held is not None:
            return line
        size = len(line)
        self._first = self._first or line
        self._last = line
        self._count += 1
        self._bytes += size
        self._longest = max(self._longest, size)
        return line

    def arrival(self, written: Callable[[], BinaryIO]) -> Arrival:
        """Header and seal when all lines have passed; ``written`` opens what was stored. Raises as :func:`arrival` does."""
        bounds = DEFAULT_LIMITS
        within = self._bytes <= bounds.bytes and self._longest <= bounds.line and self._count <= bounds.lines
        if self._own and within:
            return Arrival(parse_header(self._first), parse_seal(self._last, f"line {self._count}"))
        with written() as stream:
            return arrival(stream)


def same_content(one: Readable, other: Readable) -> bool:
    """True if two sealed cassettes differ at most in when and from where they were made, and in their seals."""
    return _essence(one) == _essence(other)


def _essence(stream: Readable) -> tuple[dict[str, Any], bytes, dict[str, Any]]:
    """Header without what may differ, digest of the lines between, completeness."""
    between, first, last = sha256(), b"", b""
    for _, line in lines(stream, DEFAULT_LIMITS):
        if first and last:
            between.update(last)
        first, last = first or line, line if first else b""
    header = parse_header(first).model_copy(update=dict.fromkeys(_VOLATILE))
    return header.model_dump(), between.digest(), parse_seal(last, "").completeness


def check_succession(new: Arrival, current: Arrival | None) -> None:
    """Raise IntegrityError unless ``new`` may become the current cassette of its run."""
    if current is None:
        return
    if new.header.revision <= current.header.revision:
        raise IntegrityError(
            f"the store holds revision {current.header.revision} of this run", code="store.conflict", where=new.name,
            next_step="make it a revision of the one that is there, or delete that one first",
        )  # fmt: skip
    check_lineage(new.header, current.header, root=current.seal.root)


def not_found(name: str) -> MissingDataError:
    """The error of a name that a store does not hold."""
    shown = name if NAME.fullmatch(name) else "a name of another form"
    return MissingDataError(f"there is no cassette {shown}", code="store.not_found", next_step="list what the store holds")


def conflict(new: Arrival) -> IntegrityError:
    """The error of a name that is taken by another content."""
    return IntegrityError(
        "another cassette has this name already, and a sealed one never changes", code="store.conflict", where=new.name,
        next_step="make it a revision of the one that is there, or delete that one first",
    )  # fmt: skip


def entry_of(name: str, size: int) -> Entry:
    """The entry of a well-formed name."""
    match = NAME.fullmatch(name)
    if match is None:
        raise not_found(name)
    return Entry(run_id=match[1], revision=int(match[2] or 1), name=name, size=size)


def select(entries: Iterable[Entry], *, superseded: bool) -> tuple[Entry, ...]:
    """In order; all but the highest revision of a run are superseded, wherever they lie."""
    ordered = sorted(entries)
    newest = {entry.run_id: entry.revision for entry in ordered}
    marked = [replace(entry, superseded=entry.revision < newest[entry.run_id]) for entry in ordered]
    return tuple(entry for entry in marked if superseded or not entry.superseded)


class MemoryStore:
    """A store for tests and for programs that keep nothing."""

    def __init__(self) -> None:
        self._current: dict[str, bytes] = {}
        self._old: dict[str, bytes] = {}
        self._tombstones: dict[str, bytes] = {}

    def put(self, lines: Iterable[bytes]) -> Entry:
        """See :class:`CassetteStore`."""
        passing = Passing(lines)
        data = b"".join(passing)
        new = passing.arrival(lambda: io.BytesIO(data))
        held = self._current.get(new.name) or self._old.get(new.name)
        if held is None:
            check_succession(new, self._newest(new.header.run_id))
            held = self._current.setdefault(new.name, data)
        if held is not data and not same_content(io.BytesIO(held), io.BytesIO(data)):
            raise conflict(new)
        for entry in self.list(superseded=True):
            moved = self._current.get(entry.name)  # nothing if another thread has moved it
            if entry.run_id == new.header.run_id and entry.superseded and moved:
                self._old[entry.name] = moved
                self._current.pop(entry.name, None)
        return next(entry for entry in self.list(superseded=True) if entry.name == new.name)

    def _newest(self, run_id: str) -> Arrival | None:
        found = [entry for entry in self.list() if entry.run_id == run_id]
        return arrival(self.open(found[0].name)) if found else None

    def open(self, name: str) -> BinaryIO:
        """See :class:`CassetteStore`."""
        data = self._current.get(name) or self._old.get(name)
        if data is None:
            raise not_found(name)
        return io.BytesIO(data)

    def list(self, *, superseded: bool = False) -> tuple[Entry, ...]:
        """See :class:`CassetteStore`."""
        held = {**self._current, **self._old}
        return select((entry_of(name, len(data)) for name, data in held.items()), superseded=superseded)

    def delete(self, run_id: str) -> tuple[str, ...]:
        """See :class:`CassetteStore`."""
        names = tuple(entry.name for entry in self.list(superseded=True) if entry.run_id == run_id)
        for name in names:
            self._current.pop(name, None)
            self._old.pop(name, None)
        return names

    def set_aside(self, run_id: str) -> tuple[str, ...]:
        """See :class:`CassetteStore`."""
        names = tuple(name for name in self._current if entry_of(name, 0).run_id == run_id)
        for name in names:
            self._old[name] = self._current.pop(name)
        return names

    def put_tombstone(self, tombstone: Tombstone) -> None:
        """See :class:`CassetteStore`."""
        self._tombstones.setdefault(tombstone.name, tombstone.line())

    def tombstones(self) -> tuple[Tombstone, ...]:
        """See :class:`CassetteStore`."""
        return tuple(parse_tombstone(line, name) for name, line in sorted(self._tombstones.items()))
