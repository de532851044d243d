"""The guard inside every Python process of a replay: what would go live is refused, and the supervisor is told.

Theory of operation. CPython reports what it is about to do (``sys.audit``): a connection, a datagram, a name to look up, a
program to start. The hook below is process-wide, so that it does not matter which library, thread, executor or event loop
asks. It cannot be taken out again. A refused attempt is reported first and refused after that: a program that catches the
exception goes on, and the run ends with exit code 4 all the same, because the report is with the supervisor by then.

Reports go over a named pipe that is opened for each of them: a program may close every descriptor it finds, may fork, may be
killed in the next instruction. A frame is one line of at most PIPE_BUF bytes, which the system writes whole or not at all:

    <pid> <number of the message> <1: more follows, 0: the last> <a piece of the message's JSON, ASCII>

What this hook cannot see: extension modules that call the system by themselves (grpc, uvloop), other programs, interpreters
that ignore the environment. Seccomp sees them (:mod:`otelreplay.run.notices`); where there is no seccomp, other programs are
not started at all.

This file is loaded by its path in processes that may not have otelreplay installed: it imports the standard library alone,
and nothing there that a program would not have anyway.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

PIPE, SECCOMP, SINCE, FOLDER = "OTELREPLAY_RUN_PIPE", "OTELREPLAY_RUN_SECCOMP", "OTELREPLAY_RUN_SINCE", "OTELREPLAY_RUN_FOLDER"
STUB = "OTELREPLAY_RUN_STUB"
"""Variables of the guard: its pipe; whether seccomp covers other programs; when the run began, in ns; the start-up folder; the
address at which the recorded answers are served, the one that may be reached."""
OURS = (PIPE, SECCOMP, SINCE, FOLDER, STUB)
PIECE = 3800
FRAMES = 24
REPEATS = 50
"""Reports of the same attempt from one process; a program that tries for ever does not fill the pipe."""
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_ALG = 1, 2, 10, 16, 38
LOCAL_FAMILIES = (AF_UNIX, AF_NETLINK, AF_ALG)
QUIET_SOCKETS = (
    *("/run/nscd/", "/var/run/nscd/", "/run/systemd/userdb/", "/var/lib/sss/pipes/"),
    *("/run/uuidd/", "/var/run/uuidd/"),
)
"""Local services that the C library asks by itself, and does without: refused, and no attempt of the program's."""
_PYTHON = re.compile(r"(python|pypy)[0-9.]*t?(\.exe)?$")
WHAT = ("connect", "send", "look up", "start", "open", "call")
"""What an attempt was about."""
_HARMLESS_NAMES = ("", "localhost", "localhost.localdomain", "ip6-localhost", "0.0.0.0", "::")


_settings = {name: os.environ.get(name, "") for name in OURS}
"""As they were at the start: a program may empty its environment."""
_stub = _settings[STUB].partition("://")[2].partition("/")[0]
"""``host:port``; empty where nothing is served."""


class _State(threading.local):
    busy = False


_state = _State()
_count: dict[str, int] = {}
_numbers = iter(range(1, sys.maxsize))
_installed: list[int] = []
around: list[Callable[[], str]] = []
"""Put there by the replaying process: gives the name of the boundary that the running code is in."""


allowed: list[Callable[[], bool]] = []
"""Put there where a tool of ``--live-tool`` is: says whether it is what runs now."""
_unsaid: list[Mapping[str, Any]] = []
"""Attempts that could not be told yet: a process may have no descriptor left."""


def say(message: Mapping[str, Any]) -> bool:
    """Send a message to the supervisor; False if it could not be.

    An attempt that could not be told goes before whatever is told next, so that no result arrives without it.
    """
    while _unsaid and _say(_unsaid[0]):
        del _unsaid[0]
    if not _unsaid and _say(message):
        return True
    if message.get("type") == "blocked" and len(_unsaid) < REPEATS:
        _unsaid.append(message)
    return False


def _say(message: Mapping[str, Any]) -> bool:
    text = json.dumps(message, ensure_ascii=True, separators=(",", ":"), default=str)
    number, pid = next(_numbers), os.getpid()
    try:
        descriptor = os.open(_settings[PIPE], os.O_WRONLY | os.O_NONBLOCK)  # never waits for a reader that is gone
    except OSError:
        return False
    try:
        os.set_blocking(descriptor, True)
        for start in range(0, len(text) or 1, PIECE):
            more = start + PIECE < len(text)
            os.write(descriptor, f"{pid} {number} {int(more)} {text[start : start + PIECE]}\n".encode("ascii"))
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def refuse(what: str, target: str, error: Callable[[str], OSError] | None = None) -> None:
    """Tell the supervisor of an attempt, then raise."""
    stack = frames()
    where = next((f for f in stack if not foreign(f)), stack[0] if stack else "")
    key = f"{what} {target} {where}"
    _count[key] = _count.get(key, 0) + 1
    if _count[key] <= REPEATS:
        told = say(
            {
                "type": "blocked",
                "what": what,
                "target": target,
                "pid": os.getpid(),
                "thread": threading.current_thread().name,
                "where": where,
                "boundary": around[0]() if around else "",
                "stack": stack,
                "by": "python hooks",
            }
        )
        if not told and _settings[SECCOMP] == "1" and what in ("connect", "send"):
            return  # the kernel stops it, and tells the supervisor by itself
    text = f"otelreplay: a replay never goes live: {what} {target} was blocked"
    raise error(text) if error else PermissionError(errno.EACCES, text)


def frames() -> list[str]:
    """``file:line in function`` of the running code, innermost first, without the guard's own."""
    frame, found = sys._getframe(1), list[str]()
    while frame is not None and len(found) < FRAMES:
        if frame.f_code.co_filename != __file__:
            found.append(f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}")
        frame = frame.f_back  # type: ignore[assignment]
    return found


_LIBRARY = (os.path.dirname(os.__file__) + os.sep, "<frozen")  # noqa: PTH120 - as few imports as can be
_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def foreign(frame: str) -> bool:
    """Is it a frame of the standard library or of an installed package? Then it is not the agent's own."""
    return frame.startswith((*_LIBRARY, _OURS)) or any(part in frame for part in _PACKAGES)


def unix_allowed(path: str | bytes, stat_of: str = "", since: int | None = None) -> bool | None:
    """May a Unix socket be reached? None: it is refused without a word.

    A socket file made since the run began belongs to the run (multiprocessing, an agent's own server); a file that is not
    there leads nowhere. All others are somebody's daemon.
    """
    name = os.fsdecode(path)
    if name.startswith("\0"):
        return False
    if name.startswith(QUIET_SOCKETS):
        return None
    try:
        made = os.stat(stat_of or name).st_ctime_ns  # noqa: PTH116
    except OSError:
        return True
    return made >= (int(_settings[SINCE] or 0) if since is None else since)


_bound: set[str | bytes] = set()


def _socket_made(_self: Any, family: int, kind: int, protocol: int) -> None:
    family, kind = int(family), int(kind) & 0xF
    if family == -1 or family in LOCAL_FAMILIES:
        return
    if family not in (AF_INET, AF_INET6) or kind not in (-1 & 0xF, 1, 2) or protocol == 132:
        refuse("open", f"a socket of family {family}, type {kind}")


def _connect(sock: Any, address: Any) -> None:
    _reach("connect", sock, address)


def _send(sock: Any, address: Any) -> None:
    if address is not None:
        _reach("send", sock, address)


def _bind(sock: Any, address: Any) -> None:
    if int(sock.family) == AF_UNIX and address and isinstance(address, (str, bytes)):
        _bound.add(address)


def _reach(what: str, sock: Any, address: Any) -> None:
    family = int(sock.family)
    if family == AF_UNIX and isinstance(address, (str, bytes)):
        allowed = address in _bound or unix_allowed(address)
        if allowed is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "otelreplay: local services are not asked in a replay")
        if not allowed:
            refuse(what, "unix:" + os.fsdecode(address).replace("\0", "@"))
    elif family not in LOCAL_FAMILIES and not (what == "connect" and _stub and shown(address) == _stub):
        refuse(what, shown(address))


def shown(address: Any) -> str:
    """``host:port``, ``[host]:port``."""
    if isinstance(address, tuple) and len(address) >= 2:
        host = os.fsdecode(address[0]) if isinstance(address[0], (str, bytes)) else str(address[0])
        return f"[{host}]:{address[1]}" if ":" in host else f"{host}:{address[1]}"
    return str(address)


def _lookup(host: Any, *_rest: Any) -> None:
    name = os.fsdecode(host) if isinstance(host, (str, bytes)) else ""
    if name.lower() in _HARMLESS_NAMES or _numeric(name):
        return
    if name == os.uname().nodename:  # a program that asks for its own name (getfqdn) reaches for nobody
        raise _gaierror("otelreplay: names are not looked up in a replay")
    refuse("look up", name, _gaierror)


def _lookup_args(arguments: Any, *_rest: Any) -> None:
    _lookup(arguments[0] if isinstance(arguments, tuple) else arguments)


def _reverse(address: Any, *_rest: Any) -> None:
    host = address[0] if isinstance(address, tuple) and address else address
    name = os.fsdecode(host) if isinstance(host, (str, bytes)) else str(host)
    if name.startswith("127.") or name in ("::1", *_HARMLESS_NAMES):
        return
    if _numeric(name):
        refuse("look up", name, _gaierror)
    _lookup(name)


def _gaierror(text: str) -> OSError:
    import socket

    return socket.gaierror(socket.EAI_FAIL, text)


def _numeric(name: str) -> bool:
    """Is it an address in numbers? Then there is nothing to look up."""
    host = name.partition("%")[0]
    return bool(re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9]+|[0-9a-fA-F.]*:[0-9a-fA-F:.]*", host))


def _popen(executable: Any, arguments: Any, _cwd: Any, env: Any) -> None:
    _start(executable, arguments, env)


def _spawn(path: Any, arguments: Any, env: Any) -> None:
    _start(path, arguments, env)


def _spawn_mode(_mode: Any, path: Any, arguments: Any, env: Any) -> None:
    _start(path, arguments, env)


def _system(line: Any) -> None:
    _start("/bin/sh", ["sh", "-c", line], None)


def _start(program: Any, arguments: Any, env: Any) -> None:
    """Without seccomp, a program is started only if it is a Python that will carry this guard."""
    if _settings[SECCOMP] == "1":
        return
    words = [os.fsdecode(a) for a in ([arguments] if isinstance(arguments, (str, bytes)) else list(arguments or ()))]
    name = os.fsdecode(program if program else words[0] if words else "")
    short = name.rpartition(os.sep)[2]
    if _PYTHON.match(short) and _carries(words[1:], os.environ if env is None else env):
        return
    refuse("start", " ".join([name, *words[1:]])[:200])


def _carries(arguments: Sequence[str], env: Mapping[Any, Any]) -> bool:
    """Will a Python with these arguments and this environment load the guard at its start?"""
    for word in arguments:
        if not word.startswith("-") or word in ("-", "-c", "-m") or word.startswith("--"):
            break
        if set(word[1:]) & set("EIS"):
            return False
        if word[1] in "cm":
            break
    variables = {os.fsdecode(k): os.fsdecode(v) for k, v in env.items()}
    first = variables.get("PYTHONPATH", "").split(os.pathsep)[0]
    return bool(first) and first == _settings[FOLDER] and bool(variables.get(PIPE))


_HANDLERS: dict[str, Callable[..., None]] = {
    "socket.__new__": _socket_made,
    "socket.connect": _connect,
    "socket.sendto": _send,
    "socket.sendmsg": _send,
    "socket.bind": _bind,
    "socket.getaddrinfo": _lookup,
    "socket.gethostbyname": _lookup_args,
    "socket.gethostbyaddr": _reverse,
    "socket.getnameinfo": _reverse,
    "subprocess.Popen": _popen,
    "os.exec": _spawn,
    "os.posix_spawn": _spawn,
    "os.spawn": _spawn_mode,
    "os.system": _system,
}


def hook(event: str, arguments: tuple[Any, ...]) -> None:
    """The audit hook: nearly always one look into a dict."""
    handler = _HANDLERS.get(event)
    if handler is None or _state.busy or (allowed and allowed[0]()):
        return
    _state.busy = True
    try:
        handler(*arguments)
    finally:
        _state.busy = False


def install() -> None:
    """Put the guard in place; once is enough, twice is the same."""
    if not _installed:
        _installed.append(os.getpid())
        sys.addaudithook(hook)


def refuse_boundaries() -> None:
    """In any process but the replaying one, a decorated function neither runs nor has an answer: its call is an attempt."""
    try:
        from otelreplay import boundary
    except ImportError:  # no decorated function can be there either
        return

    class Elsewhere:
        """Stands at the boundaries of a process that has no session."""

        def call(self, call: boundary.Call, /) -> boundary.Answer:
            try:
                refuse("call", f"{call.kind} {call.name} outside of the replayed process")
            except OSError as error:
                raise boundary.ReplayStopped(str(error)) from None
            raise AssertionError("refused calls never get here")

        def enter(self, _call: boundary.Call, /) -> object:
            return None

        def leave(self, _token: object, /, **_ended: object) -> None:
            return None

    boundary.install(Elsewhere())
