"""Starts a program that cannot reach the network: run as a script, replaces itself by the program.

    python -I -S launch.py SOCKET FILTER NAMESPACE LANDLOCK STUB COMMAND...

SOCKET: descriptor of a Unix socket to the supervisor. It is sent one JSON object, what was put in place, with the listener of
the seccomp filter as a descriptor beside it, and answers with a byte; then the command begins. FILTER: the seccomp program in
hexadecimal, or ``-``. NAMESPACE: ``1`` to leave the machine's network. LANDLOCK: ``1`` to give up TCP to any port but STUB, a
port of the loopback, or ``0``.
A socket belongs to the network in which it was made, whoever accepts on it: so the one on which the supervisor serves is made
here, inside of the namespace, and handed over as another descriptor.

The filter holds for the thread that installs it and for all that comes from it. So a second thread installs it and later
becomes the program (``execve`` ends all other threads), while the first, to which the filter does not apply, hands over the
listener: under the filter, sending a descriptor would wait for a listener that nobody has yet.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import platform
import socket
import struct
import sys
import threading

NEW_USER, NEW_NET = 0x10000000, 0x40000000
NO_NEW_PRIVILEGES, SET_FILTER, NEW_LISTENER = 38, 1, 1 << 3
SECCOMP = {"x86_64": 317, "aarch64": 277}
NEW_RULES, ADD_RULE, RESTRICT = 444, 445, 446  # the same number on every machine
CONNECT_TCP, PORT_RULE, ABSTRACT_SOCKETS = 2, 2, 1
"""Of Landlock, from ``linux/landlock.h``: TCP since its version 4, abstract Unix sockets since version 6."""
_libc = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    """Never returns."""
    number, program, namespace, command = int(arguments[0]), arguments[1], arguments[2] == "1", arguments[5:]
    landlock, port = arguments[3] == "1", int(arguments[4])
    said: dict[str, object] = {"namespace": "", "seccomp": "", "landlock": ""}
    stub: list[int] = []
    if namespace:
        said["namespace"] = separate() if possible() else "not possible here"
        if not said["namespace"] and port:
            stub.append(listening(port))
    listener: list[int] = []
    installed, go = threading.Event(), threading.Event()

    def replaced() -> None:
        if program != "-":
            listener.append(install(bytes.fromhex(program)))
            said["seccomp"] = "" if listener[0] >= 0 else os.strerror(ctypes.get_errno())
        if landlock:
            said["landlock"] = restrict(port)
        installed.set()
        go.wait()
        os.environ["OTELREPLAY_RUN_SECCOMP"] = "1" if listener and listener[0] >= 0 else "0"
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"otelreplay: {command[0]}: {error.strerror}\n".encode())
            os._exit(127)

    thread = threading.Thread(target=replaced, daemon=True)
    thread.start()
    installed.wait()
    with socket.socket(fileno=number) as control:
        held = [d for d in listener if d >= 0]
        said["listener"] = bool(held)
        said["stub"] = bool(stub)
        socket.send_fds(control, [json.dumps(said).encode()], [*held, *stub])
        for descriptor in stub:
            os.close(descriptor)
        if not control.recv(1):
            os._exit(125)  # the supervisor is gone
    go.set()
    thread.join()


def listening(port: int) -> int:
    """A socket that listens on the loopback of the network that this process is in by now."""
    server = socket.socket()
    server.bind(("127.0.0.1", port))
    server.listen(1024)
    return server.detach()


def install(program: bytes) -> int:
    """Put the filter on this thread; the listener, or -1."""
    rows = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("@HxxxxxxP", len(program) // 8, ctypes.addressof(rows)))
    if _libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return -1
    listener = int(_libc.syscall(SECCOMP[platform.machine()], SET_FILTER, NEW_LISTENER, head))
    if listener >= 0:
        os.set_inheritable(listener, False)
    return listener


def restrict(port: int) -> str:
    """Give up TCP to all ports but this one, and abstract Unix sockets of others, for this thread. Text: why it cannot be done.

    Unlike the filter it asks nobody, so nobody can change an address between the question and the call.
    """
    version = int(_libc.syscall(NEW_RULES, None, 0, 1))
    if version < 4:
        return os.strerror(ctypes.get_errno()) if version < 0 else f"version {version} does not know of TCP"
    handled = struct.pack("@QQQ", 0, CONNECT_TCP, ABSTRACT_SOCKETS) if version >= 6 else struct.pack("@QQ", 0, CONNECT_TCP)
    rules = int(_libc.syscall(NEW_RULES, handled, len(handled), 0))
    if rules < 0:
        return os.strerror(ctypes.get_errno())
    try:
        allowed = struct.pack("@QQ", CONNECT_TCP, port)
        failed = port and _libc.syscall(ADD_RULE, rules, PORT_RULE, allowed, 0)
        failed = failed or _libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or _libc.syscall(RESTRICT, rules, 0)
        return os.strerror(ctypes.get_errno()) if failed else ""
    finally:
        os.close(rules)


def possible() -> bool:
    """Can this process leave the network? Tried in a fork: half of it done would leave a process without a user."""
    pid = os.fork()
    if not pid:
        try:
            os._exit(1 if separate() else 0)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def separate() -> str:
    """Leave the network of the machine, for one with nothing but a loopback of its own. Text: why it cannot be done."""
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(NEW_NET) and _libc.unshare(NEW_NET | NEW_USER):
        return os.strerror(ctypes.get_errno())
    try:
        if os.getuid() != user or not _mapped(user):
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{user} {user} 1")
            _write("/proc/self/gid_map", f"{group} {group} 1")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:  # programs listen on 127.0.0.1, so it must be up
            name = b"lo".ljust(16, b"\0")
            flags = struct.unpack_from("H", fcntl.ioctl(any_socket, 0x8913, name + bytes(24)), 16)[0]
            fcntl.ioctl(any_socket, 0x8914, name + struct.pack("H", flags | 1) + bytes(22))
    except OSError as error:
        return error.strerror or "refused"
    return ""


def _mapped(user: int) -> bool:
    with open("/proc/self/uid_map", encoding="ascii") as file:  # noqa: PTH123 - as few imports as can be
        return any(int(low) <= user < int(low) + int(count) for low, _, count in map(str.split, file))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
