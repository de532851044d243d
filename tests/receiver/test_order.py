"""I7: whatever way the same spans come (a file, or requests in any order, split, repeated), the events are the same bytes."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.cassette import Signer, read_cassette
from otelreplay.cassette.store import MemoryStore
from otelreplay.inputs import read_batches
from otelreplay.pipeline.convert import convert
from otelreplay.pipeline.shelf import Shelf
from otelreplay.pipeline.spool import Spool
from otelreplay.receiver.assembler import Assembler, Desk
from otelreplay.receiver.budget import Budget
from otelreplay.receiver.committer import Committer
from otelreplay.receiver.counters import Counters
from otelreplay.receiver.door import Door, Request
from otelreplay.receiver.memory import MemoryInbox
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
from otelreplay.testing.inboxes import Clock
from tests.inputs import otlp
from tests.receiver.test_runs import lone
from tests.reconstruct.builders import ASK, CALL, DONE, TOLD, agent, model, tool

SIGNER = Signer(b"s" * 32)
REDACTOR = compile_policy(default_policy(), key=PseudonymKey(secret=b"k" * 32))


def shelf(store):
    return Shelf(store, signer=SIGNER, created=lambda: "2026-01-01T00:00:00Z", facts={})


def bodies(store):
    """Name of the run to the lines between header and seal of its current cassette."""
    return {entry.run_id: store.open(entry.name).read().splitlines()[1:-1] for entry in store.list()}


def converted(spans, logs, folder):
    store = MemoryStore()
    parts = [otlp.traces_data(spans)] + ([otlp.logs_data(logs)] if logs else [])
    batches = [batch for part in parts for batch in read_batches(io.BytesIO(part), name="x")]
    with Spool(folder) as spool:
        convert(batches, redactor=REDACTOR, spool=spool, shelf=shelf(store))
    return bodies(store)


class Line:
    """The receiver without its sockets and threads."""

    def __init__(self):
        clock = Clock()
        self.store, self.inbox = MemoryStore(), MemoryInbox(clock=clock)
        self.committer = Committer(self.inbox)
        self.door = Door(self.committer, redactor_of=lambda _: REDACTOR, counters=Counters(), budget=Budget(1 << 30))
        self.desk = Desk(REDACTOR, shelf(self.store))
        self.assembler = Assembler(self.inbox, desk_of=lambda _: self.desk, store=self.store, counters=Counters(), clock=clock)

    def take(self, body, signal):
        assert self.door.take(Request(signal=signal, form="protobuf", encoding="identity", body=body)).rejected == 0

    def seal(self):
        assert self.assembler.seal(lambda _: True).problems == ()

    def current(self):
        """Runs that are not set aside."""
        return {
            run: lines
            for run, lines in bodies(self.store).items()
            if run in {e.run_id for e in self.store.list()} - self.aside()
        }

    def aside(self):
        return {entry.run_id for entry in self.store.list() if entry.name in self.store._old}


PIECES = [lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE)]
TREE = [agent(1, attrs={"user": "jane.doe@example.org"}), model(2, ASK, CALL), tool(3), model(4, [*ASK, CALL, TOLD], DONE)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("spool")


@settings(max_examples=60)
@given(data=st.data())
def test_the_same_spans_through_a_file_and_through_the_receiver_are_the_same_events(folder, data):
    """With seals in between, as late spans make them; conflicting and reordered copies included."""
    import msgspec

    spans = [*data.draw(st.sampled_from([TREE, PIECES, [*TREE, *PIECES]]))]
    if data.draw(st.booleans()):
        twin = spans[-1]
        turned = dict(reversed(twin.attributes.items()))
        spans.append(msgspec.structs.replace(twin, attributes=turned))
        spans.append(msgspec.structs.replace(twin, name="another"))
    logs = [msgspec.structs.replace(otlp_log, trace_id=spans[0].trace_id, span_id=spans[0].span_id) for otlp_log in LOGS]
    expected = converted(spans, logs, folder)
    again = data.draw(st.lists(st.sampled_from(spans), max_size=4))
    order = data.draw(st.permutations([*spans, *again]))
    line = Line()
    try:
        logs_at = data.draw(st.integers(0, len(order)))
        at = 0
        while at < len(order):
            size = data.draw(st.integers(1, 3))
            if at <= logs_at < at + size:
                line.take(otlp.logs_data(logs), "logs")
            line.take(otlp.traces_data(order[at : at + size]), "traces")
            if data.draw(st.booleans()):
                line.seal()
            at += size
        if logs_at >= len(order):
            line.take(otlp.logs_data(logs), "logs")
        line.seal()
        assert line.current() == expected
        for entry in line.store.list():
            read_cassette(line.store.open(entry.name))
    finally:
        line.committer.close()


LOGS = [otlp.LogRecord(time=5, event_name="app.note", body="a"), otlp.LogRecord(time=5, event_name="app.note", body="a")]
