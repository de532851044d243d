"""One pass over the lines of a cassette: what each is, and everything that is wrong with it, with the place.

The reader and ``verify`` both stand on this pass. It never raises for what a line holds: it notes a :class:`Problem` and goes
on, so that one altered byte is told by its line, and only a first line that is no header of this format ends it.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any, Final, Protocol

from otelreplay.cassette.header import Header, parse_header
from otelreplay.cassette.limits import Limits
from otelreplay.cassette.lines import Readable, lines
from otelreplay.cassette.merkle import CHECK_BYTES, MerkleTree
from otelreplay.cassette.seal import PREFIX as SEAL_PREFIX
from otelreplay.cassette.seal import Seal, parse_seal
from otelreplay.cassette.unpack import BLOB_PREFIX, Blobs, MalformedError, may_be_typed, parse
from otelreplay.errors import CassetteFormatError, IntegrityError

EVENT_PREFIX = b'{"type":"event","seq":'
_NO_SEQ: Final = -(1 << 63)
_KNOWN_TYPES = frozenset({"header", "blob", "event", "seal"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, and where. The message quotes nothing from the file."""

    code: str
    message: str
    line: int | None = None
    """Line number from 1."""
    offset: int | None = None
    """Byte offset of the line, after decompression."""
    event: int | None = None
    """``seq`` of the event on that line."""

    @property
    def where(self) -> str:
        """``line 7, byte 1234``, or nothing."""
        event = f", event {self.event}" if self.event is not None else ""
        return f"line {self.line}, byte {self.offset}{event}" if self.line else ""


@dataclass(slots=True)
class _Line:
    number: int
    offset: int
    seq: int | None = None


class Taker(Protocol):
    """Takes the events of a pass that are to stay where they are."""

    blobs: Blobs

    def take(self, number: int, members: dict[str, Any], line: bytes) -> None:
        """An event line, its number and its members, whose references were checked."""
        ...


class Scan:
    """The pass and what it found. With ``keep``, ``events`` holds (line, members) of each event; a ``taker`` has its own."""

    def __init__(self, limits: Limits, *, keep: bool, taker: Taker | None = None) -> None:
        self.limits, self.keep, self._taker = limits, keep, taker
        self.header: Header | None = None
        self.seal: Seal | None = None
        self.blobs = taker.blobs if taker is not None else Blobs(limits)
        self.events: list[tuple[int, dict[str, Any]]] = []
        self.event_count = 0
        self.further: list[bytes] = []
        self.problems: list[Problem] = []
        self.error: CassetteFormatError | None = None
        """Why the pass ended at line 1, if it did."""
        self.size = 0
        self.seal_line = 0
        self._tree, self._checks = MerkleTree(), bytearray()
        self._offsets, self._seqs = array("Q"), array("q")
        self._last_seq = -1

    def run(self, stream: Readable) -> Scan:
        """Read to the end. Raises LimitError beyond a limit and CassetteFormatError for damaged compression."""
        for offset, line in lines(stream, self.limits):
            self.size = offset + len(line)
            place = _Line(len(self._offsets) + 1, offset)
            self._offsets.append(offset)
            self._seqs.append(_NO_SEQ)
            if self.seal is not None:
                self._note(place, "cassette.after_seal", "there is something after the seal")
                break
            if not line.endswith(b"\n"):
                self._note(place, "cassette.truncated", "the line is cut: it has no end")
            try:
                self._take(place, line)
            except MalformedError as problem:
                self._note(place, problem.code, str(problem))
            except IntegrityError as problem:
                self._note(place, problem.code, problem.what)
            except CassetteFormatError as problem:
                self.error = problem
                self._note(place, problem.code, problem.what)
                return self
            if place.seq is not None and abs(place.seq) < -_NO_SEQ:
                self._seqs[-1] = place.seq
            if self.seal is None:
                self._checks.extend(self._tree.add(line)[:CHECK_BYTES])
        self._finish()
        return self

    @property
    def lines(self) -> int:
        """Lines before the seal."""
        return self._tree.leaves

    def _note(self, place: _Line, code: str, message: str) -> None:
        if len(self.problems) < self.limits.problems:
            problem = Problem(code=code, message=message, line=place.number, offset=place.offset, event=place.seq)
            self.problems.append(problem)

    def _take(self, place: _Line, line: bytes) -> None:
        if place.number == 1:
            self.header = parse_header(line)
        elif line.startswith(BLOB_PREFIX):
            self.blobs.add(line)
        elif line.startswith(EVENT_PREFIX):
            self._take_event(place, line)
        elif line.startswith(SEAL_PREFIX):
            self.seal_line = place.number
            self.seal = parse_seal(line, f"line {place.number}")
        else:
            members = parse(line, self.limits)
            if not isinstance(members, dict) or not isinstance(members.get("type"), str):
                raise MalformedError("not a line of a cassette")
            if members["type"] in _KNOWN_TYPES:
                raise MalformedError("the line is not in the form in which it is written")
            self.further.append(line)

    def _take_event(self, place: _Line, line: bytes) -> None:
        members = parse(line, self.limits)
        seq = members.get("seq")
        if type(seq) is not int:
            raise MalformedError("the event has no place in the order")
        place.seq = seq
        del members["type"]
        if self.keep:
            self.events.append((place.number, self.blobs.event(members, typed=may_be_typed(line))))
        else:
            self.blobs.check_event(members)
            if self._taker is not None:
                self._taker.take(place.number, members, line)
        self.event_count += 1
        if seq <= self._last_seq:
            raise MalformedError("the event is out of order", "cassette.event_order")
        self._last_seq = seq

    # --- the seal against the lines -----------------------------------------------------------------------------------

    def _finish(self) -> None:
        if self.seal is None:
            self._no_seal()
            return
        seal, place = self.seal, _Line(self.seal_line, self._offsets[self.seal_line - 1])
        genuine = seal.holds()
        if not genuine:
            self._note(place, "cassette.signature", "the signature is not one over this seal")
        counted = (self._tree.leaves, self.event_count, len(self.blobs))
        if seal.root != self._tree.root():
            self._locate(seal)
            if not genuine or not self.problems:
                self._note(place, "cassette.root", "the seal is of other lines than these")
        elif seal.checks != self._checks.hex() or (seal.lines, seal.events, seal.blobs) != counted:
            self._note(place, "cassette.seal", "the seal contradicts itself")

    def _no_seal(self) -> None:
        if self.problems and self.problems[-1].code == "cassette.seal":
            return
        number = len(self._offsets)
        if not number:
            self.error = CassetteFormatError("the file is empty", code="cassette.not_a_cassette")
            self.problems.append(Problem(code=self.error.code, message=self.error.what, line=1, offset=0))
            return
        place = _Line(number, self._offsets[-1])
        self._note(place, "cassette.unsealed", "there is no seal: the recording ends after this line")

    def _locate(self, seal: Seal) -> None:
        """Name the lines whose leaf hash is not the one that the seal holds for them."""
        width = 2 * CHECK_BYTES
        told, found = seal.checks, self._checks.hex()
        here, there = len(found) // width, seal.lines
        if here == there:
            for n in range(here):
                if told[n * width : (n + 1) * width] != found[n * width : (n + 1) * width]:
                    self._altered(n + 1, "the line was altered after it was sealed")
            return
        same = 0
        while same < min(here, there) and told[same * width : (same + 1) * width] == found[same * width : (same + 1) * width]:
            same += 1
        what = f"{here - there} line(s) too many" if here > there else f"{there - here} line(s) missing"
        self._altered(same + 1, f"{what}: the lines differ from here on")

    def _altered(self, number: int, message: str) -> None:
        if any(problem.line == number for problem in self.problems):
            return
        seq = self._seqs[number - 1]
        line = _Line(number, self._offsets[number - 1], None if seq == _NO_SEQ else seq)
        self._note(line, "cassette.altered", message)
