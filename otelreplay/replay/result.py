"""What a replay says in the end: a frozen value, its JSON, its lines, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from otelreplay.cassette.read import Cassette
from otelreplay.replay.divergence import Blocked, Divergence, plain, shown
from otelreplay.replay.fixtures import Fixture
from otelreplay.replay.score import Recorded, Score

if TYPE_CHECKING:
    from otelreplay.replay.diagnosis import Diagnosis
    from otelreplay.replay.observing import Observing

AS_RECORDED, DIVERGED, MISSING, LIVE, INTEGRITY = 0, 1, 3, 4, 5
_LATE: Final = frozenset({"events_unused", "version_drift"})
"""Kinds that are no cause of anything: any other comes first."""
_LISTED: Final = 100
_OUTCOMES: Final = {
    AS_RECORDED: "as_recorded", DIVERGED: "diverged", MISSING: "missing_data", LIVE: "live_call_blocked",
    INTEGRITY: "integrity",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """The result of one replay."""

    outcome: str
    """``as_recorded``, ``diverged``, ``missing_data``, ``live_call_blocked``, ``failed`` or ``integrity``."""
    exit_code: int
    run_id: str
    guard: str
    """How strongly live calls were blocked: the level that was in force."""
    child_exit: int | None
    served: int
    """Calls that were answered."""
    calls: int
    """Calls that were received, agents included."""
    unused: int
    """Recordings that were never asked for."""
    unused_events: tuple[dict[str, Any], ...] = ()
    """The first of them: ``seq``, ``boundary``, ``operation``."""
    blocked: tuple[Blocked, ...] = ()
    first_divergence: Divergence | None = None
    others: tuple[Divergence, ...] = ()
    more: int = 0
    """Divergences beyond those listed."""
    origins: Mapping[str, int] = field(default_factory=dict)
    """Answers by where they came from."""
    responses: tuple[dict[str, Any], ...] = ()
    """The origin of every answer: ``{"origin", "from", "to"}`` for a row of events."""
    observe: bool = False
    """Whether the replay went on after its first divergence."""
    assumed: tuple[dict[str, Any], ...] = ()
    normalised: tuple[dict[str, Any], ...] = ()
    unchecked: tuple[dict[str, Any], ...] = ()
    writes: tuple[dict[str, Any], ...] = ()
    """What the original run changed in the world. A replay undoes none of it."""
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The shape of ``--report FILE``."""
        first = self.first_divergence
        return {
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "run_id": self.run_id,
            "guard": self.guard,
            "child_exit": self.child_exit,
            "served": self.served,
            "calls": self.calls,
            "unused": self.unused,
            "unused_events": list(self.unused_events),
            "blocked": [attempt.as_json() for attempt in self.blocked],
            "first_divergence": None if first is None else first.as_json(),
            "others": [other.as_json() for other in self.others],
            "more": self.more,
            "origins": dict(self.origins),
            "responses": list(self.responses),
            "observe": self.observe,
            "assumed": list(self.assumed),
            "normalised": list(self.normalised),
            "unchecked": list(self.unchecked),
            "writes": list(self.writes),
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """The result as short lines for a terminal; every text of the run in them is escaped."""
        out = [f"replay of {plain(self.run_id)}: {self.outcome.replace('_', ' ')}; {self.served} served, {self.unused} unused"]
        first = self.first_divergence
        if first is not None:
            out.append(first.line())
            if first.origin:
                out.append(f"  the value came from {plain(first.origin)}")
            if first.remedy:
                out.append(f"  {plain(first.remedy)}")
            out += [
                f"  near: seq {n.seq} {plain(n.boundary)} {plain(n.operation)} {plain(n.path)}".rstrip() for n in first.nearest
            ]
        out += [f"also: {other.line()}" for other in self.others]
        out += [f"blocked: {plain(a.what)} {plain(a.target)}".rstrip() for a in self.blocked]
        for name in ("assumed", "normalised", "unchecked"):
            out += [f"{name}: {_listed(entry)}" for entry in getattr(self, name)]
        out += [f"not undone: {_listed(entry)}" for entry in self.writes]
        return out + [f"note: {plain(note)}" for note in self.notes]


def _listed(entry: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {plain(v) if isinstance(v, str) else shown(v)}" for name, v in entry.items() if v not in ("", None)
    )


def conclude(
    cassette: Cassette, score: Score, *, divergences: Sequence[Divergence], diagnosis: Diagnosis, more: int,
    blocked: Sequence[Blocked], lists: Mapping[str, tuple[dict[str, Any], ...]], served: int, calls: int,
    origins: Mapping[str, int], notes: Sequence[str], fixtures: Mapping[int | str, Fixture], child_exit: int | None, guard: str,
    integrity: bool, observing: Observing | None, stopped: bool, responses: Mapping[int, str],
) -> ReplayResult:  # fmt: skip
    """The result of a session as it stands."""
    owed = score.owed()
    passed_over = observing.passed_over if observing is not None else []
    found = list(divergences)
    if observing is not None and divergences and not stopped:
        found += [diagnosis.left_over(item, skipped=True) for item in owed[:_LISTED]]
    elif not blocked and all(d.kind in _LATE for d in divergences):  # what a stopped program did not come to is no news
        found += _left_over(score, owed, diagnosis, served)
    first = first_of(found)
    code = _exit_code(first, blocked=bool(blocked), child_exit=child_exit, integrity=integrity)
    owed = sorted([*owed, *passed_over], key=lambda item: item.place)
    outcome = "failed" if code == DIVERGED and first is None else _OUTCOMES[code]
    return ReplayResult(
        outcome=outcome, exit_code=code, run_id=cassette.header.run_id, guard=guard, child_exit=child_exit, served=served,
        calls=calls, unused=len(owed), unused_events=tuple([_named(item, diagnosis) for item in owed[:_LISTED]]),
        blocked=tuple(blocked), first_divergence=first, others=tuple(d for d in found if d is not first)[:_LISTED], more=more,
        origins=dict(sorted(origins.items())), responses=_rows(responses), observe=observing is not None,
        assumed=lists["assumed"], normalised=lists["normalised"], unchecked=lists["unchecked"],
        writes=_writes(score, diagnosis), notes=(*notes, *_notes(score, fixtures)),
    )  # fmt: skip


def _rows(responses: Mapping[int, str]) -> tuple[dict[str, Any], ...]:
    """The origin of each answer, events that follow each other in one entry."""
    out: list[dict[str, Any]] = []
    for seq in sorted(responses):
        origin = responses[seq]
        if out and out[-1]["origin"] == origin and out[-1]["to"] == seq - 1:
            out[-1]["to"] = seq
        else:
            out.append({"origin": origin, "from": seq, "to": seq})
    return tuple(out)


def _left_over(score: Score, owed: Sequence[Recorded], diagnosis: Diagnosis, served: int) -> list[Divergence]:
    """One divergence for the first recording that was skipped, one for the first at the end that was not come to."""
    if not served and not any(item.outer is None for item in score.served):
        return [diagnosis.nothing_to_serve()]
    last = max((item.place for item in (*score.served, *score.agents) if item.taken), default=-1)
    skipped = next((item for item in owed if item.place < last), None)
    rest = next((item for item in owed if item.place > last), None)
    out = [diagnosis.left_over(skipped, skipped=True)] if skipped is not None else []
    return out + ([diagnosis.left_over(rest, skipped=False)] if rest is not None else [])


def first_of(found: Sequence[Divergence]) -> Divergence | None:
    """The first cause: what was latched first, unless a concurrent branch parted at a lower ``seq``."""
    latched = [d for d in found if d.call is not None or d.kind in ("live_call_blocked", "tool_not_registered")]
    if not latched:
        return next(iter(sorted(found, key=lambda d: (d.kind in _LATE, d.seq is None, d.seq or 0))), None)
    causes = [d for d in latched if d.kind not in _LATE] or latched
    head = causes[0]
    if head.seq is None or _is_end(head) or head.kind in ("live_call_blocked", "tool_not_registered"):
        return head
    return min(
        causes, key=lambda d: d.seq if d.seq is not None and d.kind != "live_call_blocked" and not _is_end(d) else 1 << 62
    )


def _is_end(divergence: Divergence) -> bool:
    """How an agent ended: its event comes first, and what differs in it last."""
    return divergence.boundary == "agent" and divergence.path.startswith(("response", "error"))


def _exit_code(first: Divergence | None, *, blocked: bool, child_exit: int | None, integrity: bool) -> int:
    if not integrity:
        return INTEGRITY
    if blocked:
        return LIVE
    if first is not None:
        return MISSING if first.kind == "response_missing" else DIVERGED
    return DIVERGED if child_exit not in (None, 0) else AS_RECORDED


def _named(item: Recorded, diagnosis: Diagnosis) -> dict[str, Any]:
    event = item.event
    return {"seq": event.seq, "boundary": event.kind, "operation": diagnosis.shown(event.name)}


def _writes(score: Score, diagnosis: Diagnosis) -> tuple[dict[str, Any], ...]:
    """Events with an effect on the world, whether they were replayed or not."""
    out = []
    for event in score.events:
        if event.effect == "write":
            entry = {"seq": event.seq, "boundary": event.kind, "operation": diagnosis.shown(event.name)}
            if event.idempotency_key:
                entry["idempotency_key"] = diagnosis.shown(event.idempotency_key)
            out.append(entry | {"state": "failed" if event.error else "done" if event.response else "unknown"})
    return tuple(out)


def _notes(score: Score, fixtures: Mapping[int | str, Fixture]) -> list[str]:
    if not fixtures:
        return []
    known = {event.seq for event in score.events} | {event.id for event in score.events}
    unknown = sum(key not in known for key in fixtures)
    return [f"{unknown} fixtures name no event of this cassette"] if unknown else []
