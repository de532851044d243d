"""A host without a supervisor: serves a session on loopback to programs that are started as a run starts them."""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import dedent
from threading import Thread

import otelreplay.run.startup
from otelreplay.boundary import ReplayStopped
from otelreplay.spans import Scope, Span
from otelreplay.stubs.crossing import Crossing
from tests.replay.builders import TRACE, Tape, dumps, session

STARTUP = Path(next(iter(otelreplay.run.startup.__path__)))
FOREIGN = Scope(name="some.instrumentation", version="1")


def recorded(*calls, scope=FOREIGN):
    """The cassette of tools that somebody else's instrumentation recorded: (name, arguments, result or exception)."""
    tape = Tape()
    for n, (name, arguments, gave) in enumerate(calls, 1):
        failed = isinstance(gave, Exception)
        done = {"error.type": type(gave).__name__} if failed else {"gen_ai.tool.call.result": dumps(gave)}
        tape.spans.append(
            Span(
                trace_id=TRACE, span_id=f"{n:016x}", name=f"execute_tool {name}", start=n * 1000, end=n * 1000 + 10,
                attributes={
                    "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name,
                    "gen_ai.tool.call.arguments": dumps(arguments), **done,
                },
                scope=scope, status_code=2 if failed else 0, status_message=str(gave) if failed else "",
            )
        )  # fmt: skip
    return tape.cassette()


def _name(text):
    name, equals, target = text.rpartition("=")
    return name if equals else target.replace(":", ".").rpartition(".")[2]


class Far:
    """Serves one session; ``with Far(cassette) as far``."""

    def __init__(self, cassette, **more):
        self.session = session(cassette, **more)
        self.told = []
        self.crossing = Crossing(self.session, cassette, self.told.append)
        far = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
                body = json.dumps(far.crossing.handle(message)).encode()
                status = 200 if self.path == "/secret/otelreplay/call" else 404
                head = f"HTTP/1.1 {status} OK\r\ncontent-length: {len(body)}\r\n\r\n"
                self.wfile.write(head.encode() + body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._server.server_port}/secret"

    def __enter__(self):
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def environ(self, *tools):
        """The variables of a program of this run."""
        named = [
            {"name": n or t.rpartition(":")[2].rpartition(".")[2], "target": t}
            for n, _, t in (x.rpartition("=") for x in tools)
        ]
        ours = {"OTELREPLAY_RUN_STUB": self.base, "OTELREPLAY_RUN_TOOLS": json.dumps(named)}
        return {**os.environ, "PYTHONPATH": str(STARTUP), **ours}


class Place:
    """A folder with a program."""

    def __init__(self, folder):
        self.folder = folder
        self.truth = folder / "truth.txt"

    def write(self, **files):
        """Write ``name.py`` for each. Returns this."""
        for name, text in files.items():
            path = self.folder / f"{name}.py"
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(dedent(text), encoding="utf-8")
        return self

    def run(self, *command, environ=None, python=sys.executable):
        """What the program printed; its own exit code has to be 0."""
        words = [python if word == "python" else word for word in command]
        env = {**(environ or os.environ), "TRUTH": str(self.truth)}
        done = subprocess.run(words, cwd=self.folder, env=env, capture_output=True, text=True, timeout=60, check=False)
        self.stderr = done.stderr
        self.code = done.returncode
        return done.stdout.strip()

    def went_live(self):
        """Whether an original ran; forgets it."""
        found = self.truth.exists()
        self.truth.unlink(missing_ok=True)
        return found


TOOL = """
import os
def live(what):
    with open(os.environ["TRUTH"], "a") as file:
        file.write(what)
"""
"""Module ``truth``: what an original does when it runs."""

__all__ = ["FOREIGN", "STARTUP", "TOOL", "Far", "Place", "ReplayStopped", "recorded"]
