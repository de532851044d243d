"""The conversion as a function of values: batches in, cassettes in a store, counts out."""

import io
import json
import random
import threading
import time

import pytest

from otelreplay.canonical import dumps
from otelreplay.cassette import Signer, read_cassette, verify_cassette
from otelreplay.cassette.keys import TrustStore
from otelreplay.cassette.store import MemoryStore
from otelreplay.errors import InputError
from otelreplay.events import Recording
from otelreplay.pipeline.convert import convert, untold
from otelreplay.pipeline.result import REJECTED_KEPT
from otelreplay.pipeline.shelf import AT_ONCE, REASON, RECORDS_AT_ONCE, Shelf
from otelreplay.pipeline.spool import Spool
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy, off_policy
from otelreplay.report.event import event_json
from otelreplay.spans import Batch, LogRecord, Rejected, Span

SIGNER = Signer(b"s" * 32)
KEY = PseudonymKey(secret=b"k" * 32)
TRACE, OTHER = "0" * 31 + "1", "0" * 31 + "2"
MAIL = "jane.doe@example.org"


def message(role, text):
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def chat(trace=TRACE, ident="a" * 16, *, start=10, parent="", history=(), reply="Hello.", **more):
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.response.id": f"r-{trace[-1]}-{ident[-1]}",
        "gen_ai.input.messages": json.dumps(list(history) or [message("user", "Hi")]),
        "gen_ai.output.messages": json.dumps([{**message("assistant", reply), "finish_reason": "stop"}]),
        **more,
    }
    return Span(
        trace_id=trace, span_id=ident, parent_span_id=parent, name="chat m", start=start, end=start + 5, attributes=attributes
    )


def note(n=0, trace=TRACE, ident="a" * 16):
    return LogRecord(trace_id=trace, span_id=ident, time=11 + n, event_name="app.note", body=f"note {n}")


class Bench:
    """A store, and conversions into it."""

    def __init__(self, tmp_path, store=None):
        self.folder, self.store = tmp_path, store or MemoryStore()
        self.made = 0

    def convert(self, *batches, policy=None, one_run=False, budget=1 << 20, on_run=untold, **facts):
        self.made += 1
        shelf = Shelf(self.store, signer=SIGNER, created=lambda: f"2030-01-01T00:00:{self.made:02}Z", facts=facts)
        redactor = compile_policy(policy or default_policy(), key=KEY)
        with Spool(self.folder, memory_budget=budget) as spool:
            return convert(batches, redactor=redactor, spool=spool, shelf=shelf, one_run=one_run, on_run=on_run)

    def cassettes(self):
        return [read_cassette(self.store.open(entry.name)) for entry in self.store.list()]

    def lines(self):
        return {c.header.run_id: [dumps(event_json(e)) for e in c.events] for c in self.cassettes()}


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def batch(*items):
    spans = tuple(i for i in items if isinstance(i, Span))
    return Batch(spans=spans, logs=tuple(i for i in items if isinstance(i, LogRecord)))


def test_each_trace_is_a_run_that_is_sealed_and_verifies(bench):
    result = bench.convert(batch(chat(), chat(OTHER, start=900)))
    assert ["written", "written"] == [run.outcome for run in result.runs]
    for entry in bench.store.list():
        assert verify_cassette(bench.store.open(entry.name), trust=TrustStore([SIGNER.public])).ok


def test_it_tells_how_many_of_the_runs_are_rebuilt(bench):
    told = []
    bench.convert(batch(chat(), chat(OTHER, start=900)), on_run=lambda done, total: told.append((done, total)))
    assert [(0, 2), (1, 2), (2, 2)] == told


def test_every_event_of_a_boundary_has_its_matching_keys(bench):
    bench.convert(batch(chat()))
    (event,) = bench.cassettes()[0].events
    assert {"model", "messages"} <= event.request_keys.keys()
    assert event.request_hash.startswith("sha256:")


def test_the_runs_stand_in_the_order_of_their_start(bench):
    result = bench.convert(batch(chat(TRACE, start=900), chat(OTHER, start=10)))
    held = {c.header.run_id: c.header.trace_ids for c in bench.cassettes()}
    assert [(OTHER,), (TRACE,)] == [held[run.run_id] for run in result.runs]


def test_what_the_policy_removes_is_in_no_spooled_and_no_stored_byte(bench):
    written = []

    class Watched(MemoryStore):
        def put(self, lines):
            kept = list(lines)
            written.extend(kept)
            return super().put(kept)

    bench.store = Watched()
    spooled = Spool.add
    seen = []

    def add(self, spans, logs=()):
        spans, logs = list(spans), list(logs)
        seen.append(repr((spans, logs)))
        spooled(self, spans, logs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spool, "add", add)
        bench.convert(batch(chat(history=[message("user", f"I am {MAIL}")]), note()), batch(LogRecord(body=MAIL)))
    assert seen
    assert written
    assert not any(MAIL in text for text in seen)
    assert not any(MAIL.encode() in line for line in written)


def test_the_header_holds_the_placeholders_of_its_own_run_alone(bench):
    bench.convert(batch(chat(history=[message("user", f"I am {MAIL}")]), chat(OTHER, start=900)))
    first, second = sorted(bench.cassettes(), key=lambda c: c.header.trace_ids)
    assert ["email"] == [p["rule"] for p in first.header.placeholders]
    assert [] == second.header.placeholders


def test_the_seal_says_how_complete_the_run_is(bench):
    bench.convert(batch(chat()))
    (held,) = bench.cassettes()
    assert ("full", 0) == (held.summary["verdict"], held.summary["gaps"])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("budget", [1, 1 << 20])
def test_any_order_split_and_repetition_and_any_memory_gives_the_same_events(seed, budget, tmp_path):
    items = [chat(ident=c * 16, start=10 * n, parent="f" * 16) for n, c in enumerate("abcd")]
    items += [Span(trace_id=TRACE, span_id="f" * 16, name="run", start=1, end=99), chat(OTHER), *map(note, range(3))]
    straight = Bench(tmp_path)
    straight.convert(batch(*items))
    rng = random.Random(seed)
    mixed = [*items, *rng.sample(items, 4)]
    rng.shuffle(mixed)
    cuts = sorted(rng.sample(range(len(mixed)), 3))
    parts = [mixed[a:b] for a, b in zip([0, *cuts], [*cuts, len(mixed)], strict=True)]
    other = Bench(tmp_path)
    other.convert(*(batch(*part) for part in parts), budget=budget)
    assert straight.lines() == other.lines()


def test_calls_that_go_on_from_one_another_are_one_run_however_often_they_came(bench):
    first = chat(TRACE, reply="Hello.")
    second = chat(OTHER, start=900, history=[message("user", "Hi"), message("assistant", "Hello."), message("user", "And?")])
    result = bench.convert(*(batch(first) for _ in range(9)), batch(second))
    assert 1 == len(result.runs)
    assert (TRACE, OTHER) == bench.cassettes()[0].header.trace_ids


def test_with_one_run_all_traces_and_loose_records_are_one(bench):
    result = bench.convert(batch(chat(), chat(OTHER, start=900), LogRecord(body="loose")), one_run=True)
    assert 1 == len(result.runs)
    assert 2 == len(bench.cassettes()[0].events)


def test_copies_are_counted_as_duplicates_and_differing_ones_as_conflicts(bench):
    other = chat(reply="Something else.")
    result = bench.convert(batch(chat(), chat()), batch(chat(), other))
    assert (1, 2, 1) == (result.spans, result.duplicates, result.conflicts)


def test_refusals_are_all_counted_and_the_first_are_listed(bench):
    refused = tuple(Rejected(f"x, line {n}", "bad") for n in range(REJECTED_KEPT + 5))
    result = bench.convert(batch(chat()), Batch(rejected=refused[:3]), Batch(rejected=refused[3:]))
    assert (REJECTED_KEPT + 5, refused[:REJECTED_KEPT]) == (result.rejected_total, result.rejected)


def test_refusals_that_no_list_holds_are_counted_and_put_runs_in_doubt(bench):
    result = bench.convert(batch(chat(), chat(OTHER, start=900)), Batch(unlisted=7, unlisted_traces=frozenset({OTHER})))
    assert 7 == result.rejected_total
    noted = {c.header.trace_ids: [note.code for note in c.notes] for c in bench.cassettes()}
    assert {(TRACE,): [], (OTHER,): ["input_refused"]} == noted


def test_more_doubtful_traces_than_are_told_apart_put_all_runs_in_doubt(bench, monkeypatch):
    monkeypatch.setattr("otelreplay.pipeline.intake._DOUBTS", 1)
    refused = (Rejected("x", "bad", OTHER), Rejected("x", "bad", "3" * 32))
    bench.convert(batch(chat(), chat(OTHER, start=900), chat("3" * 32, start=1900)), Batch(rejected=refused))
    assert [["input_refused"]] * 3 == [[note.code for note in c.notes] for c in bench.cassettes()]


@pytest.mark.parametrize(
    ("batches", "code"),
    [
        ([], "trace.empty"),
        ([Batch()], "trace.empty"),
        ([Batch(logs=(LogRecord(body="loose"),))], "trace.empty"),
        ([Batch(rejected=(Rejected("x, line 1", "no trace id"),))], "trace.nothing_readable"),
    ],
)
def test_input_without_any_run_is_an_error(batches, code, bench):
    with pytest.raises(InputError) as caught:
        bench.convert(*batches)
    assert code == caught.value.code
    assert not bench.store.list()


def test_log_records_of_a_trace_without_spans_are_a_run(bench):
    result = bench.convert(batch(note()))
    assert (1, 0, 1) == (len(result.runs), result.spans, result.logs)
    assert bench.cassettes()[0].events


def test_many_runs_are_stored_in_order_and_all_of_them(bench):
    result = bench.convert(batch(*(chat(f"{n:032x}", start=n * 100) for n in range(1, 40))))
    assert 39 == len({run.cassette for run in result.runs}) == len(bench.store.list())
    starts = {c.header.run_id: c.events[0].start for c in bench.cassettes()}
    assert [str(n * 100) for n in range(1, 40)] == [starts[run.run_id] for run in result.runs]


def test_a_store_that_fails_ends_the_conversion_with_its_error(bench):
    class Full(MemoryStore):
        def put(self, lines):
            if len(self.list()) == 2:
                raise OSError(28, "No space left on device")
            return super().put(lines)

    bench.store = Full()
    with pytest.raises(OSError, match="No space"):
        bench.convert(batch(*(chat(f"{n:032x}", start=n * 100) for n in range(1, 9))))
    assert 2 == len(bench.store.list())


@pytest.mark.parametrize(("spans", "most"), [(1, AT_ONCE), (RECORDS_AT_ONCE // 2, 2), (RECORDS_AT_ONCE + 1, 1)])
def test_as_many_runs_are_stored_at_once_as_are_small_enough(spans, most, bench):
    gate, now, peak = threading.Lock(), 0, 0

    class Slow(MemoryStore):
        def put(self, lines):
            nonlocal now, peak
            with gate:
                now += 1
                peak = max(peak, now)
            time.sleep(0.05)
            with gate:
                now -= 1
                return super().put(lines)

    shelf = Shelf(Slow(), signer=SIGNER, created=lambda: "2030-01-01T00:00:00Z", facts={})
    recordings = [Recording(run_id=f"{n:x}", trace_ids=(), events=(), span_count=spans) for n in range(1, 9)]
    assert [f"{n:x}" for n in range(1, 9)] == [run.run_id for run in shelf.put_all((r, ()) for r in recordings)]
    assert most == peak


# --- the shelf ------------------------------------------------------------------------------------------------------------


def test_an_equal_cassette_is_left_alone(bench):
    bench.convert(batch(chat()), source={"files": ["a"]})
    before = bench.store.open(bench.store.list()[0].name).read()
    (run,) = bench.convert(batch(chat()), source={"files": ["b"]}).runs
    assert ("unchanged", 1, None) == (run.outcome, run.revision, run.superseded)
    assert before == bench.store.open(run.cassette).read()


def test_late_spans_make_a_revision_that_names_the_one_before(bench):
    root = Span(trace_id=TRACE, span_id="f" * 16, name="run", start=1, end=99)
    bench.convert(batch(root))
    (old,) = bench.cassettes()
    (run,) = bench.convert(batch(root, chat(parent="f" * 16))).runs
    (new,) = bench.cassettes()
    assert ("revised", 2) == (run.outcome, run.revision)
    assert (old.seal.root, "revision", REASON) == (new.header.parent.root, new.header.parent.kind, new.header.parent.reason)
    assert old == read_cassette(bench.store.open(run.superseded))


def test_another_policy_makes_a_revision(bench):
    bench.convert(batch(chat()))
    (run,) = bench.convert(batch(chat()), policy=off_policy(), policy_digest="sha256:0").runs
    assert "revised" == run.outcome


def test_revisions_go_on_and_equal_ones_of_a_revision_are_left_alone(bench):
    one, two = batch(chat()), batch(chat(reply="Other."))
    outcomes = [bench.convert(part).runs[0] for part in (one, two, two, one)]
    assert [("written", 1), ("revised", 2), ("unchanged", 2), ("revised", 3)] == [(r.outcome, r.revision) for r in outcomes]
    assert 3 == len(bench.store.list(superseded=True))


def test_a_damaged_cassette_of_the_run_stops_the_conversion_and_is_not_replaced(bench):
    bench.convert(batch(chat()))
    name = bench.store.list()[0].name
    damaged = bench.store.open(name).read().replace(b"Hello", b"Hullo")
    bench.store._current[name] = damaged
    with pytest.raises(Exception, match="seal"):
        bench.convert(batch(chat()))
    assert damaged == io.BytesIO(bench.store.open(name).read()).read()
