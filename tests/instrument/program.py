"""Runs a Python program that records: a process of its own, with an outbox and keys of its own."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path

from otelreplay.instrument.destination import resolve_destination

START = """
import os, signal, sys, threading, time
import otelreplay
from opentelemetry import trace
tracer = trace.get_tracer("program")
def configure(**more):
    return otelreplay.configure(endpoint=os.environ["SINK"], outbox=os.environ["OUTBOX"], **more)
"""


@dataclass
class Done:
    """How it ended."""

    code: int
    out: str
    err: str


@dataclass
class Lab:
    """A folder with an outbox, and programs that use it."""

    folder: Path
    url: str
    environment: dict = field(default_factory=dict)
    started: list = field(default_factory=list, repr=False)

    @property
    def outbox(self):
        return self.folder / "outbox"

    def start(self, body, *, url=None):
        path = self.folder / f"program{time.monotonic_ns()}.py"
        path.write_text(START + textwrap.dedent(body), encoding="utf-8")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL", "COV_", "XDG_"))}
        own = {
            "SINK": url or self.url,
            "OUTBOX": str(self.outbox),
            "OTELREPLAY_KEYS": str(self.folder / "keys"),
            "HOME": str(self.folder),
        }
        process = subprocess.Popen(
            [sys.executable, str(path)],
            env=kept | own | self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def close(self):
        """End what a test that failed has left running: its pipes would fail another test."""
        for process in self.started:
            if process.returncode is None:
                process.kill()
                process.communicate()

    def run(self, body, *, url=None, expect=0, timeout=60):
        process = self.start(body, url=url)
        return finish(process, expect=expect, timeout=timeout)

    def left(self):
        """Outboxes that hold something."""
        return sorted(self.outbox.glob("*/*.outbox"))

    def redirect(self, old, new):
        """Make what waits for one receiver wait for another, as if it had come to life at the old address."""
        before, after = (resolve_destination(url, None, None, {}) for url in (old, new))
        folder = (self.outbox / before.key()).rename(self.outbox / after.key())
        told = folder / "destination.json"
        told.write_text(told.read_text().replace(old, new))

    def deliver(self):
        """Send what processes that are gone have left."""
        command = [sys.executable, "-m", "otelreplay", "outbox", "send", "--outbox", str(self.outbox)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"HOME": str(self.folder)}, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    def bytes_on_disk(self):
        """Everything under the folder but the keys and the programs."""
        found = {}
        for path in self.folder.rglob("*"):
            if path.is_file() and path.suffix != ".py" and "keys" not in path.parts:
                with contextlib.suppress(FileNotFoundError):  # a living process removes its journal
                    found[path] = path.read_bytes()
        return found


def finish(process, *, expect=0, timeout=60):
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        out, err = process.communicate()
        raise AssertionError(f"it hangs\n{out}\n{err}") from None
    assert process.returncode == expect, f"exit {process.returncode}\n{out}\n{err}"
    return Done(process.returncode, out, err)


def wait_for(condition, timeout=60.0):
    """Until it holds."""
    end = time.monotonic() + timeout
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()
