"""Whether a program depends on what it should not: replays of one recording under different settings, compared. Pure.

Compared is the end of each replay: which recordings were matched by which requests (every component of them, also those that
the recording does not carry), in which order, what the program wrote to stdout, how it ended. Concurrent calls have no order:
where two replays under the same settings differ in it, it is left out, and likewise under another schedule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

SAME: Final = "same settings"
SCHEDULE: Final = "schedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What is known of one replay at its end."""

    setting: Mapping[str, str]
    """What was other than in the first replay."""
    outcome: str
    exit_code: int
    child_exit: int | None
    first: Mapping[str, Any] | None
    """The first divergence."""
    asked: tuple[tuple[int, Mapping[str, str]], ...]
    out: bytes

    def digest(self, *, ordered: bool) -> str:
        """The end digest."""
        calls = [f"{seq} {sorted(keys.items())}" for seq, keys in self.asked]
        first = [(self.first or {}).get(name) for name in ("code", "seq", "path", "received")]
        parts = [self.outcome, self.exit_code, self.child_exit, first, calls if ordered else sorted(calls), self.out]
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsteady:
    """How two replays differ first."""

    setting: Mapping[str, str]
    what: str
    """``outcome``, ``request``, ``calls``, ``order``, ``output`` or ``exit``."""
    seq: int | None = None
    path: str = ""
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        """The shape of an entry of ``unsteady``."""
        names = ("what", "seq", "path", "detail")
        return {"setting": dict(self.setting)} | {name: getattr(self, name) for name in names}


def difference(base: End, other: End, *, ordered: bool) -> Unsteady | None:
    """The first thing in which another replay differs from the first; None if the end digests are equal."""
    if base.digest(ordered=ordered) == other.digest(ordered=ordered):
        return None
    told = _requests(base, other)
    if told is None and _ending(base) != _ending(other):
        first = other.first or base.first or {}
        detail = f"{base.outcome} before, {other.outcome} now"
        told = Unsteady(setting={}, what="outcome", seq=first.get("seq"), path=str(first.get("path") or ""), detail=detail)
    if told is None and base.out != other.out:
        told = Unsteady(setting={}, what="output", detail=_output(base.out, other.out))
    if told is None and ordered:
        told = _order(base, other)
    if told is None:
        told = Unsteady(setting={}, what="exit", detail=f"exit {base.child_exit} before, {other.child_exit} now")
    return Unsteady(setting=other.setting, what=told.what, seq=told.seq, path=told.path, detail=told.detail)


def _ending(end: End) -> Any:
    first = end.first or {}
    return end.outcome, end.exit_code, first.get("code"), first.get("seq"), first.get("path"), repr(first.get("received"))


def _requests(base: End, other: End) -> Unsteady | None:
    """The recording with the lowest seq that was asked for otherwise, or in one of the two alone where both went on."""
    ours, theirs = dict(base.asked), dict(other.asked)
    for seq in sorted(ours.keys() & theirs.keys()):
        changed = sorted(c for c in ours[seq].keys() | theirs[seq].keys() if ours[seq].get(c) != theirs[seq].get(c))
        if changed:
            return Unsteady(
                setting={},
                what="request",
                seq=seq,
                path=f"request.{changed[0]}",
                detail="a component that the replay does not compare",
            )
    if base.outcome == other.outcome and ours.keys() != theirs.keys():
        return Unsteady(setting={}, what="calls", seq=min(ours.keys() ^ theirs.keys()), detail="called in one of them alone")
    return None


def _order(base: End, other: End) -> Unsteady | None:
    pairs = zip([seq for seq, _ in base.asked], [seq for seq, _ in other.asked], strict=False)
    found = next(((a, b) for a, b in pairs if a != b), None)
    if found is None:
        return None
    return Unsteady(setting={}, what="order", seq=found[1], detail=f"called where event {found[0]} was called before")


def _output(was: bytes, now: bytes) -> str:
    ours, theirs = was.splitlines(), now.splitlines()
    pairs = enumerate(zip(ours, theirs, strict=False), 1)
    line = next((n for n, (a, b) in pairs if a != b), min(len(ours), len(theirs)) + 1)
    return f"what it writes to stdout differs from line {line} on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of a self-check."""

    replays: int
    settings: tuple[Mapping[str, str], ...]
    unsteady: tuple[Unsteady, ...] = ()
    digests: tuple[str, ...] = ()
    not_varied: tuple[str, ...] = ()
    report: Mapping[str, Any] = field(default_factory=dict)
    """Of the first replay."""

    @property
    def steady(self) -> bool:
        """Whether all ends were the same."""
        return not self.unsteady

    def as_json(self) -> dict[str, Any]:
        """The member ``self_check`` of a report."""
        return {
            "steady": self.steady,
            "replays": self.replays,
            "settings": [dict(s) for s in self.settings],
            "digests": list(self.digests),
            "not_varied": list(self.not_varied),
            "unsteady": [u.as_json() for u in self.unsteady],
        }


def ends_alike(ends: Sequence[End], *, ordered: bool) -> bool:
    """Whether all digests are equal."""
    return len({end.digest(ordered=ordered) for end in ends}) <= 1
