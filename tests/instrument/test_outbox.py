"""The outbox: what the policy removes never comes to disk, what was recorded is not lost, and the program never waits."""

import json
import os
import stat
import time

import pytest

from otelreplay.testing.sinks import Reply, Sink

DEAD = "http://127.0.0.1:1"
SECRETS = {
    "key": "sk-proj-" + "a1B2c3D4e5" * 4,
    "mail": "jane.roe@example.com",
    "token": "ghp_" + "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8",
}


def planted(where, end):
    """A program that puts each secret into every part of a span."""
    return f"""
    secrets = {SECRETS!r}
    configure({where})
    with tracer.start_as_current_span("root") as span:
        for name, secret in secrets.items():
            with tracer.start_as_current_span("call " + secret) as call:
                call.set_attribute("said", "use " + secret + " now")
                call.set_attribute("json", '{{"deep": ["' + secret + '"]}}')
                call.set_attribute("list", ["a", secret])
                call.add_event("event", {{"text": secret}})
                call.set_status(trace.StatusCode.ERROR, "failed with " + secret)
        open_one = tracer.start_span("open", attributes={{"said": "use " + secrets["key"]}})
        otelreplay.flush()  # to nobody, but on disk
        time.sleep(0.3)
        {end}
    """


@pytest.mark.parametrize("end", ["pass", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_byte_that_the_policy_removes_reaches_the_disk(end, lab, sink):
    """Whatever file it is: database, write-ahead log, shared memory; stubs of open spans too."""
    lab.run(planted("", end), url=DEAD, expect=-9 if "KILL" in end else 0)
    files = lab.bytes_on_disk()
    assert any(b"call " in data for data in files.values()), "nothing was written, so nothing was tested"
    for name, secret in SECRETS.items():
        assert [] == [path.name for path, data in files.items() if secret.encode() in data], name
    lab.redirect(DEAD, sink.url)
    lab.deliver()
    assert 3 == sum(span.name.startswith("call ") for span in sink.spans())
    assert [] == [name for name, secret in SECRETS.items() for request in sink.taken if secret.encode() in request.data]


def test_without_an_outbox_what_is_sent_is_redacted_as_well(lab, sink):
    lab.run(planted("durable=False", "open_one.end()"))
    assert 5 == len(sink.spans())
    assert [] == [name for name, secret in SECRETS.items() for request in sink.taken if secret.encode() in request.data]


def test_only_the_user_can_read_an_outbox(lab):
    previous = os.umask(0)
    try:
        lab.run("configure()\nwith tracer.start_as_current_span('x'):\n    pass", url=DEAD)
        lab.run("configure()\nwith tracer.start_as_current_span('x'):\n    os.kill(os.getpid(), 9)", url=DEAD, expect=-9)
    finally:
        os.umask(previous)
    found = {path: stat.S_IMODE(path.stat().st_mode) for path in [lab.outbox, *lab.outbox.rglob("*")]}
    assert len(found) > 4
    assert {} == {p: oct(mode) for p, mode in found.items() if mode != (0o700 if p.is_dir() else 0o600)}


def test_an_outbox_that_others_can_read_is_refused(lab):
    lab.outbox.mkdir(mode=0o755)
    lab.outbox.chmod(0o755)
    done = lab.run("try:\n    configure()\nexcept Exception as error:\n    print(error.code)")
    assert "outbox.permissions\n" == done.out


def test_an_outbox_that_cannot_be_made_is_refused_at_start(lab):
    lab.outbox.write_text("a file")
    done = lab.run("try:\n    configure()\nexcept Exception as error:\n    print(error.code)")
    assert "outbox.unusable\n" == done.out


def test_a_dead_port_costs_the_program_next_to_nothing_and_is_reported(any_lab):
    """Four spans, a flush after each: flushing to a dead port the usual way blocks for more than a minute."""
    done = any_lab.run(
        """
        configure()
        began = time.monotonic()
        for n in range(4):
            with tracer.start_as_current_span(f"span {n}"):
                pass
            done = otelreplay.flush()
        print(time.monotonic() - began < 20.0, done.pending, done.sent, bool(done.error), done.durable)
        """,
        url=DEAD,
    )
    assert "True 4 0 True True\n" == done.out
    assert 1 == done.err.count("cannot be reached")
    assert "4 spans wait in the outbox" in done.err


def test_a_receiver_that_swallows_requests_holds_a_flush_up_once(lab, sink):
    """It never answers. The first flush waits as long as it was told to, later ones know."""
    sink.reply = Reply(delay=20.0)
    process = lab.run(
        """
        configure(exit_timeout=0.2)
        began = time.monotonic()
        with tracer.start_as_current_span("span"):
            pass
        done = otelreplay.flush(timeout=0.5)
        print(time.monotonic() - began < 5.0, done.pending)
        """
    )
    assert "True 1\n" == process.out
    sink.reply = Reply()


def test_a_flush_from_a_worker_thread_that_never_ends_delivers_its_run(lab, sink):
    process = lab.start(
        """
        configure()
        def worker():
            with tracer.start_as_current_span("run"):
                with tracer.start_as_current_span("call"):
                    pass
            print(otelreplay.flush(), flush=True)
            time.sleep(60)
        threading.Thread(target=worker).start()
        """
    )
    line = process.stdout.readline()
    assert ["call", "run"] == sink.names()
    assert "sent=2, pending=0, lost=0, open=0" in line
    process.kill()
    process.communicate()


def test_spans_are_sent_without_a_flush(lab, sink):
    process = lab.start("configure()\nwith tracer.start_as_current_span('x'):\n    pass\ntime.sleep(60)")
    assert ["x"] == [span.name for span in sink.wait(1)]
    process.kill()
    process.communicate()


def test_what_waits_is_sent_when_the_receiver_comes_back(any_lab, any_sink):
    """By the same process, without anybody asking."""
    port = any_sink.port
    any_sink.close()
    process = any_lab.start(
        """
        configure()
        for n in range(3):
            with tracer.start_as_current_span(f"span {n}"):
                pass
        print(otelreplay.flush().pending, flush=True)
        time.sleep(60)
        """
    )
    assert "3\n" == process.stdout.readline()
    with Sink(any_sink.protocol, port=port) as back:
        assert ["span 0", "span 1", "span 2"] == sorted(span.name for span in back.wait(3))
    process.kill()
    process.communicate()


def test_what_the_receiver_rejects_is_counted_and_said(any_lab, any_sink):
    any_sink.answers.append(Reply(rejected=1, message="its start is too old, says jane.roe@example.com"))
    done = any_lab.run(
        """
        configure()
        for n in range(3):
            with tracer.start_as_current_span(f"span {n}"):
                pass
        print(otelreplay.flush())
        """
    )
    assert "sent=2, pending=0, lost=1" in done.out
    assert "'outbox.rejected': 1" in done.out
    assert "did not keep 1 of 3 spans: its start is too old" in done.err
    assert "jane.roe" not in done.err


def test_one_span_that_is_refused_costs_no_other(any_lab, any_sink):
    any_sink.refuse = lambda data: Reply(status=400) if b"poison" in data else None
    done = any_lab.run(
        """
        configure()
        for n in range(20):
            with tracer.start_as_current_span("poison" if n == 7 else f"span {n}"):
                pass
        print(otelreplay.flush())
        """
    )
    assert "sent=19, pending=0, lost=1" in done.out
    assert "'outbox.refused': 1" in done.out
    assert sorted(f"span {n}" for n in range(20) if n != 7) == any_sink.names()
    assert [] == any_lab.left()


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_what_is_no_fault_of_the_data_is_kept_and_tried_again(status, any_lab, any_sink):
    any_sink.answers.append(Reply(status=status))
    done = any_lab.run(
        """
        configure()
        with tracer.start_as_current_span("x"):
            pass
        while not (done := otelreplay.flush()).complete:
            time.sleep(0.01)
        print(done.sent, done.lost)
        """
    )
    assert "1 0\n" == done.out
    assert 2 == any_sink.asked
    assert 1 == done.err.count("cannot be reached (")
    assert ["x"] == any_sink.names()


def test_a_receiver_that_asks_to_wait_is_given_time(tmp_path):
    from tests.instrument.program import Lab

    with Sink("http/protobuf") as sink:
        sink.answers.append(Reply(status=429, retry_after=2))
        lab = Lab(tmp_path, sink.url, {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"})
        process = lab.start("configure()\nwith tracer.start_as_current_span('x'):\n    pass\ntime.sleep(60)")
        while sink.asked < 1:
            time.sleep(0.01)
        asked = time.monotonic()
        sink.wait(1)
        assert time.monotonic() - asked > 1.5
        process.kill()
        process.communicate()


def test_a_full_outbox_keeps_what_came_first_and_counts_the_rest(lab, sink):
    done = lab.run(
        """
        configure(outbox_limit=400_000)
        for n in range(40):
            with tracer.start_as_current_span(f"span {n:02}") as span:
                span.set_attribute("text", os.urandom(10_000).hex())
            otelreplay.flush()
        done = otelreplay.flush()
        print(done.pending, done.lost, done.reasons)
        """,
        url=DEAD,
    )
    pending, lost = (int(n) for n in done.out.split()[:2])
    assert 40 == pending + lost
    assert 5 < pending < 25
    assert "lost (" in done.err
    assert "outbox.full" in done.err
    lab.redirect(DEAD, sink.url)
    lab.deliver()
    assert [f"span {n:02}" for n in range(pending)] == sink.names()


def test_a_disk_that_fails_costs_the_promise_and_no_span(lab, sink):
    """The folder vanishes under the program."""
    done = lab.run(
        """
        import shutil
        configure()
        shutil.rmtree(os.environ["OUTBOX"])
        for n in range(3):
            with tracer.start_as_current_span(f"span {n}"):
                pass
        print(otelreplay.flush().sent)
        """
    )
    assert "3\n" == done.out
    assert 1 == done.err.count("spans wait in memory from now on")


def test_values_that_otlp_cannot_say_arrive_as_text(lab, sink):
    lab.run(
        """
        configure()
        with tracer.start_as_current_span("odd \\ud83e name") as span:
            span.set_attribute("surrogate", "a\\ud83eb")
            span.set_attribute("nul", "a\\x00b")
            span.set_attribute("huge", 1 << 70)
            span.set_attribute("bytes", b"\\xff")
            span.set_attribute("map", {"k": [1, None, {"x": 2.5}]})
            span.set_attribute("none", None)
        """
    )
    (span,) = sink.spans()
    assert {
        "surrogate": "a\ufffdb".replace("\ufffd", "\ufffd" * span.attributes["surrogate"].count("\ufffd")),
        "nul": "a\x00b", "huge": str(1 << 70), "bytes": b"\xff", "map": {"k": [1, None, {"x": 2.5}]}, "none": None,
    } == span.attributes  # fmt: skip
    assert "\ufffd" in span.attributes["surrogate"]
    assert "\ufffd" in span.name


def test_the_command_says_what_waits_and_sends_it(lab, sink):
    from tests.cli.command import Desk

    desk = Desk(lab.folder)
    lab.run("configure()\nwith tracer.start_as_current_span('x'):\n    pass\ntracer.start_span('open')", url=DEAD)
    (found,) = json.loads(desk.run("outbox", "status", "--outbox", lab.outbox, "--json").out)["outboxes"]
    assert ("gone", 2, 0, {}) == (found["process"], found["spans"], found["open"], found["lost"])
    assert DEAD == found["url"]
    still = desk.run("outbox", "send", "--outbox", lab.outbox, expect=1)
    assert "2 still wait (UNAVAILABLE)" in still.out
    lab.redirect(DEAD, sink.url)
    assert "2 spans sent" in desk.run("outbox", "send", "--outbox", lab.outbox).out
    assert "nothing waits" in desk.run("outbox", "send", "--outbox", lab.outbox).out
    assert ["open", "x"] == sink.names()


def test_the_command_sends_only_with_the_headers_that_belong_to_it(lab, sink):
    from tests.cli.command import Desk

    desk = Desk(lab.folder)
    sink.reply = Reply(status=503)
    lab.run("configure(headers={'Authorization': 'Bearer of-a'})\nwith tracer.start_as_current_span('x'):\n    pass")
    sink.reply = Reply()
    for wrong in ((), ("--header", "authorization=Bearer of-b")):
        assert "headers are not known here" in desk.run("outbox", "send", "--outbox", lab.outbox, *wrong, expect=1).out
    assert [] == sink.names()
    desk.run("outbox", "send", "--outbox", lab.outbox, "--header", "authorization=Bearer of-a")
    assert ["x"] == sink.names()
    desk.run("outbox", "send", "--outbox", lab.outbox, "--header", "nonsense", expect=2)


@pytest.mark.parametrize("policy", ["", "drop"])
def test_what_is_told_of_a_redaction_does_not_tell_what_was_redacted(policy, lab, sink):
    """The name of an attribute may be private, and stands in the list of what was removed or shortened too."""
    where = ""
    if policy:
        rules = "{id: all, attribute: '*sk-*', action: drop}, {id: s, detector: secrets, action: mask}"
        (lab.folder / "policy.yaml").write_text(f"version: 1\nname: t\nrules: [{rules}]\n")
        where = "policy='policy.yaml'"
    body = f"""
    configure({where})
    with tracer.start_as_current_span("one", attributes={{{SECRETS["key"]!r}: "mail jane.roe@example.com " * 3}}):
        pass
    """
    lab.run(body, url=DEAD)
    held = b"".join(lab.bytes_on_disk()[path] for path in lab.left())
    assert b"one" in held
    assert SECRETS["key"].encode() not in held
