"""Runs the command line as a user would: a process of its own, keys of its own."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Desk:
    """A folder to work in."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *arguments):
        return [sys.executable, "-m", "otelreplay", *map(str, arguments)]

    def env(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTELREPLAY_", "COV_", "XDG_"))}
        return kept | {
            "OTELREPLAY_KEYS": str(self.folder / "keys"),
            "HOME": str(self.folder),
            "COLUMNS": "80",
            **self.environment,
        }

    def run(self, *arguments, stdin=None, expect=0, fresh=False):
        """Run to the end; ``expect`` is the exit code that it must have. Never a traceback.

        The process is a fork of this one, which has everything imported already; ``fresh``: one from the start.
        """
        forkable = hasattr(os, "fork") and "grpc" not in sys.modules  # whose threads a fork would leave behind
        start = fresh_process if fresh or not forkable else forked_process
        out, err, code = start(self, [str(a) for a in arguments], stdin or b"")
        assert "Traceback (most recent call last)" not in err, err
        assert expect == code, f"exit {code}\n{out}\n{err}"
        return Done(out, err, code)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def convert(self, *files, out="out", **more):
        """Convert and return the cassettes."""
        self.run("convert", *files, "--out", out, *(x for k, v in more.items() for x in (f"--{k}", v)))
        return self.cassettes(out)

    def cassettes(self, out="out"):
        return sorted((self.folder / out).glob("*.cassette.jsonl"))

    def events(self, cassette):
        return [json.loads(line) for line in self.run("events", cassette, "--json").out.splitlines()]

    def report(self, cassette):
        return json.loads(self.run("report", cassette, "--json").out)


@dataclass
class Done:
    out: str
    err: str
    code: int

    @property
    def said(self):
        return self.out + self.err


def fresh_process(desk, arguments, stdin):
    done = subprocess.run(
        desk.command(*arguments), cwd=desk.folder, env=desk.env(), input=stdin, capture_output=True, check=False, timeout=120
    )
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def forked_process(desk, arguments, stdin):
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(stdin)
        files[0].seek(0)
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            _in_child(desk, arguments, files)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in files:
            file.seek(0)
        return files[1].read().decode(), files[2].read().decode(), code


def _in_child(desk, arguments, files):
    """What the interpreter does at its start and its end, around ``main``. Never returns into the test."""
    code = 99
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(n, mode, closefd=False), "utf-8", line_buffering=n == 2) for n, mode in enumerate("rww")
        )
        os.chdir(desk.folder)
        os.environ.clear()
        os.environ.update(desk.env())
        tempfile.tempdir = None
        sys.argv = ["otelreplay", *arguments]
        from otelreplay.cli.main import main

        main()
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


def files_under(folder):
    """Every file, hidden ones too."""
    return [path for path in Path(folder).rglob("*") if path.is_file()]
