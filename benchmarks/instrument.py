"""(e) What a decorated call costs, beside a plain span and beside other recorders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Row, Setting

PEERS = {"agentrr": ("agentrr", "structlog"), "agenttape": ("agenttape",), "agentcassette": ("agentcassette",)}
"""Other recorders, and what has to be installed to run them."""

_RATIO = 1.5
_IDLE = 10


def bench(setting: Setting) -> Iterator[Row]:
    """Microseconds a call, with a result of 1 KB."""
    idle = _measure("unconfigured", setting)
    assert idle is not None
    yield Row(
        "@tool, nothing configured",
        f"{idle['decorated']:.2f} us/call",
        f"the bare function {idle['bare']:.2f} us",
        f"< {_IDLE} us",
        idle["decorated"] < _IDLE,
    )
    span = _measure("span", setting)
    assert span is not None
    ratio = span["decorated"] / span["plain"]
    yield Row(
        "@tool, 1 KB result, one span",
        f"{span['decorated']:.0f} us/call",
        f"SDK span, two json.dumps {span['plain']:.0f} us: {ratio:.2f} times",
        f"<= {_RATIO} times",
        ratio <= _RATIO,
    )
    yield _recorder("otelreplay", "redacted and in the outbox", setting)
    for name, packages in PEERS.items():
        yield _recorder(name, "as it keeps it", setting, packages)


def _recorder(name: str, what: str, setting: Setting, packages: tuple[str, ...] = ()) -> Row:
    found = _measure(name, setting, packages)
    if found is None:
        return Row(f"the same call by {name}", "not installed", "could not be installed here")
    return Row(
        f"the same call by {name}, {what}",
        f"{found['wall']:.0f} us/call",
        f"of processor, all threads {found['processor']:.0f} us",
    )


def _measure(name: str, setting: Setting, packages: tuple[str, ...] = ()) -> dict[str, float] | None:
    """In a process of its own; None where a package that it needs is not to be had."""
    folder = setting.folder / f"calls-{name}"
    folder.mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTEL")}
    environment |= {"OTELREPLAY_KEYS": str(setting.folder / "keys"), "PYTHONPATH": str(folder / "packages")}
    if packages and not _install(packages, folder / "packages"):
        return None
    command = [sys.executable, "-m", "benchmarks.calls", name, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode and packages:
        return None
    done.check_returncode()
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _install(packages: tuple[str, ...], target: Path) -> bool:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), *packages]
    return subprocess.run(command, capture_output=True, check=False, timeout=120).returncode == 0
