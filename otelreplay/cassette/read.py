"""A cassette to the recording that it holds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from otelreplay.cassette.forms import hash_of
from otelreplay.cassette.header import Header
from otelreplay.cassette.held import Aside, Shelf
from otelreplay.cassette.keys import TrustStore
from otelreplay.cassette.limits import DEFAULT_LIMITS, Limits
from otelreplay.cassette.lines import Readable
from otelreplay.cassette.scan import Problem, Scan
from otelreplay.cassette.seal import Seal
from otelreplay.errors import CassetteFormatError, IntegrityError
from otelreplay.events import Event, Missing, Note, Recording

_FRESH = {
    name: type(field.default)
    for name, field in Event.model_fields.items()
    if isinstance(field.default, list | dict) and name != "spans"
}
_UNSEALED = frozenset({"cassette.unsealed", "cassette.truncated"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """What a cassette holds. Equal messages of its events are one object."""

    header: Header
    events: tuple[Event, ...]
    missing: tuple[Missing, ...] = ()
    """Run-level gaps."""
    notes: tuple[Note, ...] = ()
    summary: dict[str, Any] | None = None
    """What the writer gave as the completeness report."""
    span_count: int = 0
    log_count: int = 0
    seal: Seal | None = None
    """None for a recording that was never sealed."""
    problems: tuple[Problem, ...] = ()
    """Why it is not sealed, and where it ends."""
    further: tuple[bytes, ...] = ()
    """Lines of types that this version does not know."""

    def recording(self) -> Recording:
        """The recording, equal to the one that was written."""
        return Recording(
            run_id=self.header.run_id,
            trace_ids=self.header.trace_ids,
            events=self.events,
            missing=self.missing,
            notes=self.notes,
            resources=tuple(self.header.resources),
            scopes=tuple(self.header.scopes),
            continues=self.header.continues,
            span_count=self.span_count,
            log_count=self.log_count,
        )


def read_cassette(
    stream: Readable,
    *,
    limits: Limits = DEFAULT_LIMITS,
    now: datetime | None = None,
    allow_expired: bool = False,
    allow_unsealed: bool = False,
    trust: TrustStore | None = None,
    where: str = "",
    aside: Aside | None = None,
) -> Cassette:
    """Read a cassette, plain or zstd; ``where`` names it in errors.

    Its seal must hold: root, counts, and the signature by the key that the seal names. With ``trust`` that key must be trusted
    too, with ``now`` (aware) it must not have expired. ``allow_unsealed`` gives what an unsealed or cut file holds to its end.
    With ``aside`` the lines are put there, and an event is read when something is asked of it: see
    :mod:`otelreplay.cassette.held`.

    Raises IntegrityError for a cassette that was altered or is not sealed, CassetteFormatError for a file that is no cassette
    of this format or has expired, LimitError for one beyond ``limits``.
    """
    try:
        with no_collection():
            shelf = Shelf(aside, limits, _event) if aside is not None else None
            scan = Scan(limits, keep=shelf is None, taker=shelf).run(stream)
        header = _accepted(scan, allow_unsealed=allow_unsealed)
        if now is not None and not allow_expired and header.expired(now):
            raise CassetteFormatError(
                f"the cassette expired at {header.retention.expires}", code="cassette.expired",
                next_step="allow expired cassettes explicitly, or purge it",
            )  # fmt: skip
        if trust is not None and (scan.seal is None or bytes.fromhex(scan.seal.public) not in trust):
            signer = scan.seal.signer if scan.seal else "nobody"
            raise IntegrityError(
                f"sealed by {signer}, who is not in the trust store", code="cassette.untrusted",
                next_step="check the key with whoever sealed it, then trust it",
            )  # fmt: skip
        with no_collection():
            return _cassette(scan, header, shelf.events() if shelf is not None else None)
    except (CassetteFormatError, IntegrityError) as error:
        if not where:
            raise
        place = f"{where}, {error.where}" if error.where else where
        raise type(error)(error.what, code=error.code, where=place, next_step=error.next_step) from None


@contextmanager
def no_collection() -> Iterator[None]:
    """Reading makes many objects and no cycles; looking for some while the lists of a long run grow takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _accepted(scan: Scan, *, allow_unsealed: bool) -> Header:
    if scan.error is not None:
        raise scan.error
    draft = scan.header is not None and scan.header.draft is not None
    refused = [
        p
        for p in scan.problems
        if not (allow_unsealed and _is_the_end(p, scan)) and not (draft and p.code == "cassette.unsealed")
    ]
    if refused or scan.header is None:
        raise _integrity(refused[0])
    return scan.header


def _is_the_end(problem: Problem, scan: Scan) -> bool:
    """A cut last line is whatever it is: only its being last counts."""
    return problem.code in _UNSEALED or (scan.seal is None and scan.problems[-1].line == problem.line and _cut(scan))


def _cut(scan: Scan) -> bool:
    last = scan.problems[-1].line
    return any(problem.code == "cassette.truncated" and problem.line == last for problem in scan.problems)


def _integrity(problem: Problem) -> IntegrityError:
    step = "seal it again from the store that holds its spans" if problem.code in _UNSEALED else "restore it from a copy"
    return IntegrityError(problem.message, code=problem.code, where=problem.where, next_step=step)


def _cassette(scan: Scan, header: Header, held: tuple[Event, ...] | None) -> Cassette:
    completeness = scan.seal.completeness if scan.seal else header.draft or {}
    try:
        return Cassette(
            header=header,
            events=tuple(_event(number, members) for number, members in scan.events) if held is None else held,
            missing=tuple(Missing.model_validate(gap) for gap in completeness.get("missing", ())),
            notes=tuple(_note(note) for note in completeness.get("notes", ())),
            summary=completeness.get("summary"),
            span_count=int(completeness.get("spans", 0)),
            log_count=int(completeness.get("logs", 0)),
            seal=scan.seal,
            problems=tuple(scan.problems),
            further=tuple(scan.further),
        )
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        raise CassetteFormatError("the seal's completeness is not of this format", code="cassette.completeness") from None


def _note(members: dict[str, Any]) -> Note:
    return Note(code=members["code"], message=members["message"], spans=tuple(members.get("spans", ())))


def _event(number: int, members: dict[str, Any]) -> Event:
    for name, make in _FRESH.items():  # much cheaper than the deep copies of its defaults that pydantic makes
        if name not in members:
            members[name] = make()
    members.setdefault("spans", [members.get("id")])
    if "request_hash" not in members and members["request_keys"]:
        members["request_hash"] = hash_of(members["request_keys"])
    try:
        return Event.model_validate(members)
    except ValidationError as error:
        fields = sorted({str(e["loc"][0]) for e in error.errors() if e["loc"] and e["loc"][0] in Event.model_fields})
        raise CassetteFormatError(
            f"an event with members of the wrong form: {', '.join(fields)}", code="cassette.event", where=f"line {number}"
        ) from None
