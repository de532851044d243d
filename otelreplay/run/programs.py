"""The seccomp program: which system calls of the replayed processes stop and ask the supervisor.

A program in the language of the kernel's packet filter reads the number of the call and its arguments, never memory. What
cannot reach anything passes at once; what may stops until the supervisor has read the address (:mod:`otelreplay.run.notices`).

    connect, bind, sendmsg, sendmmsg       ask
    sendto                                 ask, if it names an address; without one it is a plain send
    socket                                 pass for Unix, netlink, kernel crypto, TCP, UDP; ask for all else (raw, packet)
    io_uring_setup                         "no such call": its operations would pass this filter by; programs fall back
    network calls of the other ABI (32 bit, x32)     "no such call"
    everything else                        pass

Pure: numbers in, bytes out.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

_LOAD, _EQUAL, _AND, _ATLEAST, _RETURN = 0x20, 0x15, 0x54, 0x35, 0x06
ALLOW, NOTIFY, ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000
_ENOSYS = 38
_NUMBER, _ARCH = 0, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Numbers of system calls on one kind of processor."""

    arch: int
    other: int
    """The 32-bit ABI that the same kernel may run."""
    other_calls: tuple[int, ...]
    """Its calls that open, connect or send."""
    x32: bool = False
    seccomp: int
    pidfd_getfd: int = 438
    socket: int
    bind: int
    connect: int
    sendto: int
    sendmsg: int
    sendmmsg: int
    io_uring_setup: int = 425

    def name(self, number: int) -> str:
        """``connect``, ``sendto``, ..."""
        return next(n for n in ("socket", "bind", "connect", "sendto", "sendmsg", "sendmmsg") if getattr(self, n) == number)


MACHINES: Final = {
    "x86_64": Machine(
        arch=0xC000003E, other=0x40000003, other_calls=(102, 345, 359, 362, 369, 370, 425), x32=True,
        seccomp=317, socket=41, bind=49, connect=42, sendto=44, sendmsg=46, sendmmsg=307,
    ),
    "aarch64": Machine(
        arch=0xC00000B7, other=0x40000028, other_calls=(102, 281, 283, 290, 296, 374, 425),
        seccomp=277, socket=198, bind=200, connect=203, sendto=206, sendmsg=211, sendmmsg=269,
    ),
}  # fmt: skip
"""By the names that ``os.uname().machine`` gives."""

_Row = tuple[int, int, int, int]


def program(machine: Machine) -> bytes:
    """The filter as an array of ``struct sock_filter``."""
    asks = (machine.connect, machine.bind, machine.sendmsg, machine.sendmmsg)
    native = [_load(_NUMBER)]
    if machine.x32:
        native += [(_ATLEAST, 0, 1, 0x40000000), _end(ERRNO | _ENOSYS)]
    for number in asks:
        native += _block(number, [_end(NOTIFY)])
    native += _block(machine.io_uring_setup, [_end(ERRNO | _ENOSYS)])
    native += _block(machine.sendto, _sendto())
    native += _block(machine.socket, _socket())
    native.append(_end(ALLOW))
    foreign = [_load(_NUMBER)]
    for number in machine.other_calls:
        foreign += _block(number, [_end(ERRNO | _ENOSYS)])
    foreign.append(_end(ALLOW))
    rows = [
        _load(_ARCH),
        (_EQUAL, len(foreign) + 2, 0, machine.arch),
        (_EQUAL, 1, 0, machine.other),
        _end(ERRNO | _ENOSYS),
        *foreign,
        *native,
    ]
    return b"".join(struct.pack("<HBBI", *row) for row in rows)


def _load(offset: int) -> _Row:
    return (_LOAD, 0, 0, offset)


def _end(action: int) -> _Row:
    return (_RETURN, 0, 0, action)


def _block(number: int, rows: list[_Row]) -> list[_Row]:
    """``rows`` for the system call of that number; all of them end in a return."""
    return [(_EQUAL, 0, len(rows), number), *rows]


def _argument(index: int, *, high: bool = False) -> _Row:
    return _load(16 + 8 * index + 4 * high)


def _sendto() -> list[_Row]:
    """Ask if the fifth argument, the address, is not null."""
    return [_argument(4), (_EQUAL, 0, 2, 0), _argument(4, high=True), (_EQUAL, 1, 0, 0), _end(NOTIFY), _end(ALLOW)]


def _socket() -> list[_Row]:
    """By family, then type (without its flags), then protocol: SCTP connects by a socket option, so it asks here."""
    return [
        _argument(0),
        (_EQUAL, 11, 0, 1),
        (_EQUAL, 10, 0, 16),
        (_EQUAL, 9, 0, 38),
        (_EQUAL, 2, 0, 2),
        (_EQUAL, 1, 0, 10),
        _end(NOTIFY),
        _argument(1),
        (_AND, 0, 0, 0xF),
        (_EQUAL, 3, 0, 2),
        (_EQUAL, 0, 3, 1),
        _argument(2),
        (_EQUAL, 1, 0, 132),
        _end(ALLOW),
        _end(NOTIFY),
    ]
