"""SIGKILL at any moment: what was committed arrives, once the next process comes; what never ended is seen as that."""

import random
import signal
import time

import pytest

from tests.instrument.program import finish, wait_for

DEAD = "http://127.0.0.1:1"


def kill(process):
    process.send_signal(signal.SIGKILL)
    return finish(process, expect=-signal.SIGKILL)


def test_calls_that_ended_are_kept_and_those_under_way_are_seen_as_never_ended(lab, sink):
    """The program is killed in the third of five calls."""
    process = lab.start(
        """
        configure()
        with tracer.start_as_current_span("root"):
            for n in range(5):
                with tracer.start_as_current_span(f"call {n}") as span:
                    span.set_attribute("asked", n)
                    if n == 2:
                        time.sleep(0.2); print("there", flush=True); time.sleep(60)
        """,
        url=DEAD,
    )
    assert "there\n" == process.stdout.readline()
    kill(process)
    lab.redirect(DEAD, sink.url)
    lab.deliver()
    found = {span.name: span for span in sink.spans()}
    assert {"call 0": True, "call 1": True, "call 2": False, "root": False} == {
        name: span.end > 0 for name, span in found.items()
    }
    assert found["root"].span_id == found["call 2"].parent_span_id
    assert [] == lab.left()


@pytest.mark.parametrize("seed", range(4))
def test_no_span_that_flush_called_committed_is_lost_to_a_kill_at_a_random_moment(seed, lab, sink):
    """The program says which spans a flush has returned for; the receiver answers slowly, so that kills fall in between."""
    sink.reply = type(sink.reply)(delay=0.01)
    process = lab.start(
        """
        configure(quiet=True)
        for run in range(10_000):
            with tracer.start_as_current_span(f"run {run}"):
                for n in range(5):
                    with tracer.start_as_current_span(f"run {run} call {n}") as span:
                        span.set_attribute("text", "word " * 100)
            otelreplay.flush()
            print(run, flush=True)
        """
    )
    process.stdout.readline()
    time.sleep(random.Random(seed).uniform(0.0, 0.7))
    done = kill(process)
    runs = [0, *(int(line) for line in done.out.split())]
    lab.deliver()
    expected = {name for run in runs for name in (f"run {run}", *(f"run {run} call {n}" for n in range(5)))}
    ended = [span for span in sink.spans() if span.end]
    assert set() == expected - {span.name for span in ended}
    by_id = {span.key: span for span in ended}
    assert len(by_id) == len({span.name for span in by_id.values()})
    assert [] == lab.left()


def test_a_span_is_on_disk_within_moments_of_its_end(lab):
    """Without any flush: the process is killed as soon as its outbox holds something."""
    process = lab.start("configure()\nwith tracer.start_as_current_span('only'):\n    pass\ntime.sleep(60)", url=DEAD)
    wait_for(lambda: any(b"only" in data for data in lab.bytes_on_disk().values()))
    kill(process)


def test_two_processes_that_come_at_once_send_what_is_left_behind_once(lab, sink):
    process = lab.start(
        """
        configure()
        for n in range(50):
            with tracer.start_as_current_span(f"span {n}"):
                pass
        otelreplay.flush(); print("there", flush=True); time.sleep(60)
        """,
        url=DEAD,
    )
    process.stdout.readline()
    kill(process)
    lab.redirect(DEAD, sink.url)
    others = [lab.start("configure(); time.sleep(1)") for _ in range(3)]
    sink.wait(50)
    for other in others:
        finish(other)
    assert sorted(f"span {n}" for n in range(50)) == sink.names()
    assert [] == lab.left()


def test_a_living_process_sends_what_another_left_behind(lab, sink):
    process = lab.start("configure()\ntracer.start_span('open')\ntime.sleep(0.2); print('there', flush=True); time.sleep(60)")
    process.stdout.readline()
    kill(process)
    living = lab.start("configure(); time.sleep(60)")
    sink.wait(1)
    living.kill()
    finish(living, expect=-signal.SIGKILL)
    assert ["open"] == sink.names()


def test_a_damaged_outbox_is_put_aside_and_costs_nothing_else(lab, sink):
    lab.run("configure()\nwith tracer.start_as_current_span('first'):\n    pass", url=DEAD)
    lab.run("configure()\nwith tracer.start_as_current_span('second'):\n    pass", url=DEAD)
    one, _ = lab.left()
    one.write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    lab.redirect(DEAD, sink.url)
    done = lab.deliver()
    assert "put aside" in done.err
    assert 1 == len(sink.names())
    assert [] == lab.left()
    assert 1 == len(list(lab.outbox.glob("*/*.damaged")))
