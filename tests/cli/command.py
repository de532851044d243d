"""Runs the command line as a user would: a process of its own, keys of its own."""

import json
import os
import subprocess
import sys
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

    def run(self, *arguments, stdin=None, expect=0):
        """Run to the end; ``expect`` is the exit code that it must have. Never a traceback."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.env(),
            input=stdin,
            capture_output=True,
            check=False,
            timeout=120,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in out + err, err
        assert expect == done.returncode, f"exit {done.returncode}\n{out}\n{err}"
        return Done(out, err, done.returncode)

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


def files_under(folder):
    """Every file, hidden ones too."""
    return [path for path in Path(folder).rglob("*") if path.is_file()]
