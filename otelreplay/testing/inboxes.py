"""What every inbox must do, as checks that any backend can run.

    @pytest.mark.parametrize("check", INBOX_CHECKS, ids=lambda check: check.__name__)
    def test_my_inbox_keeps_the_promises(check, tmp_path):
        clock = Clock()
        check(MyInbox(tmp_path, clock=clock), clock)

Each check takes an empty inbox, and the clock that it was made with; it raises AssertionError with what it found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from otelreplay.receiver.inbox import Inbox, Sealed, TraceKey, TraceState, delivery
from otelreplay.spans import LogRecord, Resource, Scope, Span, mark_twins

TRACE, OTHER = "0af7651916cd43dd8448eb211c80319c", "0af7651916cd43dd8448eb211c8031aa"


class Clock:
    """Nanoseconds that move when they are told to."""

    def __init__(self, now: int = 1_790_000_000_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        """The time."""
        return self.now


def sample_span(number: int = 1, **changes: Any) -> Span:
    """A span; number 1 is the root, the others are below it."""
    made = Span(
        trace_id=TRACE,
        span_id=f"{number:016x}",
        parent_span_id="" if number == 1 else f"{1:016x}",
        name=f"step {number}",
        start=1000 + number,
        end=2000 + number,
        attributes={"number": number, "text": "words"},
        resource=Resource({"service.name": "agent"}),
        scope=Scope("tests", "1"),
    )
    return msgspec.structs.replace(made, **changes)


def sample_log(text: str = "said", **changes: Any) -> LogRecord:
    """A log record of the root span."""
    return msgspec.structs.replace(LogRecord(trace_id=TRACE, span_id=f"{1:016x}", time=1500, body=text), **changes)


def _put(inbox: Inbox, *spans: Span, tenant: str = "", logs: tuple[LogRecord, ...] = ()) -> Any:
    return inbox.put([delivery(spans, mark_twins(logs), tenant=tenant)])[0]


def _state(inbox: Inbox, trace: str = TRACE, tenant: str = "") -> TraceState:
    (found,) = [state for state in inbox.recent(0, 1000) if state.key == TraceKey(tenant, trace)]
    return found


def _seal(inbox: Inbox, run: str, *traces: str) -> list[str]:
    states = [_state(inbox, trace) for trace in traces or (TRACE,)]
    sealed = Sealed(run=run, traces={state.key: state.newest for state in states})
    left = inbox.leaves(sealed)
    inbox.mark(sealed)
    return left


def what_is_put_is_read_back(inbox: Inbox, _clock: Clock) -> None:
    """Equal records, in every field, odd text included."""
    spans = (
        sample_span(1),
        sample_span(2, attributes={"odd": "\ud83e\x00", "none": None, "big": 2**63, "nested": [{"a": b"x"}]}),
    )
    receipt = _put(inbox, *spans, logs=(sample_log(),))
    assert (receipt.spans, receipt.logs) == (2, 1)
    found, logs = inbox.read([TraceKey("", TRACE)])
    assert sorted(found, key=lambda span: span.span_id) == list(spans)
    assert logs == [sample_log()]


def a_redelivery_adds_nothing(inbox: Inbox, clock: Clock) -> None:
    """Nor does it count as something new."""
    _put(inbox, sample_span(1), logs=(sample_log(),))
    before = _state(inbox)
    clock.now += 5
    receipt = _put(inbox, sample_span(1), logs=(sample_log(),))
    assert (receipt.spans, receipt.duplicate_spans, receipt.logs, receipt.duplicate_logs) == (0, 1, 0, 1)
    assert _state(inbox) == before
    assert [len(each) for each in inbox.read([TraceKey("", TRACE)])] == [1, 1]


def a_redelivery_in_one_round_adds_nothing(inbox: Inbox, _clock: Clock) -> None:
    """Two requests that wait for one commit may hold the same span."""
    first, second = inbox.put([delivery([sample_span(1)]), delivery([sample_span(1), sample_span(2)])])
    assert (first.spans, second.spans, second.duplicate_spans) == (1, 1, 1)
    assert len(inbox.read([TraceKey("", TRACE)])[0]) == 2


def another_content_under_a_known_id_is_kept_beside_it(inbox: Inbox, _clock: Clock) -> None:
    """A conflict: reconstruction settles it."""
    _put(inbox, sample_span(1))
    receipt = _put(inbox, sample_span(1, name="other"))
    assert (receipt.spans, receipt.conflicts, receipt.duplicate_spans) == (1, 1, 0)
    assert len(inbox.read([TraceKey("", TRACE)])[0]) == 2
    assert _state(inbox).spans == 1


def an_equal_span_in_another_order_counts_as_a_duplicate_and_is_kept(inbox: Inbox, _clock: Clock) -> None:
    """Which of both is taken must not depend on which came first."""
    turned = sample_span(1, attributes=dict(reversed(sample_span(1).attributes.items())))
    _put(inbox, sample_span(1))
    receipt = _put(inbox, turned)
    assert (receipt.spans, receipt.duplicate_spans, receipt.conflicts) == (0, 1, 0)
    assert len(inbox.read([TraceKey("", TRACE)])[0]) == 2


def equal_log_records_of_one_request_are_several(inbox: Inbox, _clock: Clock) -> None:
    """And the same request again adds none."""
    assert _put(inbox, logs=(sample_log(), sample_log())).logs == 2
    assert _put(inbox, logs=(sample_log(), sample_log())).duplicate_logs == 2
    assert len(inbox.read([TraceKey("", TRACE)])[1]) == 2


def tenants_do_not_meet(inbox: Inbox, _clock: Clock) -> None:
    """The same ids of two tenants are two spans."""
    assert _put(inbox, sample_span(1), tenant="a").spans == 1
    assert _put(inbox, sample_span(1), tenant="b").spans == 1
    assert len(inbox.read([TraceKey("a", TRACE)])[0]) == 1


def a_trace_knows_when_its_root_has_ended(inbox: Inbox, clock: Clock) -> None:
    """A child or a root without an end does not make it so."""
    _put(inbox, sample_span(2), sample_span(1, end=0))
    assert not _state(inbox).ended
    _put(inbox, sample_span(1))
    state = _state(inbox)
    assert (state.ended, state.start, state.end, state.spans, state.arrived) == (True, 1001, 2002, 2, clock.now)


def what_is_sealed_is_pending_again_when_something_comes(inbox: Inbox, _clock: Clock) -> None:
    """Also what came while it was sealed."""
    _put(inbox, sample_span(1))
    seen = _state(inbox)
    _put(inbox, sample_span(2))
    inbox.mark(Sealed(run="ab", traces={seen.key: seen.newest}))
    assert [state.run for state in inbox.pending()] == ["ab"]
    _seal(inbox, "ab")
    assert inbox.pending() == []


def a_run_that_lost_its_last_trace_is_named(inbox: Inbox, _clock: Clock) -> None:
    """So that its cassette can be set aside."""
    other = sample_span(1, trace_id=OTHER)
    _put(inbox, sample_span(1), other)
    assert _seal(inbox, "aa", TRACE) == []
    assert _seal(inbox, "bb", OTHER) == []
    assert _seal(inbox, "bb", TRACE, OTHER) == ["aa"]
    assert _seal(inbox, "bb", TRACE, OTHER) == []


def what_another_trace_left_is_pending_again(inbox: Inbox, _clock: Clock) -> None:
    """The cassette of its run holds a trace that belongs to another one now."""
    _put(inbox, sample_span(1), sample_span(1, trace_id=OTHER))
    _seal(inbox, "aa", TRACE, OTHER)
    assert _seal(inbox, "bb", OTHER) == []
    assert [state.key.trace_id for state in inbox.pending()] == [TRACE]
    _seal(inbox, "aa", TRACE)
    assert inbox.pending() == []


def what_comes_after_the_release_is_late(inbox: Inbox, clock: Clock) -> None:
    """But a redelivery of what was held is still known as one; and what is pending is never given up."""
    _put(inbox, sample_span(1), logs=(sample_log(),))
    _put(inbox, sample_span(1, trace_id=OTHER))
    _seal(inbox, "ab")
    assert inbox.release(clock.now + 1) == 1
    receipt = _put(inbox, sample_span(1), sample_span(2), logs=(sample_log(), sample_log("more")))
    assert (receipt.duplicate_spans, receipt.late_spans, receipt.duplicate_logs, receipt.late_logs) == (1, 1, 1, 1)
    assert receipt.spans == receipt.logs == 0
    assert inbox.read([TraceKey("", TRACE)]) == ([], [])
    assert [state.key.trace_id for state in inbox.recent(0, 10)] == [OTHER]
    assert inbox.release(clock.now + 1) == 0


def a_run_is_held_and_found_as_a_whole(inbox: Inbox, clock: Clock) -> None:
    """What comes late to one of its traces revises all of it: the others are there, however long nothing came for them."""
    _put(inbox, sample_span(1), sample_span(1, trace_id=OTHER))
    _seal(inbox, "ab", TRACE, OTHER)
    clock.now += 10
    _put(inbox, sample_span(2))
    assert {state.key.trace_id for state in inbox.recent(clock.now, 10)} == {TRACE, OTHER}
    assert inbox.release(clock.now) == 0
    _seal(inbox, "ab", TRACE)
    assert {state.key.trace_id for state in inbox.recent(clock.now, 1)} == {TRACE, OTHER}
    assert inbox.recent(clock.now + 1, 10) == []
    assert inbox.release(clock.now) == 0
    assert inbox.release(clock.now + 1) == 2


def recent_traces_are_bounded_and_pending_ones_always_there(inbox: Inbox, clock: Clock) -> None:
    """The newest first to be kept."""
    for number in range(4):
        clock.now += 10
        _put(inbox, sample_span(1, trace_id=f"{number + 1:032x}"))
    _seal(inbox, "ab", f"{3:032x}")
    _seal(inbox, "cd", f"{4:032x}")
    assert {state.key.trace_id[-1] for state in inbox.recent(clock.now, 1)} == {"1", "2", "4"}
    assert [state.key.trace_id[-1] for state in inbox.pending()] == ["1", "2"]


def facts_are_kept(inbox: Inbox, _clock: Clock) -> None:
    """And replaced."""
    inbox.note({"one": "1", "two": "2"})
    inbox.note({"two": "3"})
    assert {name: inbox.facts()[name] for name in ("one", "two")} == {"one": "1", "two": "3"}


def orders_are_answered_once(inbox: Inbox, _clock: Clock) -> None:
    """And then forgotten."""
    first, second = inbox.order("ab"), inbox.order("")
    assert [(order.number, order.run) for order in inbox.orders()] == [(first, "ab"), (second, "")]
    assert inbox.answer(first) is None
    inbox.fulfil(first, {"runs": []})
    assert [order.number for order in inbox.orders()] == [second]
    assert inbox.answer(first) == {"runs": []}
    assert inbox.answer(first) is None


Check = Callable[[Inbox, Clock], None]
INBOX_CHECKS: tuple[Check, ...] = (
    what_is_put_is_read_back,
    a_redelivery_adds_nothing,
    a_redelivery_in_one_round_adds_nothing,
    another_content_under_a_known_id_is_kept_beside_it,
    an_equal_span_in_another_order_counts_as_a_duplicate_and_is_kept,
    equal_log_records_of_one_request_are_several,
    tenants_do_not_meet,
    a_trace_knows_when_its_root_has_ended,
    what_is_sealed_is_pending_again_when_something_comes,
    a_run_that_lost_its_last_trace_is_named,
    what_comes_after_the_release_is_late,
    what_another_trace_left_is_pending_again,
    a_run_is_held_and_found_as_a_whole,
    recent_traces_are_bounded_and_pending_ones_always_there,
    facts_are_kept,
    orders_are_answered_once,
)
