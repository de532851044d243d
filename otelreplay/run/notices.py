"""The supervisor's end of seccomp: reads what a stopped system call is about to reach, and lets it go on or fails it.

Theory of operation. The kernel holds the calling thread until it has an answer. The supervisor reads the address out of the
caller's memory, checks that the caller still waits (its number might be another process's by then), and answers:

    go on      Unix sockets of the run itself, netlink, whatever names no address, a connection to the stub
    EACCES     everything else; recorded as an attempt
    refused    local services that the C library asks by itself (nscd); no attempt of the program's

"Go on" lets the kernel read the address again, so that a program which rewrites it in between, from another thread, gets past.
This guards against calls that a program makes, not against a program that attacks; with a network namespace even that one
finds nothing there. If the supervisor dies, the kernel fails every such call.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from otelreplay.run import addresses, guard
from otelreplay.run.addresses import Address
from otelreplay.run.programs import Machine

_RECEIVE, _SEND, _VALID = 0xC0502100, 0xC0182101, 0x40082102
_GO_ON: Final = 1
_NOTICE = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_MESSAGES = 1024
"""The kernel takes no more messages in one sendmmsg."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The thread that a call was stopped in."""

    thread: int
    call: str
    arguments: tuple[int, ...]

    def memory(self, place: int, size: int) -> bytes:
        """Bytes of its memory; OSError if they cannot be read."""
        with Path(f"/proc/{self.thread}/mem").open("rb", buffering=0) as file:
            return os.pread(file.fileno(), size, place)


class Notices:
    """The listener of one run. Not thread-safe; used by the supervisor's loop."""

    def __init__(
        self, listener: int, *, machine: Machine, since: int, own_network: bool, stub: tuple[str, int] = ("", 0)
    ) -> None:
        """``stub``: host and port at which the recorded answers are served."""
        self._listener, self._machine, self._since, self._own_network = listener, machine, since, own_network
        self._stub = stub
        self._bound: set[bytes] = set()

    def fileno(self) -> int:
        """Readable when a call waits."""
        return self._listener

    def close(self) -> None:
        """From now on the kernel fails the calls by itself."""
        os.close(self._listener)

    def answer(self) -> dict[str, Any] | None:
        """Take one waiting call, answer it; the attempt to record, if it is one."""
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, notice)
        except OSError:
            return None  # whoever waited was killed
        number, thread, _, call, _, _, *arguments = _NOTICE.unpack(notice)
        caller = Caller(thread=thread, call=self._machine.name(call), arguments=tuple(arguments))
        error, target = self._judge(caller)
        said = self._attempt(caller, target) if target else None
        try:
            fcntl.ioctl(self._listener, _VALID, struct.pack("=Q", number))
            fcntl.ioctl(self._listener, _SEND, bytearray(_ANSWER.pack(number, 0, -error, 0 if error else _GO_ON)))
        except OSError:
            pass  # it was killed meanwhile; the attempt was made all the same
        return said

    def _judge(self, caller: Caller) -> tuple[int, str]:
        """(error or 0, the target of an attempt or "")."""
        if caller.call == "socket":
            family, kind, protocol = caller.arguments[:3]
            return errno.EACCES, f"a socket of family {family & 0xFFFF}, type {kind & 0xF}, protocol {protocol & 0xFFFF}"
        try:
            found = [addresses.decode(data) for data in _named(caller)]
        except (OSError, struct.error):
            return errno.EACCES, "an address that cannot be read"
        if caller.call == "bind":
            self._bound.update(a.path for a in found if a.path[:1] == b"\0")
            return 0, ""
        for address in found:
            error, attempt = self._reach(caller, address)
            if error:
                return error, attempt
        return 0, ""

    def _reach(self, caller: Caller, address: Address) -> tuple[int, str]:
        if address.family in ("none", "local"):
            return 0, ""
        if address.family == "unix":
            allowed = address.path in self._bound or self._made_here(caller, address.path)
            if allowed is None:
                return errno.ECONNREFUSED, ""
            return (0, "") if allowed else (errno.EACCES, address.text())
        if caller.call == "connect" and (address.host, address.port) == self._stub:
            return 0, ""
        if caller.call == "connect" and address.loopback and address.port != addresses.DNS and _is_udp(caller):
            # getaddrinfo connects datagram sockets to every address it found, to sort them; nothing is sent by that.
            return (0, "") if self._own_network else (errno.EACCES, "")
        return errno.EACCES, address.text()

    def _made_here(self, caller: Caller, path: bytes) -> bool | None:
        name = os.fsdecode(path)
        root = f"/proc/{caller.thread}/" + (f"root{name}" if name.startswith("/") else f"cwd/{name}")
        return guard.unix_allowed(name, root, since=self._since)

    def _attempt(self, caller: Caller, target: str) -> dict[str, Any]:
        kind = {"connect": "connect", "socket": "open"}.get(caller.call, "send")
        return {
            "type": "blocked",
            "what": kind,
            "target": target,
            "pid": _process_of(caller.thread),
            "command": _command(caller.thread),
            "by": "seccomp",
        }


def _named(caller: Caller) -> list[bytes]:
    """The addresses that a call names, as bytes."""
    first, second, third = caller.arguments[1], caller.arguments[2], caller.arguments[4:6]
    if caller.call in ("connect", "bind"):
        return [caller.memory(first, min(second & 0xFFFFFFFF, 128))]
    if caller.call == "sendto":
        return [caller.memory(third[0], min(third[1] & 0xFFFFFFFF, 128))]
    count, size = (1, 56) if caller.call == "sendmsg" else (min(second & 0xFFFFFFFF, _MESSAGES), 64)
    heads = caller.memory(first, count * size)
    names = [struct.unpack_from("=QI", heads, at) for at in range(0, count * size, size)]
    return [caller.memory(place, min(length, 128)) for place, length in names if place and length]


_libc = ctypes.CDLL(None, use_errno=True)


def _is_udp(caller: Caller) -> bool:
    """Is the socket of this call one for datagrams? False where that cannot be seen."""
    try:
        process = os.pidfd_open(_process_of(caller.thread))
    except (OSError, AttributeError):
        return False
    try:
        copy = _libc.syscall(438, process, caller.arguments[0] & 0xFFFFFFFF, 0)
        if copy < 0:
            return False
        with socket.socket(fileno=copy) as held:
            return bool(held.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_DGRAM)
    except OSError:
        return False
    finally:
        os.close(process)


def _process_of(thread: int) -> int:
    try:
        for line in Path(f"/proc/{thread}/status").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("Tgid:"):
                return int(line[5:])
    except OSError:
        pass
    return thread


def _command(thread: int) -> str:
    """The command line of a process, as far as 200 characters go."""
    try:
        data = Path(f"/proc/{thread}/cmdline").read_bytes()
    except OSError:
        return ""
    return " ".join(data.decode("utf-8", "backslashreplace").split("\0")).strip()[:200]
