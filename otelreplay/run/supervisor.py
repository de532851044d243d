"""Runs a program under guard, and holds what must not be in its hands: the latch, the time limit, the last word.

    supervisor ──▶ launcher (network namespace, seccomp, Landlock) ──▶ the program, and whatever it starts
        ▲  ▲  ▲                                                   │  │  │
        │  │  └───────── calls that the kernel stopped ───────────┘  │  │
        │  └──────────── reports over a named pipe ──────────────────┘  │
        └─────────────── requests to the service, if there is one ──────┘

A service (:class:`Service`) answers programs over the loopback, in threads of its own beside the desk. Its port is found on
this machine's loopback before anything is started, so that the environment can name it; where there is a namespace, the
launcher opens the same port inside of it, and the first one is closed.

A program can swallow exceptions, close descriptors, leave by ``os._exit`` or be killed: what it did before is with the
supervisor already, and what it did not say is missed.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from otelreplay.errors import UsageError
from otelreplay.run import guard
from otelreplay.run.channel import Channel
from otelreplay.run.environment import guarded, without_credentials
from otelreplay.run.notices import Notices
from otelreplay.run.programs import MACHINES, program
from otelreplay.run.traffic import Traffic

HERE: Final = Path(__file__).parent
STARTUP: Final = HERE / "startup"
NAMESPACE, SECCOMP, LANDLOCK, HOOKS = "network namespace", "seccomp", "landlock", "python hooks"
LEVELS: Final = frozenset({NAMESPACE, SECCOMP, LANDLOCK})
"""What is tried beyond the hooks, which are always there."""
_SAID: Final = {"namespace": NAMESPACE, "seccomp": SECCOMP, "landlock": LANDLOCK}
"""By what the launcher calls them; in the order in which they are named."""
GRACE: Final = 1.0
"""Seconds that processes which a program leaves behind have to end by themselves."""


class Service(Protocol):
    """What serves the programs of a run."""

    def variables(self, host: str, port: int) -> Mapping[str, str]:
        """What the programs must know to find it; before it is started."""

    def start(self, listener: socket.socket) -> None:
        """Begin to serve, in other threads than this one."""

    def progress(self) -> Mapping[str, Any]:
        """``after`` (the last seq that was served), ``served``, ``divergences``: where the run is now."""

    def stop(self) -> int:
        """End; the number of connections that were made to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What the supervisor saw of one run."""

    guard: tuple[str, ...]
    """Levels that were in place, the strongest first."""
    weaker: tuple[str, ...] = ()
    """Levels that this machine did not allow, with the reason."""
    child_exit: int | None = None
    """Exit code; negative: the signal that ended it."""
    messages: tuple[dict[str, Any], ...] = ()
    """Reports but ``blocked``, in the order of their arrival."""
    blocked: tuple[dict[str, Any], ...] = ()
    """Every different attempt to go live, with its ``count``."""
    timed_out: bool = False
    left_running: tuple[str, ...] = ()
    """Processes that outlived the program, and were ended."""
    credentials: tuple[str, ...] = ()
    """Names of the variables that were taken out of its environment."""


def supervise(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    payload: Iterable[bytes] = (),
    timeout: float | None = None,
    levels: frozenset[str] = LEVELS,
    variables: Mapping[str, str] | None = None,
    to_stderr: bool = False,
    on_message: Callable[[dict[str, Any]], None] | None = None,
    service: Service | None = None,
) -> Observed:
    """Run ``command`` to its end. A ``{payload}`` among its words becomes the number of a descriptor that gives ``payload``.

    Its output passes through; with ``to_stderr``, what it writes to stdout goes to stderr.
    """
    if not hasattr(os, "mkfifo"):
        raise UsageError(
            "this system has no named pipes", code="replay.system", next_step="replay on Linux, macOS or another POSIX system"
        )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="otelreplay-run-")))
        channel = Channel(folder)
        stack.callback(channel.close)
        held = _file(payload)
        stack.callback(os.close, held)
        clean, taken = without_credentials(environ)
        since = time.time_ns() - 20_000_000  # clocks of file systems tick some milliseconds apart
        ours = {guard.PIPE: str(channel.path), guard.SINCE: str(since), guard.FOLDER: str(STARTUP), guard.SECCOMP: "0"}
        ours |= variables or {}
        serving = _Serving(service)
        stack.callback(serving.stop)
        ours |= serving.variables()
        words = [str(held) if word == "{payload}" else word for word in command]
        env = guarded(clean, folder=str(STARTUP), variables=ours)
        started = _launch(words, env=env, held=held, levels=levels, out=2 if to_stderr else None, port=serving.address[1])
        stack.callback(started.process.wait)
        stack.callback(started.process.kill)
        notices = started.notices(since, serving.address)
        if notices is not None:
            stack.callback(notices.close)
        traffic = Traffic(started.process.pid) if NAMESPACE in started.guard else None
        if traffic is not None:
            stack.callback(traffic.close)
        serving.start(started.stub)
        started.begin()
        desk = _Desk(channel, notices, on_message, service)
        network = _own_network(started)
        grace = 0.0  # also when this process is interrupted
        try:
            timed_out = desk.watch(started.process, timeout)
            grace = 0.0 if timed_out else GRACE
        finally:
            left = desk.end_of_tree(str(channel.path), network, grace=grace)
        connections = serving.stop()
        for attempt in traffic.attempts(connections) if traffic is not None else ():
            desk.take(attempt)
        return Observed(
            guard=started.guard,
            weaker=started.weaker,
            child_exit=started.process.returncode,
            messages=tuple(desk.messages),
            blocked=tuple(desk.blocked.values()),
            timed_out=timed_out,
            left_running=left,
            credentials=taken,
        )


def _file(data: Iterable[bytes]) -> int:
    """A descriptor that gives ``data`` from its start, and is nowhere on a disk that anybody could find."""
    with tempfile.TemporaryFile(prefix="otelreplay-") as file:
        file.writelines(data)
        file.flush()
        number = os.dup(file.fileno())
    os.lseek(number, 0, os.SEEK_SET)
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class _Started:
    process: subprocess.Popen[bytes]
    guard: tuple[str, ...]
    weaker: tuple[str, ...] = ()
    listener: int | None = None
    control: int | None = None
    """The launcher waits here for its word to become the program."""
    stub: socket.socket | None = None
    """Listens inside of the namespace."""

    def notices(self, since: int, stub: tuple[str, int]) -> Notices | None:
        """What answers the kernel, where it asks."""
        if self.listener is None:
            return None
        machine = MACHINES[os.uname().machine]
        return Notices(self.listener, machine=machine, since=since, own_network=NAMESPACE in self.guard, stub=stub)

    def begin(self) -> None:
        """Let the program begin."""
        if self.control is not None:
            with socket.socket(fileno=self.control) as launcher, contextlib.suppress(OSError):
                launcher.send(b"1")


class _Serving:
    """A service from its port to its end, which comes once; without a service, nothing."""

    def __init__(self, service: Service | None) -> None:
        self._service, self._started, self._connections = service, False, 0
        self._here: socket.socket | None = None
        self.address = ("", 0)
        if service is not None:
            self._here = socket.create_server(("127.0.0.1", 0), backlog=1024)
            self.address = self._here.getsockname()[:2]

    def variables(self) -> Mapping[str, str]:
        """What the programs must know."""
        return self._service.variables(*self.address) if self._service is not None else {}

    def start(self, inside: socket.socket | None) -> None:
        """Serve: in the namespace, where there is one."""
        if self._service is None or self._here is None:
            return
        if inside is not None:
            self._here.close()
        self._started = True
        self._service.start(inside or self._here)

    def stop(self) -> int:
        """The number of connections that there were."""
        if self._service is not None and self._started:
            self._connections, self._started = self._service.stop(), False
        if self._here is not None:
            self._here.close()
        return self._connections


def _launch(
    words: list[str], *, env: dict[str, str], held: int, levels: frozenset[str], out: int | None, port: int
) -> _Started:
    """Start the program at the strongest levels that this machine allows."""
    machine = MACHINES.get(os.uname().machine) if sys.platform == "linux" and sys.maxsize > 2**32 else None
    if machine is None or not levels:
        reason = () if machine else ("network namespace, seccomp, landlock: not on this system",)
        return _Started(process=subprocess.Popen(words, env=env, pass_fds=(held,), stdout=out), guard=(HOOKS,), weaker=reason)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        launcher = [
            *(sys.executable, "-I", "-S", str(HERE / "launch.py"), str(theirs.fileno())),
            program(machine).hex() if SECCOMP in levels else "-",
            "1" if NAMESPACE in levels else "0",
            "1" if LANDLOCK in levels else "0",
            str(port),
        ]
        process = subprocess.Popen([*launcher, *words], env=env, pass_fds=(held, theirs.fileno()), stdout=out)
        theirs.close()
        ours.settimeout(60)
        data, descriptors, _, _ = socket.recv_fds(ours, 1 << 16, 2)
        if not data:
            process.wait()
            return _Started(
                process=subprocess.Popen(words, env=env, pass_fds=(held,), stdout=out),
                guard=(HOOKS,),
                weaker=("network namespace, seccomp, landlock: the launcher failed",),
            )
        said = json.loads(data)
        failed = {level: said[key] for key, level in _SAID.items() if level in levels}
        reached = [level for level, why in failed.items() if not why]
        begin = ours.detach()
    return _Started(
        process=process,
        control=begin,
        guard=(*reached, HOOKS),
        weaker=tuple(f"{level}: {why}" for level, why in failed.items() if why),
        listener=descriptors[0] if said["listener"] else None,
        stub=socket.socket(fileno=descriptors[-1]) if said["stub"] else None,
    )


class _Desk:
    """Answers the kernel and listens to the pipe, and keeps what they said."""

    def __init__(
        self, channel: Channel, notices: Notices | None, on_message: Callable[[dict[str, Any]], None] | None,
        service: Service | None = None,
    ) -> None:  # fmt: skip
        self._channel, self._notices, self._on_message, self._service = channel, notices, on_message, service
        self.messages: list[dict[str, Any]] = []
        self.blocked: dict[tuple[str, ...], dict[str, Any]] = {}
        self._counts = {"served": 0, "divergence": 0}
        self._after: int | None = None
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel, selectors.EVENT_READ)
        if notices is not None:
            self._selector.register(notices, selectors.EVENT_READ)

    def watch(self, process: subprocess.Popen[bytes], timeout: float | None) -> bool:
        """Serve until the program has ended. True if its time was up."""
        deadline = None if timeout is None else time.monotonic() + timeout
        ended = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None
        pause = 0.02 if ended is None else 0.5
        if ended is not None:
            self._selector.register(ended, selectors.EVENT_READ)
        try:
            while process.poll() is None:
                rest = pause if deadline is None else min(pause, deadline - time.monotonic())
                if rest < 0:
                    process.kill()
                    process.wait()
                    return True
                self._serve(rest)
        finally:
            if ended is not None:
                self._selector.unregister(ended)
                os.close(ended)
            self._listen()
        return False

    def end_of_tree(self, mark: str, network: int | None, *, grace: float) -> tuple[str, ...]:
        """See processes that outlived the program to their end: by themselves within the grace, or not. Gives the latter."""
        deadline = time.monotonic() + grace
        while (alive := _alive(mark, network)) and time.monotonic() < deadline:
            self._serve(0.02)
        for pid in alive:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self._listen()
        self._selector.close()
        return tuple(alive.values())

    def _serve(self, pause: float) -> None:
        for key, _ in self._selector.select(pause):
            if key.fileobj is self._channel:
                self._listen()
            elif self._notices is not None and key.fileobj is self._notices:
                self.take(self._notices.answer())

    def _listen(self) -> None:
        for message in self._channel.messages():
            self.take(message)
            if self._on_message is not None:
                self._on_message(message)

    def take(self, message: dict[str, Any] | None) -> None:
        """Keep a report."""
        if message is None:
            return
        kind = message.get("type")
        if kind != "blocked":
            self.messages.append(message)
            if kind in self._counts:
                self._counts[kind] += 1
            if kind == "served":
                self._after = message.get("seq")
            return
        key = tuple(str(message.get(name)) for name in ("what", "target", "where", "command", "by"))
        if key not in self.blocked:
            self.blocked[key] = {**message, **self._before(), "count": 0}
        self.blocked[key]["count"] += 1

    def _before(self) -> Mapping[str, Any]:
        """Where the run is: as the service knows it, else by what was reported."""
        if self._service is not None:
            return self._service.progress()
        return {"after": self._after, "served": self._counts["served"], "divergences": self._counts["divergence"]}


def _own_network(started: _Started) -> int | None:
    """The number of the program's network namespace, if it has one of its own."""
    network = _network(started.process.pid) if NAMESPACE in started.guard else None
    return None if network == _network(os.getpid()) else network


def _network(pid: int) -> int | None:
    """The number of the network namespace of a process."""
    try:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    except OSError:
        return None


def _alive(mark: str, network: int | None) -> dict[int, str]:
    """Processes of this run, by the name of its pipe in their environment, or by its own network: pid → command."""
    found = {}
    sought = f"{guard.PIPE}={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if sought in (entry / "environ").read_bytes() or (network is not None and _network(int(entry.name)) == network):
                words = (entry / "cmdline").read_bytes().decode("utf-8", "backslashreplace").split("\0")
                found[int(entry.name)] = " ".join(words).strip()[:200]
        except OSError:
            continue
    return found
