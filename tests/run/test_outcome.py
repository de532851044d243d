"""The last word on a run: what the session said, under what the supervisor saw."""

import pytest

from otelreplay.errors import MissingDataError
from otelreplay.events import Event
from otelreplay.report.replay import replay_text
from otelreplay.run.outcome import not_started, replayed
from otelreplay.run.supervisor import Observed

EVENTS = [
    Event(seq=0, id="t/0", kind="agent", name="desk"),
    Event(seq=1, id="t/1", kind="tool", name="lookup"),
    Event(seq=2, id="t/2", kind="tool", name="refund", effect="write"),
]
CHANGED = {"code": "replay.request_changed", "kind": "request_changed", "seq": 2, "boundary": "tool", "operation": "refund"}
GAP = {"code": "replay.response_missing", "kind": "response_missing", "seq": 1}
ATTEMPT = {"type": "blocked", "what": "connect", "target": "192.0.2.1:443", "by": "seccomp", "pid": 7, "command": "curl",
           "count": 1, "after": 1, "served": 1, "divergences": 0}  # fmt: skip


def said(exit_code=0, first=None, exit=0, **more):
    result = {"exit_code": exit_code, "served": 2, "unused": 0, "first_divergence": first, "others": [], "blocked": [], **more}
    return {"type": "result", "exit": exit, "result": result}


def seen(*messages, blocked=(), child_exit=0, **more):
    return Observed(guard=("seccomp", "python hooks"), messages=messages, blocked=blocked, child_exit=child_exit, **more)


SERVED = {"type": "served", "seq": 1}
TOLD = {"type": "divergence", **CHANGED}

TABLE = {
    "as recorded": (seen(SERVED, said()), "as_recorded", 0),
    "a divergence": (seen(said(1, CHANGED)), "diverged", 1),
    "missing data": (seen(said(3, GAP)), "missing_data", 3),
    "an attempt": (seen(said(), blocked=(ATTEMPT,)), "live_call_blocked", 4),
    "an attempt and missing data": (seen(said(3, GAP), blocked=(ATTEMPT,)), "live_call_blocked", 4),
    "an attempt and no result": (seen(blocked=(ATTEMPT,), child_exit=-9), "live_call_blocked", 4),
    "no result": (seen(SERVED), "ended_early", 1),
    "no result, though all was served": (seen(SERVED, {"type": "served", "seq": 2}), "ended_early", 1),
    "no result after a divergence": (seen(SERVED, TOLD), "diverged", 1),
    "no result after a gap": (seen({"type": "divergence", **GAP}), "missing_data", 3),
    "time was up": (seen(SERVED, timed_out=True, child_exit=-9), "timed_out", 1),
    "another exit code than it said": (seen(said(), child_exit=3), "ended_otherwise", 1),
    "a crash after the result": (seen(said(), child_exit=-11), "ended_otherwise", 1),
    "processes left behind": (seen(said(), left_running=("sleep 60",)), "ended_otherwise", 1),
    "a failure as recorded": (seen(said(exit=1), child_exit=1), "as_recorded", 0),
    "the session says that it failed": (seen(said(1, exit=1), child_exit=1), "diverged", 1),
}


@pytest.mark.parametrize("name", TABLE)
def test_every_end_has_its_outcome_and_exit_code(name):
    observed, outcome, code = TABLE[name]
    found = replayed(observed, EVENTS)
    assert (outcome, code, outcome, code) == (
        found.outcome,
        found.exit_code,
        found.report["outcome"],
        found.report["exit_code"],
    )
    assert outcome in replay_text(found.report)


def test_without_a_result_the_report_says_what_was_served_and_what_was_not():
    report = replayed(seen(SERVED), EVENTS).report
    assert (1, 1, [{"seq": 2, "boundary": "tool", "operation": "refund"}]) == (
        report["served"],
        report["unused"],
        report["unused_events"],
    )
    assert [2] == [w["seq"] for w in report["writes"]]


def test_an_attempt_before_a_divergence_is_the_first_and_one_after_it_is_not():
    before = replayed(seen(said(1, CHANGED), blocked=(ATTEMPT,)), EVENTS).report
    assert ("replay.live_call_blocked", [CHANGED]) == (before["first_divergence"]["code"], before["others"])
    after = replayed(seen(TOLD, said(1, CHANGED), blocked=(ATTEMPT | {"divergences": 1},)), EVENTS).report
    assert (CHANGED, ["replay.live_call_blocked"]) == (after["first_divergence"], [o["code"] for o in after["others"]])


def test_a_replay_that_did_not_begin_is_an_error_unless_something_was_blocked():
    failed = {
        "type": "failed",
        "kind": "MissingDataError",
        "what": "w",
        "code": "replay.no_input",
        "where": "a:b",
        "next_step": "n",
    }
    error = not_started(seen(failed))
    assert isinstance(error, MissingDataError)
    assert "a:b: w. N [replay.no_input]" == error.sentence()
    assert not_started(seen(failed, blocked=(ATTEMPT,))) is None
    assert not_started(seen(SERVED)) is None


def test_every_report_has_every_member():
    members = {
        "outcome",
        "guard",
        "child_exit",
        "served",
        "unused",
        "blocked",
        "first_divergence",
        "assumed",
        "normalised",
        "unchecked",
    }
    for observed, _, _ in TABLE.values():
        assert members <= {*replayed(observed, EVENTS).report}
