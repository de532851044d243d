"""A recording to the lines of a sealed cassette."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from otelreplay.cassette.header import Header
from otelreplay.cassette.keys import Signer
from otelreplay.cassette.marks import plain
from otelreplay.cassette.merkle import CHECK_BYTES, MerkleTree
from otelreplay.cassette.pack import Packer
from otelreplay.cassette.seal import Seal
from otelreplay.events import Note, Recording


def write_cassette(
    recording: Recording,
    *,
    header: Header,
    signer: Signer,
    summary: Mapping[str, Any] | None = None,
    further: Iterable[bytes] = (),
) -> SealedLines:
    """The lines of a sealed cassette, each with its newline, made as they are asked for; the last is the seal.

    ``summary`` is kept in the seal beside the run-level gaps (what a completeness report says, say). ``further`` are lines of
    unknown types that were read from a cassette of a later version and are to survive. Raises ValueError if the header is of
    another run or the events do not stand in the order of ``seq``.
    """
    further = tuple(further)
    return SealedLines(_lines(recording, header, signer, summary, further), own=not further)


class SealedLines(Iterator[bytes]):
    """The lines as they are made. Knows whether a store may rely on them without reading them again."""

    __slots__ = ("_source", "held", "own")

    def __init__(self, source: Iterator[bytes], *, own: bool, held: bool = False) -> None:
        self._source = source
        self.held = held
        """True if all lines are made and in memory."""
        self.own = own
        """True if all lines come from this writer: none was read from elsewhere."""

    def __next__(self) -> bytes:
        return next(self._source)

    def made(self) -> SealedLines:
        """The same lines, all of which are made now. Raises what making them raises."""
        return SealedLines(iter(self.rest()), own=self.own, held=True)

    def rest(self) -> list[bytes]:
        """All lines that were not taken yet."""
        return list(self._source)


def _lines(
    recording: Recording, header: Header, signer: Signer, summary: Mapping[str, Any] | None, further: tuple[bytes, ...]
) -> Iterator[bytes]:
    if header.run_id != recording.run_id:
        raise ValueError("the header names another run than the recording")
    tree, checks, packer, last = MerkleTree(), bytearray(), Packer(), -1

    def kept(line: bytes) -> bytes:
        checks.extend(tree.add(line)[:CHECK_BYTES])
        return line

    yield kept(header.line())
    for event in recording.events:
        if event.seq <= last:
            raise ValueError("events are written in the order of seq")
        last = event.seq
        for line in packer.event(event):
            yield kept(line)
    for line in further:
        yield kept(line)
    seal = Seal(
        lines=tree.leaves,
        events=len(recording.events),
        blobs=packer.blobs,
        root=tree.root(),
        checks=checks.hex(),
        completeness=_completeness(recording, summary),
    )
    yield seal.sealed_by(signer)


def _completeness(recording: Recording, summary: Mapping[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {"spans": recording.span_count, "logs": recording.log_count}
    if recording.missing:
        found["missing"] = [plain(gap) for gap in recording.missing]
    if recording.notes:
        found["notes"] = [_note(note) for note in recording.notes]
    if summary is not None:
        found["summary"] = dict(summary)
    return found


def _note(note: Note) -> dict[str, Any]:
    members: dict[str, Any] = {"code": note.code, "message": note.message}
    if note.spans:
        members["spans"] = list(note.spans)
    return members
