"""Runs the command line as a user would: a process of its own, keys of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.forking import forks


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

        The process is a fork of one that has everything imported already; ``fresh``: one from the start.
        """
        start = fresh_process if fresh or not hasattr(os, "fork") else forked_process
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
    return forks().run(folder=desk.folder, environment=desk.env(), arguments=arguments, stdin=stdin)


def files_under(folder):
    """Every file, hidden ones too."""
    return [path for path in Path(folder).rglob("*") if path.is_file()]
