"""One run that cannot be assembled, or a moment at which the process dies, costs no other run and doubles none."""

import time

import msgspec
import pytest

from otelreplay.cassette.directory import DirectoryStore
from otelreplay.errors import UsageError
from otelreplay.receiver import assembler
from otelreplay.reconstruct import reconstruct
from otelreplay.testing.inboxes import sample_span
from otelreplay.wiring.serving import seal_store
from tests.cli import traces
from tests.receiver.posts import cassettes, served
from tests.receiver.test_runs import RUN, lone, only
from tests.reconstruct.builders import ASK, CALL, DONE, TOLD

OTHER = "ab" * 16


def test_an_order_for_one_run_is_answered_although_another_is_damaged(tmp_path):
    """And what is due is sealed afterwards: an order that cannot be carried out must not stand before everything else."""
    with served(tmp_path) as post:
        post.json(traces.request(*RUN))
        post.receiver._inbox._writer.execute("UPDATE frames SET checksum = 0")
        post.json(traces.request(*traces.agent_run(OTHER)))
        with pytest.raises(UsageError) as error:
            seal_store(tmp_path, run="cd" * 16, policy=None, wait=5)
        assert error.value.code == "seal.unknown_run"
        (run,) = seal_store(tmp_path, run=OTHER, policy=None, wait=5)["runs"]
        assert run["outcome"] == "written"


def test_a_fault_of_ours_in_one_run_keeps_no_other_from_being_sealed(tmp_path, monkeypatch):
    """It is said without quoting anything, the end of the process is an orderly one, and the run waits in the inbox."""

    def faulty(spans, logs, **more):
        if any(span.trace_id == OTHER for span in spans):
            raise ValueError("jane.doe@example.org")
        return real(spans, logs, **more)

    real = reconstruct
    with monkeypatch.context() as patch, served(tmp_path, quiet=0.1) as post:
        patch.setattr(assembler, "reconstruct", faulty)
        post.json(traces.request(*traces.agent_run(OTHER)))
        post.json(traces.request(*RUN))
        post.until(lambda: len(post.cassettes()) == 1)
        (problem,) = seal_store(tmp_path, run="", policy=None, wait=10)["problems"]
    assert "ValueError" in problem
    assert "jane" not in " ".join([problem, *post.said])
    with served(tmp_path, quiet=0.1) as post:
        post.until(lambda: len(post.cassettes()) == 2)


def test_a_kill_before_a_piece_is_set_aside_leaves_it_in_one_cassette(tmp_path, monkeypatch):
    """At whatever step of sealing the process dies, the next start finishes what is left of it."""
    pieces = lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE)
    dead = False

    def dies(self, run):
        nonlocal dead
        dead = True
        raise SystemExit

    with monkeypatch.context() as patch, pytest.raises(SystemExit), served(tmp_path) as post:  # noqa: PT012 - it is the end that dies
        post.sent(pieces[1])
        seal_store(tmp_path, run="", policy=None, wait=20)
        post.sent(pieces[0])
        patch.setattr("otelreplay.cassette.directory.DirectoryStore.set_aside", dies)
    assert dead
    assert len(cassettes(tmp_path)) == 2
    with served(tmp_path, quiet=0.1) as post:
        post.until(lambda: len(post.cassettes()) == 1)
    assert [event.kind for event in only(tmp_path)[1].events] == ["model", "tool", "model"]


def test_what_comes_late_to_one_trace_of_a_run_revises_all_of_it_however_old_the_others_are(tmp_path, monkeypatch):
    """A conversation that went on in several traces, one of which gets a late span hours afterwards."""
    pieces = lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE)
    with served(tmp_path) as post:
        post.sent(*pieces)
        seal_store(tmp_path, run="", policy=None, wait=20)
    with monkeypatch.context() as patch, served(tmp_path) as post:
        patch.setattr(assembler, "WINDOW", 0)
        post.sent(msgspec.structs.replace(pieces[1], name="other"))  # a conflict
        seal_store(tmp_path, run="", policy=None, wait=20)
        cassette = only(tmp_path)[1]
        assert (cassette.header.revision, len(cassette.header.trace_ids)) == (2, 2)
        assert {span.split("/")[0] for event in cassette.events for span in event.spans} == {p.trace_id for p in pieces}


def test_a_run_that_cannot_be_assembled_is_tried_ever_more_seldom(tmp_path, monkeypatch):
    """Not five times a second, for ever: and at once when something new comes to it."""
    tried = []

    def faulty(spans, logs, **more):
        tried.append(1)
        raise ValueError

    with monkeypatch.context() as patch, served(tmp_path, quiet=0) as post:
        patch.setattr(assembler, "reconstruct", faulty)
        post.json(traces.request(*RUN[:3]))
        post.until(lambda: tried)
        time.sleep(2.0)
        assert 1 <= len(tried) <= 3
        before = len(tried)
        post.json(traces.request(*RUN))
        post.until(lambda: len(tried) > before, seconds=1.5)


def test_a_trace_that_turns_out_to_be_no_piece_of_a_run_is_in_one_cassette_again(tmp_path):
    """A late span shows that it was more than one call: each span is in just one current cassette, and none is lost."""
    pieces = lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE)
    late = sample_span(7, trace_id=pieces[1].trace_id, parent_span_id=pieces[1].span_id)
    with served(tmp_path) as post:
        for number, spans in enumerate([pieces[1:], pieces[:1], [late]], 1):
            post.sent(*spans)
            seal_store(tmp_path, run="", policy=None, wait=20)
            assert len(post.cassettes()) == (1 if number < 3 else 2)
    held = [span for cassette in cassettes(tmp_path).values() for event in cassette.events for span in event.spans]
    assert sorted(held) == sorted([pieces[0].key, pieces[1].key, late.key])
    assert {entry.name for entry in DirectoryStore(tmp_path).list()} == set(cassettes(tmp_path))
