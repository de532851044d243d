"""A process that has the command line imported already, and runs each command in a fork of itself.

``python -m tests.cli.forking`` reads one JSON object a line (folder, environment, arguments, and the three files that are to be
standard input, output and error), and answers with the exit code. It has no threads, so that nothing is lost by a fork; the
process of the tests has some as soon as grpc is imported there.
"""

import atexit
import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

PARTS = (
    "cli.main",
    "wiring.converting",
    "wiring.reading",
    "wiring.replaying",
    "report.cassette",
    "report.verification",
    "report.event",
    "report.policy",
    "report.replay",
)


class Forks:
    """This side of such a process."""

    def __init__(self):
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        )
        atexit.register(self.close)

    def run(self, *, folder, environment, arguments, stdin):
        """(output, errors, exit code) of one command."""
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.NamedTemporaryFile()) for _ in range(3)]
            files[0].write(stdin)
            files[0].flush()
            asked = {
                "folder": str(folder),
                "environment": environment,
                "arguments": arguments,
                "files": [f.name for f in files],
            }
            with self._lock:
                self._process.stdin.write(json.dumps(asked).encode() + b"\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
            return files[1].read().decode(), files[2].read().decode(), int(answer)

    def close(self):
        """End it."""
        with self._process:
            self._process.stdin.close()


@cache
def forks():
    """One for all tests of this process."""
    return Forks()


def main():
    for part in PARTS:
        importlib.import_module(f"otelreplay.{part}")
    for line in sys.stdin.buffer:
        child = os.fork()
        if not child:
            _in_child(json.loads(line))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(1, b"%d\n" % code)


def _in_child(asked):
    """What the interpreter does at its start and its end, around ``main``. Never returns."""
    code = 99
    try:
        for number, name in enumerate(asked["files"]):
            file = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY)
            os.dup2(file, number)
            os.close(file)
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(n, mode, closefd=False), "utf-8", line_buffering=n == 2) for n, mode in enumerate("rww")
        )
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        tempfile.tempdir = None
        sys.argv = ["otelreplay", *asked["arguments"]]
        from otelreplay.cli.main import main as command

        command()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
