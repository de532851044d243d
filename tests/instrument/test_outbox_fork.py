"""Forked children export what is theirs, and nothing hangs."""

import os
import signal

import pytest

from tests.instrument.program import finish


@pytest.mark.parametrize("how", ["os._exit(0)", "sys.exit(0)"])
def test_every_span_of_every_forked_child_arrives(how, any_lab, any_sink):
    """Two children, five spans each; the parent has sent before and sends after."""
    any_lab.run(
        f"""
        configure()
        def spans(who):
            for n in range(5):
                with tracer.start_as_current_span(f"{{who}} {{n}}"):
                    pass
        spans("before"); otelreplay.flush()
        for child in range(2):
            if os.fork() == 0:
                spans(f"child {{child}}")
                print(otelreplay.flush().complete, flush=True)
                {how}
        assert [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)] == [0, 0]
        spans("after")
        """
    )
    wanted = [f"{who} {n}" for who in ("before", "child 0", "child 1", "after") for n in range(5)]
    assert sorted(wanted) == any_sink.names()
    assert [] == any_lab.left() or "os._exit" in how


def test_forks_while_spans_are_recorded_and_sent_neither_hang_nor_lose_any(lab, sink):
    """Threads record all the time, requests are slow, and each child records at once."""
    sink.reply = type(sink.reply)(delay=0.02)
    done = lab.run(
        """
        configure()
        stop = threading.Event()
        made = [0] * 3
        def work(k):
            while not stop.is_set():
                with tracer.start_as_current_span("parent") as span:
                    span.set_attribute("text", "word " * 100)
                made[k] += 1
                time.sleep(0.001)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        [t.start() for t in threads]
        for n in range(10):
            if os.fork() == 0:
                with tracer.start_as_current_span("child"):
                    pass
                os._exit(0 if otelreplay.flush().complete else 9)
            time.sleep(0.02)
        codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(10)]
        stop.set(); [t.join() for t in threads]
        assert codes == [0] * 10, codes
        done = otelreplay.flush(timeout=30)
        assert done.complete and done.sent == sum(made), (done, made)
        print(done.sent)
        """
    )
    keys = {span.key: span.name for span in sink.spans()}  # a request that a fork cut short has been sent again
    assert [10, int(done.out)] == [list(keys.values()).count(name) for name in ("child", "parent")]


def test_a_span_that_began_in_the_parent_is_not_the_child_s_to_end(lab, sink):
    lab.run(
        """
        configure()
        with tracer.start_as_current_span("root"):
            if os.fork() == 0:
                with tracer.start_as_current_span("child"):
                    pass
                sys.exit(0)
            os.wait()
            time.sleep(0.01)
            with tracer.start_as_current_span("after"):
                pass
        """
    )
    ended = [span for span in sink.spans() if span.end]
    assert ["after", "child", "root"] == sorted(span.name for span in ended)
    by_name = {span.name: span for span in ended}
    assert by_name["root"].end >= by_name["after"].end


def test_children_of_children_export_too(lab, sink):
    lab.run(
        """
        configure()
        def down(level):
            with tracer.start_as_current_span(f"level {level}"):
                pass
            if level < 3 and os.fork() == 0:
                down(level + 1)
                sys.exit(0)
            if level < 3:
                os.wait()
        down(0)
        """
    )
    assert [f"level {n}" for n in range(4)] == sink.names()


def test_ids_of_forked_children_differ(lab, sink):
    lab.run(
        """
        configure()
        for _ in range(4):
            if os.fork() == 0:
                with tracer.start_as_current_span("child"):
                    pass
                sys.exit(0)
        [os.wait() for _ in range(4)]
        """
    )
    assert 4 == len({span.trace_id for span in sink.spans()}) == len({span.span_id for span in sink.spans()})


def test_what_a_killed_parent_left_is_sent_while_its_child_lives_on(lab, sink):
    """The child holds no lock of its parent's."""
    process = lab.start(
        """
        configure()
        with tracer.start_as_current_span("parent"):
            pass
        otelreplay.flush()
        child = os.fork()
        if child == 0:
            os.close(1); os.close(2)
            time.sleep(60)
            os._exit(0)
        with tracer.start_as_current_span("after the fork"):
            pass
        otelreplay.flush()
        print(child, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        url="http://127.0.0.1:1",
    )
    done = finish(process, expect=-signal.SIGKILL)
    child = int(done.out)
    try:
        lab.redirect("http://127.0.0.1:1", sink.url)
        lab.deliver()
        assert ["after the fork", "parent"] == sink.names()
    finally:
        os.kill(child, signal.SIGKILL)
