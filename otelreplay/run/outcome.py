"""What a replay came to: the session's own result under what the supervisor saw. Pure.

The session can only speak of what reached it. The supervisor has the last word: attempts that a guard stopped, wherever in the
tree of processes; a program that ended without a result, or otherwise than its result said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from otelreplay import errors
from otelreplay.errors import OtelReplayError
from otelreplay.events import Event
from otelreplay.replay.divergence import Divergence
from otelreplay.run.providers import remedy
from otelreplay.run.supervisor import Observed

AS_RECORDED, DIVERGED, MISSING, BLOCKED = "as_recorded", "diverged", "missing_data", "live_call_blocked"
ENDED_EARLY, TIMED_OUT, ENDED_OTHERWISE = "ended_early", "timed_out", "ended_otherwise"
EXITS: Final = {AS_RECORDED: 0, MISSING: 3, BLOCKED: 4}
"""Exit codes of outcomes; 1 for all others."""
_DECORATE: Final = "put a decorator on the function that makes this call, and record the run again"
_LISTS: Final = ("unused_events", "others", "responses", "assumed", "normalised", "unchecked", "writes", "notes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The end of a replay."""

    outcome: str
    report: Mapping[str, Any]
    """The JSON report (``docs/cli.md``)."""

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return EXITS.get(self.outcome, 1)


def not_started(observed: Observed) -> OtelReplayError | None:
    """Why the replay never began, if it did not; an attempt to go live is told of instead, if there was one."""
    failed = next((m for m in observed.messages if m.get("type") == "failed"), None)
    if failed is None or observed.blocked:
        return None
    kind = getattr(errors, str(failed["kind"]), errors.UsageError)
    error: OtelReplayError = kind(failed["what"], code=failed["code"], where=failed["where"], next_step=failed["next_step"])
    return error


def replayed(observed: Observed, events: Sequence[Event], *, held: Mapping[str, Any] | None = None) -> Replayed:
    """Judge a run. ``held``: the result of a session that was held here, and not in the replayed process."""
    said = next((m for m in reversed(observed.messages) if m.get("type") == "result"), None)
    if held is not None:
        said = {"exit": observed.child_exit, "result": held}
    result = dict(said["result"]) if said is not None else _unfinished(observed, events)
    first, others = _first(observed, result, decorated=held is None)
    outcome = _outcome(observed, said, result, first)
    report = {
        **{"outcome": outcome, "exit_code": EXITS.get(outcome, 1), "guard": ", ".join(observed.guard)},
        **{"child_exit": observed.child_exit, "served": 0, "calls": 0, "unused": 0, "more": 0, "observe": False},
        **{"blocked": [_blocked(attempt) for attempt in observed.blocked], "first_divergence": first},
        **{name: [] for name in _LISTS},
    }
    own = {*report} - {*_LISTS, "served", "calls", "unused", "more", "observe"}
    report |= {name: value for name, value in result.items() if name not in own}
    report |= {
        "others": others,
        "notes": [*result.get("notes", []), *_notes(observed)],
        "guard_missing": list(observed.weaker),
        "left_running": list(observed.left_running),
        "credentials_removed": list(observed.credentials),
    }
    return Replayed(outcome=outcome, report=report)


def _outcome(
    observed: Observed, said: Mapping[str, Any] | None, result: Mapping[str, Any], first: Mapping[str, Any] | None
) -> str:
    if observed.blocked:
        return BLOCKED
    if first is not None:
        return MISSING if first.get("kind") == "response_missing" else DIVERGED
    if observed.timed_out:
        return TIMED_OUT
    if said is None:
        return ENDED_EARLY
    if result.get("exit_code"):
        return MISSING if result.get("exit_code") == EXITS[MISSING] else DIVERGED
    return AS_RECORDED if said.get("exit") == observed.child_exit and not observed.left_running else ENDED_OTHERWISE


def _first(observed: Observed, result: Mapping[str, Any], *, decorated: bool) -> tuple[dict[str, Any] | None, list[Any]]:
    """(the first divergence, the others): an attempt that came before any other divergence is the first of all."""
    first = result.get("first_divergence")
    others = list(result.get("others", []))
    attempt = next(iter(observed.blocked), None)
    if attempt is None:
        return first, others
    blocked = _divergence(attempt, decorated=decorated).as_json()
    if first is not None and attempt.get("divergences"):
        return first, [blocked, *others]
    return blocked, others if first is None else [first, *others]


def _notes(observed: Observed) -> list[str]:
    raised = (m for m in observed.messages if m.get("type") == "raised")
    return [f"the program raised {m.get('error')} while {m.get('while')}" for m in raised]


def _unfinished(observed: Observed, events: Sequence[Event]) -> dict[str, Any]:
    """What is known of a session that gave no result."""
    served = [m.get("seq") for m in observed.messages if m.get("type") == "served"]
    divergences = [{n: v for n, v in m.items() if n != "type"} for m in observed.messages if m.get("type") == "divergence"]
    kinds = ("model", "embeddings", "tool", "retrieval", "memory", "state", "clock", "random", "id")
    unused = [
        {"seq": e.seq, "boundary": e.kind, "operation": e.name} for e in events if e.kind in kinds and e.seq not in served
    ]
    return {
        "served": len(served),
        "unused": len(unused),
        "unused_events": unused,
        "first_divergence": divergences[0] if divergences else None,
        "others": divergences[1:],
        "writes": [{"seq": e.seq, "boundary": e.kind, "operation": e.name} for e in events if e.effect == "write"],
    }


def _divergence(attempt: Mapping[str, Any], *, decorated: bool) -> Divergence:
    by = "the kernel's filter" if attempt.get("by") == "seccomp" else "the Python hooks"
    return Divergence(
        kind="live_call_blocked",
        boundary=str(attempt.get("what", "")),
        operation=str(attempt.get("target", "")),
        agent=str(attempt.get("boundary", "")).removeprefix("agent "),
        where=str(attempt.get("where") or attempt.get("command") or ""),
        last_agreed=attempt.get("after"),
        agreed=int(attempt.get("served") or 0),
        cause="code",
        detail=f"{attempt.get('what')} {attempt.get('target')} was blocked by {by}",
        remedy=_DECORATE if decorated else remedy(str(attempt.get("target", ""))),
    )


def _blocked(attempt: Mapping[str, Any]) -> dict[str, Any]:
    names = ("what", "target", "where", "boundary", "stack", "pid", "thread", "command", "by", "count", "after")
    return {name: attempt[name] for name in names if attempt.get(name) not in (None, "", [])}
