"""``otelreplay replay``: the agent runs again, nothing else does, and the exit code says the truth whatever the agent does."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from otelreplay.run.supervisor import NAMESPACE
from otelreplay.wiring.replaying import open_for_replay, replay
from tests.run.programs import BENEATH, PYTHON, attempt


def ran(desk):
    return sorted(path.name for path in desk.folder.glob("*-ran"))


def test_an_unchanged_agent_does_what_was_recorded_and_no_tool_runs(desk):
    done = desk.replay()
    assert "answer: refund it\n" == done.out
    assert "as_recorded: the program did what was recorded" in done.err
    assert [] == ran(desk)
    found = done.report
    assert ("as_recorded", 0, 0, 3, 0) == tuple(found[n] for n in ("outcome", "exit_code", "child_exit", "served", "unused"))
    assert ([], None) == (found["blocked"], found["first_divergence"])
    assert found["guard"].endswith("python hooks")


def test_the_writes_of_the_original_run_are_listed_as_not_undone(desk):
    done = desk.replay()
    (write,) = done.report["writes"]
    assert ("refund", "k-1", "done") == (write["operation"], write["idempotency_key"], write["state"])
    assert "not undone" in done.err


@pytest.mark.parametrize(("name", "function"), [("talk", "talk"), ("count", "count"), ("serve", "Desk.serve")])
def test_an_agent_of_any_kind_is_called_as_it_was(name, function, desk):
    """A coroutine with ``*args``, a generator, a method."""
    assert "as_recorded" == desk.replay(name, function).report["outcome"]


def test_an_agent_that_failed_when_it_was_recorded_has_to_fail_the_same_way(desk):
    done = desk.replay("fail")
    assert "LookupError: no such order" in done.err
    assert ("as_recorded", 1) == (done.report["outcome"], done.report["child_exit"])
    desk.agent(replace=('raise LookupError("no such order")', "return 1")).replay("fail", expect=1)


def test_a_changed_argument_is_the_first_divergence_with_all_that_is_known_of_it(desk):
    done = desk.agent(replace=('refund(order, 4.0, key="k-1")', 'refund(order, 5.0, key="k-1")')).replay(expect=1)
    first = done.report["first_divergence"]
    assert "diverged" == done.report["outcome"]
    assert ("replay.request_changed", "request_changed", "tool", "refund", "request.arguments.amount", 4.0, 5.0) == tuple(
        first[n] for n in ("code", "kind", "boundary", "operation", "path", "expected", "received")
    )
    assert first["last_agreed"] is not None
    assert first["cause"]
    assert "agent.py:" in first["where"]
    for said in ("replay.request_changed", "request.arguments.amount", "expected  4.0", "received  5.0", "agent.py:"):
        assert said in done.err
    assert [] == ran(desk)


def test_an_agent_that_swallows_everything_does_not_hide_its_divergence(desk):
    swallow = 'try:\n    lookup("other")\nexcept BaseException:\n    pass'
    done = desk.agent(start=swallow).replay(expect=1)
    assert "diverged" == done.report["outcome"]
    assert 0 == done.report["child_exit"]
    assert "lookup" == done.report["first_divergence"]["operation"]


def test_calls_that_are_left_out_are_named(desk):
    done = desk.agent(replace=('refund(order, 4.0, key="k-1")', "pass")).replay(expect=1)
    assert "diverged" == done.report["outcome"]
    assert ["refund"] == [e["operation"] for e in done.report["unused_events"]]
    assert "refund" in done.err


def test_an_agent_that_asks_for_nothing_is_never_green(desk):
    desk.agent(start="return 'refund it'").replay(expect=1)


def test_another_runs_cassette_is_never_green(desk):
    desk.replay("desk", "talk", expect=1)


ENDINGS = {
    "os._exit(0)": ("os._exit(0)", 0),
    "a signal": ("os.kill(os.getpid(), 9)", -9),
    "a crash": ("os.abort()", -6),
    "closed descriptors and os._exit": ("os.closerange(0, 4096)\nos._exit(0)", 0),
    "an exit handler that leaves": ("import atexit\natexit.register(os._exit, 0)", 0),
    "exec of another program": ("os.execv('/bin/true', ['true'])", 0),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_program_that_leaves_by_the_side_door_is_never_green(name, desk):
    lines, code = ENDINGS[name]
    done = desk.agent(end=lines).replay(expect=1)
    assert ("ended_early", code) == (done.report["outcome"], done.report["child_exit"])
    assert 3 == done.report["served"]


def test_a_program_that_hangs_is_ended_in_time_and_never_green(desk):
    done = desk.agent(middle="import time\ntime.sleep(60)").replay("desk", None, "--timeout", "10", expect=1)
    assert ("timed_out", -9) == (done.report["outcome"], done.report["child_exit"])
    assert ["refund"] == [e["operation"] for e in done.report["unused_events"]]


def test_a_divergence_is_latched_however_the_program_ends_right_after_it(desk):
    lines = 'try:\n    lookup("other")\nfinally:\n    os._exit(0)'
    done = desk.agent(start=lines).replay(expect=1)
    assert ("diverged", 0) == (done.report["outcome"], done.report["child_exit"])
    assert "lookup" == done.report["first_divergence"]["operation"]


LIVE = {
    "a raw socket in try/except Exception": PYTHON["a raw socket"],
    "a thread": PYTHON["a thread"],
    "an executor": PYTHON["an executor"],
    "a Python subprocess": PYTHON["a Python subprocess"],
    "another HTTP client": PYTHON["httpx"],
    "urllib": PYTHON["urllib"],
    "asyncio": PYTHON["asyncio"],
    "grpc's core": BENEATH["grpc's core"],
    "another program": BENEATH["another program"],
}


@pytest.mark.parametrize("name", LIVE)
def test_an_agent_that_goes_live_by_the_way_is_stopped_and_named_and_ends_with_4(name, desk, server):
    desk.write("aside.py", "def go():\n" + "\n".join("    " + x for x in attempt(LIVE[name], port=server.port).splitlines()))
    done = desk.agent(middle="import aside\naside.go()").replay(expect=4)
    assert "refused" in done.out
    assert "answer: refund it" in done.out  # it went on, and hid nothing
    found = done.report
    assert ("live_call_blocked", 4, 0) == tuple(found[n] for n in ("outcome", "exit_code", "child_exit"))
    first = found["first_divergence"]
    assert ("replay.live_call_blocked", f"127.0.0.1:{server.port}") == (first["code"], first["operation"])
    assert 2 == first["agreed"]
    assert found["blocked"][0]["target"] == f"127.0.0.1:{server.port}"
    assert f"127.0.0.1:{server.port}" in done.err
    assert 0 == server.hits
    if found["blocked"][0]["by"] == "python hooks" and name != "a Python subprocess":
        assert "agent desk" == found["blocked"][0]["boundary"]
        assert found["blocked"][0]["where"].startswith("aside.py:") or name == "an executor"


def test_a_live_call_while_the_module_is_imported_is_an_attempt_too(desk, server):
    done = desk.agent(top=f"import socket\nsocket.create_connection(('127.0.0.1', {server.port}))\n").replay(expect=4)
    assert "live_call_blocked" == done.report["outcome"]
    assert 0 == server.hits


def test_a_live_call_in_an_exit_handler_is_an_attempt_too(desk, server):
    late = f"import atexit, socket\natexit.register(lambda: socket.create_connection(('127.0.0.1', {server.port})))"
    desk.agent(end=late).replay(expect=4)
    assert 0 == server.hits


def test_a_decorated_function_in_another_process_neither_runs_nor_is_answered(desk):
    fork = (
        "pid = os.fork()\nif not pid:\n    try:\n        lookup(order)\n    finally:\n        os._exit(0)\nos.waitpid(pid, 0)"
    )
    done = desk.agent(middle=fork).replay(expect=4)
    assert [("call", "tool lookup outside of the replayed process")] == [
        (b["what"], b["target"]) for b in done.report["blocked"]
    ]
    assert [] == ran(desk)


def test_a_fork_that_ends_like_a_program_speaks_for_nobody(desk):
    """Neither its leaving of the agent's frames nor its exit handlers are the replayed process's."""
    fork = "pid = os.fork()\nif not pid:\n    sys.exit(0)\nos.waitpid(pid, 0)"
    assert "as_recorded" == desk.agent(middle=fork).replay().report["outcome"]
    done = desk.agent(middle=fork, end="os._exit(0)").replay(expect=1)
    assert ("ended_early", None) == (done.report["outcome"], done.report["first_divergence"])


def test_a_program_that_leaves_processes_behind_is_not_as_recorded(desk):
    behind = "import subprocess\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    done = desk.agent(end=behind).replay(expect=1)
    assert "ended_otherwise" == done.report["outcome"]
    assert 1 == len(done.report["left_running"])


def test_a_process_that_is_left_behind_without_our_variables_is_seen_by_its_network(desk, allowed):
    if NAMESPACE not in allowed:
        pytest.skip("no network namespaces here")
    behind = (
        "import subprocess\ncode = 'import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(60)'\n"
        "subprocess.run([sys.executable, '-c', code], env={}, stdin=-3, stdout=-3, stderr=-3)"
    )
    done = desk.agent(end=behind).replay(expect=1)
    assert "ended_otherwise" == done.report["outcome"]
    assert 1 == len(done.report["left_running"])


FULL = """
import resource, socket
unsent, most = socket.socket(), resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, most[1]))
held = []
try:
    while True:
        held.append(os.dup(0))
except OSError:
    pass
try:
    ATTEMPT
except OSError:
    pass
for each in held:
    os.close(each)
resource.setrlimit(resource.RLIMIT_NOFILE, most)
"""


@pytest.mark.parametrize("attempt", ["socket.getaddrinfo('example.org', 80)", "unsent.connect(('127.0.0.1', 9))"])
def test_an_attempt_that_cannot_be_told_because_no_descriptor_is_left_is_told_later(desk, attempt):
    done = desk.agent(middle=FULL.replace("ATTEMPT", attempt).strip()).replay(expect=4)
    assert "python hooks" in [b["by"] for b in done.report["blocked"]]


def test_credentials_are_taken_out_of_the_environment_and_the_rest_is_as_it_was(desk):
    desk.environment |= {
        "OPENAI_API_KEY": "sk-real-000000000000",
        "DATABASE_URL": "postgres://u:hunter2@db/x",
        "PLAIN": "1",
        "PYTHONPATH": "/p",
    }
    show = 'print({k: os.environ.get(k) for k in ("OPENAI_API_KEY", "DATABASE_URL", "PLAIN")}, "/p" in sys.path, os.getcwd())'
    done = desk.agent(end=show).replay()
    assert "sk-real" not in done.said
    assert "hunter2" not in done.said
    assert "'PLAIN': '1'} True" in done.out
    assert str(desk.folder) in done.out
    assert {"OPENAI_API_KEY", "DATABASE_URL"} <= {*done.report["credentials_removed"]}


def test_with_json_stdout_is_the_report_and_nothing_else(desk):
    done = desk.replay("desk", None, "--json")
    assert json.loads(done.out) == done.report
    assert "answer: refund it" in done.err


def test_text_of_the_run_cannot_steer_the_terminal_or_be_markup(desk):
    done = desk.agent(replace=('refund(order, 4.0, key="k-1")', 'refund("[red]\\x1b[2J\\u202e", 4.0, key="k-1")')).replay(
        expect=1
    )
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err
    assert "[red]" in done.err


def test_what_the_policy_takes_out_is_in_no_report(desk):
    done = desk.agent(middle='lookup("write to ann@corp.example, key sk-proj-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY")').replay(
        expect=1
    )
    assert "ann@corp" not in done.said + json.dumps(done.report)
    assert "sk-proj-aB3d" not in done.said + json.dumps(done.report)


REFUSED = {
    "no such module": ("nowhere:desk", 2, "replay.agent_module"),
    "no such function": ("agent:nothing", 2, "replay.agent_function"),
    "not callable": ("agent:os", 2, "replay.agent_function"),
    "no function named": ("agent", 2, "replay.agent_name"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_agent_that_is_not_there_is_said_to_be_so(name, desk):
    agent, code, said = REFUSED[name]
    done = desk.run("replay", "desk.cassette.jsonl", "--agent", agent, expect=code)
    assert f"[{said}]" in done.err


def test_an_agent_whose_module_fails_is_not_green_and_shows_why(desk):
    done = desk.agent(top="import no_such_dependency\n").replay(expect=1)
    assert "ModuleNotFoundError: No module named 'no_such_dependency'" in done.err
    assert ["the program raised ModuleNotFoundError while its module was imported"] == done.report["notes"]


def test_an_altered_cassette_ends_with_5(desk):
    path = desk.folder / "desk.cassette.jsonl"
    path.write_bytes(path.read_bytes().replace(b"refund it", b"refund IT"))
    assert "cassette.altered" in desk.replay(expect=5).err


def test_a_file_that_is_no_cassette_ends_with_6(desk):
    desk.write("desk.cassette.jsonl", "{}")
    desk.replay(expect=6)


def test_a_report_that_cannot_be_written_ends_with_2_before_the_run(desk):
    done = desk.run("replay", "desk.cassette.jsonl", "--agent", "agent:desk", "--report", "no/where.json", expect=2)
    assert "output.unwritable" in done.err
    assert "" == done.out


def test_a_stranger_signer_is_named(desk):
    shutil.rmtree(desk.folder / "keys")
    assert "cassette.untrusted" in desk.replay().err


def test_the_report_names_the_level_that_was_reached(desk, monkeypatch):
    monkeypatch.chdir(desk.folder)
    monkeypatch.setattr(os, "environ", desk.env())
    found = replay(open_for_replay("desk.cassette.jsonl"), agent="agent:desk", levels=frozenset())
    assert ("python hooks", 0) == (found.report["guard"], found.exit_code)


EXPORTING = {
    "configure": "otelreplay.configure(endpoint='http://127.0.0.1:PORT')",
    "a provider of its own": (
        "from opentelemetry import trace\nfrom opentelemetry.sdk.trace import TracerProvider\n"
        "from opentelemetry.sdk.trace.export import SimpleSpanProcessor\n"
        "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter\n"
        "provider = TracerProvider()\n"
        "provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter('http://127.0.0.1:PORT/v1/traces')))\n"
        "trace.set_tracer_provider(provider)\ntrace.get_tracer('mine').start_span('mine').end()"
    ),
}


@pytest.mark.parametrize("name", EXPORTING)
def test_a_program_that_exports_its_spans_exports_none_in_a_replay_and_that_is_no_attempt(name, desk, server):
    done = desk.agent(top=f"import otelreplay\n{EXPORTING[name].replace('PORT', str(server.port))}\n").replay()
    assert ("as_recorded", []) == (done.report["outcome"], done.report["blocked"])
    assert 0 == server.hits


def test_a_result_that_the_recording_lacks_ends_with_3_and_names_the_gap(desk):
    done = desk.replay("gap", "desk", expect=3)
    first = done.report["first_divergence"]
    assert ("missing_data", "replay.response_missing", "lookup") == (done.report["outcome"], first["code"], first["operation"])


def test_a_fixture_fills_the_gap_and_is_listed_as_assumed(desk):
    desk.write("given.json", '{"1": {"result": {"order": "A1", "state": "lost"}}}')
    done = desk.replay("gap", "desk", "--fixtures", "given.json")
    assert "as_recorded" == done.report["outcome"]
    assert done.report["assumed"]


def test_fixtures_that_are_none_are_refused_before_the_start(desk):
    desk.write("given.json", "[1]")
    done = desk.run("replay", "gap.cassette.jsonl", "--agent", "agent:desk", "--fixtures", "given.json", expect=2)
    assert "replay.fixture" in done.err
    assert "" == done.out


def test_a_declared_normaliser_makes_a_value_equal_and_is_listed_and_stands_in_the_command(desk):
    desk.agent(replace=('key="k-1"', 'key="k-2"'))
    desk.write("allowed.txt", "# keys are numbered\nnumbers:arguments.key\n")
    for more in (("--normalizer", "numbers:arguments.key"), ("--normalizers", "allowed.txt")):
        done = desk.replay("desk", "desk", *more)
        assert ("as_recorded", "number") == (done.report["outcome"], done.report["normalised"][-1]["rule"])
    desk.replay("desk", "desk", "--normalizer", "numbers:arguments.order", expect=1)
    refused = desk.run("replay", "desk.cassette.jsonl", "--agent", "agent:desk", "--normalizer", "all", expect=2)
    assert "replay.normalizer" in refused.err


def test_normalisers_are_learned_from_two_recordings_into_a_file(desk):
    done = desk.run("normalizers", "learn", "desk.cassette.jsonl", "desk.cassette.jsonl", "--out", "learned.txt")
    assert "nothing has to be normalized" in done.out
    desk.replay("desk", "desk", "--normalizers", "learned.txt")
    other = desk.run("normalizers", "learn", "desk.cassette.jsonl", "talk.cassette.jsonl", "--json", expect=1)
    found = json.loads(other.out)
    assert ([], False) == (found["learned"], found["equal"])
    assert found["not_learned"]


def test_an_agent_whose_input_was_not_recorded_cannot_be_called_and_ends_with_3(desk):
    done = desk.run("replay", "dark.cassette.jsonl", "--agent", "agent:desk", expect=3)
    assert "replay.no_input" in done.err


def test_an_interrupt_ends_the_program_too(desk):
    desk.agent(middle="open('here', 'w').close()\nimport time\ntime.sleep(60)")
    command = desk.command("replay", "desk.cassette.jsonl", "--agent", "agent:desk")
    process = subprocess.Popen(command, cwd=desk.folder, env=desk.env(), stdout=-3, stderr=-3, start_new_session=True)
    while not (desk.folder / "here").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert 130 == process.wait(timeout=30)
    ours = f"{desk.folder}/keys".encode()
    for _ in range(100):
        left = [p.name for p in Path("/proc").glob("[0-9]*/environ") if ours in environ_of(p)]
        if not left:
            break
        time.sleep(0.05)
    assert [] == left


def environ_of(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""
