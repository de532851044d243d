"""Nothing goes live, whatever way it takes; and every attempt is with the supervisor."""

import os
import shutil
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from otelreplay.run.supervisor import HERE, HOOKS, LANDLOCK, NAMESPACE, SECCOMP
from tests.run.programs import BENEATH, HARMLESS, PYTHON, SOCKET, attempt

COMMANDS = {"another program": "curl", "a shell": "bash"}


def needed(name):
    if name in COMMANDS and shutil.which(COMMANDS[name]) is None:
        pytest.skip(f"{COMMANDS[name]} is not installed")


@pytest.mark.parametrize("name", PYTHON | BENEATH)
def test_without_a_guard_the_same_program_does_go_live(name, server):
    """The control: what the tests below count as zero would be counted."""
    needed(name)
    program = attempt((PYTHON | BENEATH)[name], port=server.port)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert name == "grpc's core" or "went live\n" == done.stdout  # the server speaks no gRPC
    assert server.hits > 0


@pytest.mark.parametrize("name", PYTHON)
def test_what_python_does_is_blocked_and_named_with_its_stack(name, server, run):
    needed(name)
    seen, said = run(attempt(PYTHON[name], port=server.port))
    assert "refused" in said.out
    assert 0 == seen.child_exit
    assert {("python hooks", f"127.0.0.1:{server.port}")} == {(b["by"], b["target"]) for b in seen.blocked}
    assert all(b["stack"] and b["where"] for b in seen.blocked)
    assert 0 == server.hits


@pytest.mark.parametrize("name", PYTHON)
def test_the_hooks_alone_block_what_python_does(name, server, run):
    seen, said = run(attempt(PYTHON[name], port=server.port), levels=frozenset())
    assert (HOOKS,) == seen.guard
    assert "refused" in said.out
    assert [f"127.0.0.1:{server.port}"] == [b["target"] for b in seen.blocked]
    assert 0 == server.hits


@pytest.mark.parametrize("name", sorted(PYTHON.keys() - {"a UDP socket that is connected"}))
def test_the_kernel_alone_blocks_what_python_does(name, server, run, allowed):
    if SECCOMP not in allowed:
        pytest.skip("no seccomp here")
    seen, said = run(attempt(PYTHON[name], port=server.port), python=(sys.executable, "-I"))
    assert "refused" in said.out
    assert {f"127.0.0.1:{server.port}"} == {b["target"] for b in seen.blocked}
    assert 0 == server.hits


def test_a_datagram_that_passes_the_filter_is_counted_by_the_empty_network_that_it_ends_in(server, run, allowed):
    """Connecting a datagram socket to loopback is what getaddrinfo does, so that the filter lets it."""
    if NAMESPACE not in allowed:
        pytest.skip("no network namespaces here")
    seen, said = run(attempt(PYTHON["a UDP socket that is connected"], port=server.port), python=(sys.executable, "-I"))
    assert "went live\n" == said.out
    assert [("send", "network namespace")] == [(b["what"], b["by"]) for b in seen.blocked]
    assert 0 == server.hits


@pytest.mark.parametrize("name", BENEATH)
def test_what_no_hook_sees_is_blocked_by_the_kernel_and_named_with_its_process(name, server, run, allowed):
    needed(name)
    if SECCOMP not in allowed:
        pytest.skip("no seccomp here")
    seen, said = run(attempt(BENEATH[name], port=server.port))
    assert "refused" in said.out
    assert [] == [b for b in seen.blocked if b["target"] != f"127.0.0.1:{server.port}" or b["by"] != "seccomp"]
    assert seen.blocked
    assert all(b["pid"] and b["command"] for b in seen.blocked)
    assert 0 == server.hits


@pytest.mark.parametrize("name", ["grpc's core", "uvloop", "the C library"])
def test_landlock_alone_refuses_tcp_that_no_hook_sees(name, server, run, allowed):
    """Nobody is asked, so no address can be changed after the answer; and it holds where a filter cannot: in another run."""
    if LANDLOCK not in allowed:
        pytest.skip("no Landlock that knows TCP here")
    seen, said = run(attempt(BENEATH[name], port=server.port), levels=frozenset({LANDLOCK}))
    assert (LANDLOCK, HOOKS) == seen.guard
    assert "refused" in said.out
    assert 0 == server.hits


def test_landlock_leaves_one_port_where_the_answers_are_served(server, run, allowed):
    if LANDLOCK not in allowed:
        pytest.skip("no Landlock that knows TCP here")
    launch = ["-I", "-S", str(HERE / "launch.py")]
    for port, hits in ((server.port + 1, 0), (server.port, 1)):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            reach = f"import socket; socket.create_connection(('127.0.0.1', {server.port})).recv(1)"
            words = [*launch, str(theirs.fileno()), "-", "0", "1", str(port), sys.executable, "-I", "-c", reach]
            process = subprocess.Popen([sys.executable, *words], pass_fds=[theirs.fileno()], stderr=subprocess.PIPE)
            assert b'"landlock": ""' in ours.recv(1000)
            ours.send(b"1")
            said = process.communicate(timeout=60)[1]
        assert (b"PermissionError" in said) == (not hits)
        assert hits == server.hits


@pytest.mark.parametrize(
    "name", ["another program", "a shell", "a Python that ignores its environment", "a Python without our variables"]
)
def test_where_the_kernel_does_not_watch_programs_that_no_hook_would_see_are_not_started(name, server, run):
    needed(name)
    seen, said = run(attempt(BENEATH[name], port=server.port), levels=frozenset())
    assert "refused" in said.out
    assert ["start"] == [b["what"] for b in seen.blocked]
    assert 0 == server.hits


@pytest.mark.parametrize("call", ['socket.getaddrinfo("example.com", 443)', 'socket.gethostbyname("example.com")',
                                  'socket.gethostbyname_ex("example.com")', 'socket.gethostbyaddr("192.0.2.1")',
                                  'socket.getnameinfo(("192.0.2.1", 80), 0)'])  # fmt: skip
def test_a_name_is_not_looked_up(call, run, levels):
    seen, said = run(attempt(f"import socket\n---\n{call}"), levels=levels)
    assert "refused gaierror\n" == said.out
    assert ["look up"] == [b["what"] for b in seen.blocked]


def test_a_lookup_by_the_c_library_is_seen_as_what_it_sends(run, allowed):
    if SECCOMP not in allowed or shutil.which("getent") is None:
        pytest.skip("no seccomp, or no getent")
    seen, _ = run('import subprocess; subprocess.run(["getent", "hosts", "example.com"])')
    assert seen.blocked
    assert {True} == {b["target"].endswith(":53") for b in seen.blocked}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_stays_on_the_machine_works_and_is_no_attempt(name, run, levels):
    seen, said = run(textwrap.dedent(HARMLESS[name]), levels=levels)
    assert 0 == seen.child_exit, said.err
    assert () == seen.blocked


@pytest.mark.parametrize("abstract", [False, True])
@pytest.mark.parametrize("python", [(), ("-I",)], ids=["hooks", "kernel alone"])
def test_a_unix_socket_of_somebody_else_is_blocked(abstract, python, run, levels, tmp_path):
    if python and SECCOMP not in levels:
        pytest.skip("neither the hooks nor the kernel")
    name = f"\0somebody-{tmp_path}"[:90] if abstract else str(tmp_path / "daemon")
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(name)
        daemon.listen()
        daemon.settimeout(0.1)
        time.sleep(0.1)
        program = attempt(f"import socket\n---\nsocket.socket(socket.AF_UNIX).connect({name!r})")
        seen, said = run(program, levels=levels, python=(sys.executable, *python))
        assert "refused PermissionError\n" == said.out
        assert ["unix:" + name.replace("\0", "@")] == [b["target"] for b in seen.blocked]
        with pytest.raises(TimeoutError):
            daemon.accept()


@pytest.mark.parametrize(
    "kind", ["AF_PACKET, socket.SOCK_RAW", "AF_INET, socket.SOCK_RAW, 1", "AF_INET, socket.SOCK_STREAM, 132"]
)
def test_a_socket_that_sends_without_connecting_is_not_opened(kind, run, levels):
    seen, said = run(attempt(f"import socket\n---\nsocket.socket(socket.{kind})"), levels=levels)
    assert "refused PermissionError\n" == said.out
    assert ["open"] == [b["what"] for b in seen.blocked]


def test_io_uring_is_not_there_since_it_would_pass_the_filter_by(run, allowed):
    if SECCOMP not in allowed:
        pytest.skip("no seccomp here")
    program = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.syscall(425, 8, 0), ctypes.get_errno())"
    assert "-1 38\n" == run(program)[1].out


def test_a_program_that_empties_its_environment_keeps_its_guard(server, run, levels):
    seen, said = run("import os\nos.environ.clear()\n" + attempt(SOCKET, port=server.port), levels=levels)
    assert "refused PermissionError\n" == said.out
    assert 1 == len(seen.blocked)


def test_a_program_that_closes_every_descriptor_keeps_its_guard_and_its_latch(server, run, levels):
    seen, _ = run("import os\nos.closerange(3, 4096)\n" + attempt(SOCKET, port=server.port), levels=levels)
    assert [f"127.0.0.1:{server.port}"] == [b["target"] for b in seen.blocked]


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_an_attempt_is_latched_however_the_program_ends_right_after_it(end, server, run, levels):
    seen, _ = run("import os\n" + attempt(SOCKET, port=server.port) + end, levels=levels)
    assert [f"127.0.0.1:{server.port}"] == [b["target"] for b in seen.blocked]


def test_a_program_that_tries_for_ever_is_counted_and_ends(server, run):
    seen, _ = run("for _ in range(2000):\n    import socket\n    try:\n        socket.create_connection(('127.0.0.1', 1))\n"
                  "    except OSError:\n        pass")  # fmt: skip
    assert [True] == [b["count"] >= 50 for b in seen.blocked]


def test_the_attempt_names_the_programs_own_line(server, run):
    seen, _ = run("# line 1\n" + attempt(PYTHON["urllib"], port=server.port))
    (found,) = seen.blocked
    assert found["where"].endswith("program.py:4 in <module>")
    assert any("urllib" in frame for frame in found["stack"])


def test_the_programs_own_sitecustomize_still_runs(run, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = 1")
    seen, said = run("print(mine, __import__('sitecustomize').__file__)", environ={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert f"1 {tmp_path / 'sitecustomize.py'}\n" == said.out
    assert 0 == seen.child_exit


def test_the_levels_say_what_is_in_place(run, levels):
    seen, _ = run("pass", levels=levels)
    assert {HOOKS, *levels} == {*seen.guard}
    assert () == seen.weaker


def test_a_level_that_the_machine_does_not_allow_is_named_and_done_without(run, allowed, server):
    """A filter cannot be given a second listener, so that a replay inside of a replay falls back to the hooks."""
    if SECCOMP not in allowed:
        pytest.skip("no seccomp here")
    tried = f"seen = supervise([sys.executable, '-c', {attempt(SOCKET, port=server.port)!r}]"
    inner = f"""
import os, sys
from otelreplay.run.supervisor import supervise
{tried}, environ=os.environ, levels=frozenset(['seccomp']))
print(seen.guard, seen.weaker[0][:8], [b['target'] for b in seen.blocked])
"""
    said = run(inner, levels=frozenset({SECCOMP}))[1].out
    assert f"('python hooks',) seccomp: ['127.0.0.1:{server.port}']" in said


def test_processes_that_outlive_the_program_are_ended_and_named(run, levels):
    seen, _ = run(
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])", levels=levels
    )
    assert 1 == len(seen.left_running)
    assert "time.sleep(60)" in seen.left_running[0]


def test_a_background_process_that_goes_live_after_the_program_ended_is_latched(run, server, levels, monkeypatch):
    monkeypatch.setattr("otelreplay.run.supervisor.GRACE", 20.0)
    code = f"import time; time.sleep(0.3); import socket; socket.create_connection(('127.0.0.1', {server.port}))"
    seen, _ = run(f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {code!r}], stderr=-3)", levels=levels)
    assert [f"127.0.0.1:{server.port}"] == [b["target"] for b in seen.blocked]
    assert 0 == server.hits


def test_a_program_that_hangs_is_ended_when_its_time_is_up(run, levels):
    seen, _ = run("import time\ntime.sleep(60)", levels=levels, timeout=1.0)
    assert seen.timed_out
    assert -9 == seen.child_exit
