"""A server that counts who comes, and the levels of guard that this machine has."""

import json
import os
import shutil
import socket
import sys
import threading

import pytest

from otelreplay.run.supervisor import LANDLOCK, LEVELS, SECCOMP, supervise
from tests.cli.command import Desk, Done, forked_process, fresh_process
from tests.run.recorded import ENVIRON, changed, record


class Server:
    """Listens on loopback, TCP and UDP, at one port; counts connections and datagrams."""

    def __init__(self):
        while True:
            self.tcp = socket.create_server(("127.0.0.1", 0))
            self.port = self.tcp.getsockname()[1]
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                self.udp.bind(("127.0.0.1", self.port))
                break
            except OSError:
                self.tcp.close()
                self.udp.close()
        self.hits = 0
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._accept, self._receive)]
        for thread in self._threads:
            thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.tcp.accept()
            except OSError:
                return
            with connection:
                self.hits += 1
                connection.settimeout(2)
                try:
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
                except OSError:
                    pass

    def _receive(self):
        while True:
            try:
                data = self.udp.recv(10)
            except OSError:
                return
            if data == b"end":
                return
            self.hits += 1

    def close(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"end", ("127.0.0.1", self.port))
        self.tcp.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self.tcp.close()
        self.udp.close()


@pytest.fixture
def server():
    held = Server()
    yield held
    held.close()


@pytest.fixture
def run(tmp_path, capfd):
    """Run a Python program under guard: what the supervisor saw, and what the program said."""

    def start(text, *, levels=LEVELS, timeout=60, python=(sys.executable,), environ=None, **more):
        path = tmp_path / "program.py"
        path.write_text(text, encoding="utf-8")
        seen = supervise(
            [*python, str(path)], environ=os.environ if environ is None else environ, levels=levels, timeout=timeout, **more
        )
        return seen, capfd.readouterr()

    return start


@pytest.fixture(scope="session")
def allowed():
    """Levels that work on this machine."""
    return supervise([sys.executable, "-S", "-c", ""], environ=os.environ).guard


@pytest.fixture(params=["all", "seccomp", "hooks"])
def levels(request, allowed):
    wanted = {"all": LEVELS, "seccomp": frozenset({SECCOMP}), "hooks": frozenset()}[request.param]
    if not wanted - {LANDLOCK} <= {*allowed}:
        pytest.skip(f"this machine allows only {', '.join(allowed)}")
    return wanted


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    record(folder, ENVIRON | {"OTELREPLAY_KEYS": str(folder / "keys"), "HOME": str(folder)})
    return folder


class Replayer(Desk):
    """A desk with the recordings, the agent, and a way to replay one with the other."""

    def run(self, *arguments, stdin=None, expect=0, fresh=False):
        """Tracebacks of the agent's own are welcome here."""
        out, err, code = (fresh_process if fresh else forked_process)(self, [str(a) for a in arguments], stdin or b"")
        assert expect == code, f"exit {code}\n{out}\n{err}"
        assert "this is a bug" not in err
        return Done(out, err, code)

    def agent(self, **lines):
        self.write("agent.py", changed(**lines))
        return self

    def replay(self, name="desk", function=None, *more, expect=0):
        done = self.run(
            "replay",
            f"{name}.cassette.jsonl",
            "--agent",
            f"agent:{function or name}",
            "--report",
            "report.json",
            *more,
            expect=expect,
        )
        path = self.folder / "report.json"
        done.report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        return done


@pytest.fixture
def desk(tmp_path, recordings):
    shutil.copytree(recordings / "keys", tmp_path / "keys")
    for cassette in recordings.glob("*.cassette.jsonl"):
        shutil.copy(cassette, tmp_path)
    return Replayer(tmp_path).agent()
