"""Every end of a process keeps every span that ended (but os._exit and SIGKILL: those keep what was committed)."""

import signal

import pytest

from tests.instrument.program import finish, wait_for

pytestmark = pytest.mark.slow

DEAD = "http://127.0.0.1:1"
SPANS = """
configure()
with tracer.start_as_current_span("root"):
    for n in range(20):
        with tracer.start_as_current_span(f"call {n}"):
            pass
"""
NAMES = sorted(["root", *(f"call {n}" for n in range(20))])

ENDS = {
    "the program ends": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "an exception": ("raise ValueError('x')", 1),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(30)", -signal.SIGTERM),
    "SIGHUP": ("os.kill(os.getpid(), signal.SIGHUP); time.sleep(30)", -signal.SIGHUP),
    "SIGINT": ("os.kill(os.getpid(), signal.SIGINT); time.sleep(30)", -signal.SIGINT),
    "SIGINT under its default action": (
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\nos.kill(os.getpid(), signal.SIGINT); time.sleep(30)",
        -signal.SIGINT,
    ),
    "a thread that is still at work": ("threading.Thread(target=time.sleep, args=(0.2,)).start()", 0),
}


def ending(how):
    body, code = ENDS[how]
    if how.endswith("default action"):
        line, rest = body.split("\n")
        return line + SPANS + rest, code
    return SPANS + body, code


@pytest.mark.parametrize("how", ENDS)
def test_every_span_that_ended_is_delivered_and_the_status_is_the_same(how, lab, sink):
    body, code = ending(how)
    lab.run(body, expect=code)
    assert NAMES == sink.names()
    assert [] == lab.left()


@pytest.mark.parametrize("how", ["the program ends", "an exception", "SIGTERM", "SIGINT"])
def test_without_a_receiver_every_span_that_ended_waits_for_the_next_process(how, lab, sink):
    body, code = ending(how)
    done = lab.run(body, url=DEAD, expect=code)
    assert "spans wait in the outbox" in done.err
    lab.redirect(DEAD, sink.url)
    assert 0 == lab.deliver().code
    assert NAMES == sink.names()
    assert [] == lab.left()


def test_os_exit_keeps_what_was_committed(lab, sink):
    lab.run(SPANS + "time.sleep(0.3); os._exit(7)", expect=7, url=DEAD)
    assert 1 == len(lab.left())


def test_a_signal_that_the_program_handles_is_left_to_it(lab, sink):
    body = (
        "def mine(number, frame):\n    print('mine'); sys.exit(5)\nsignal.signal(signal.SIGTERM, mine)\n"
        + SPANS
        + "assert signal.getsignal(signal.SIGTERM) is mine\nos.kill(os.getpid(), signal.SIGTERM); time.sleep(30)"
    )
    assert "mine" in lab.run(body, expect=5).out
    assert NAMES == sink.names()


def test_an_ignored_signal_stays_ignored(lab, sink):
    lab.run(
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        + SPANS
        + "os.kill(os.getpid(), signal.SIGHUP); time.sleep(0.1); print('on')"
    )
    assert NAMES == sink.names()


def test_no_signal_is_touched_when_asked_not_to(lab):
    lab.run("configure(signals=False)\nassert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL")


def test_a_thousand_spans_in_flight_at_the_end_are_all_kept(lab, sink):
    lab.run(
        """
        configure()
        def work(n):
            for k in range(100):
                with tracer.start_as_current_span(f"{n}.{k}") as span:
                    span.set_attribute("text", "word " * 200)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(10)]
        [t.start() for t in threads]; [t.join() for t in threads]
        """
    )
    assert sorted(f"{n}.{k}" for n in range(10) for k in range(100)) == sink.names()


def test_spans_that_end_after_the_exit_hook_are_kept_too(lab, sink):
    """A hook that was registered earlier runs later."""
    body = """
    import atexit
    def late():
        with tracer.start_as_current_span("late"):
            pass
    atexit.register(late)
    """
    lab.run(body + SPANS.replace("\n", "\n    "))
    assert [*NAMES, "late"] == sorted(sink.names(), key=lambda n: (n == "late", n))
    assert [] == lab.left()


def test_an_open_span_is_sent_without_an_end(lab, sink):
    lab.run("configure()\nspan = tracer.start_span('open')\nwith tracer.start_as_current_span('closed'):\n    pass")
    assert {"open": 0, "closed": 1} == {span.name: int(span.end > 0) for span in sink.spans()}


def test_the_end_does_not_wait_for_a_receiver_that_hangs(lab, sink):
    """The receiver answers after 30 s; the process is gone long before."""
    sink.reply = type(sink.reply)(delay=30.0)
    process = lab.start("configure(exit_timeout=0.5)" + SPANS.replace("configure()", ""))
    done = finish(process, timeout=15)
    assert "spans wait in the outbox" in done.err
    sink.reply = type(sink.reply)()


def test_what_is_lost_without_an_outbox_is_said(lab):
    done = lab.run(SPANS.replace("configure()", "configure(durable=False)"), url=DEAD)
    assert "21 spans were not delivered and are lost with this process" in done.err
    assert not lab.outbox.exists()


def test_the_end_of_a_multiprocessing_child_keeps_its_spans(lab, sink):
    path = lab.folder / "work.py"
    path.write_text("from opentelemetry import trace\ndef job(n):\n"
                    "    with trace.get_tracer('w').start_as_current_span(f'child {n}'):\n        pass\n")  # fmt: skip
    for method in ("fork", "spawn", "forkserver"):
        lab.run(
            f"""
            import multiprocessing, work
            configure()
            if __name__ == "__main__":
                context = multiprocessing.get_context({method!r})
                children = [context.Process(target=work.job, args=(n,)) for n in range(2)]
                [c.start() for c in children]; [c.join() for c in children]
                assert [c.exitcode for c in children] == [0, 0]
            """
        )
        names = [span.name for span in sink.wait(2)]
        assert ["child 0", "child 1"] == sorted(names), method
        sink.taken.clear()
    wait_for(lambda: lab.left() == [])
