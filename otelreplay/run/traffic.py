"""What a network namespace counted: the check on the other guards.

Nothing but what goes to the stub should ever be sent inside of the namespace: every attempt is stopped before that. The kernel
counts all the same, for each namespace by itself. A count that is not zero is an attempt that no other guard has seen, whether
or not it could have reached anything.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any, Final

_COUNTED: Final = {
    "TcpActiveOpens": ("connect", "by TCP"),
    "UdpOutDatagrams": ("send", "by UDP"),
    "Udp6OutDatagrams": ("send", "by UDP"),
    "UdpLiteOutDatagrams": ("send", "by UDP-Lite"),
    "UdpLite6OutDatagrams": ("send", "by UDP-Lite"),
}


class Traffic:
    """The counters of the namespace that a process is in. An open file keeps them when the process is gone."""

    def __init__(self, pid: int) -> None:
        self._files = []
        for name in ("snmp", "snmp6"):  # the latter is not there where the kernel has no IPv6
            with contextlib.suppress(OSError):
                self._files.append(os.open(f"/proc/{pid}/net/{name}", os.O_RDONLY | os.O_CLOEXEC))

    def close(self) -> None:
        """Let the namespace go."""
        for file in self._files:
            os.close(file)

    def attempts(self, served: int = 0) -> list[dict[str, Any]]:
        """What was sent in there, as attempts; ``served``: connections to the stub, which are none."""
        counts = read("".join(os.pread(file, 1 << 16, 0).decode("ascii", "replace") for file in self._files))
        counts[_COUNTED["TcpActiveOpens"]] = max(counts[_COUNTED["TcpActiveOpens"]] - served, 0)
        return [
            {
                "type": "blocked",
                "what": what,
                "target": f"{how}, {count} in all, inside of the empty network",
                "by": "network namespace",
            }
            for (what, how), count in counts.items()
            if count
        ]


def read(text: str) -> dict[tuple[str, str], int]:
    """The counters that matter. ``snmp`` has a line of names, then one of numbers; ``snmp6`` a name and a number a line."""
    found = dict.fromkeys(_COUNTED.values(), 0)
    names: list[str] = []
    for words in map(str.split, text.splitlines()):
        if words[:1] == names[:1]:
            pairs = [(f"{words[0].rstrip(':')}{name}", value) for name, value in zip(names[1:], words[1:], strict=False)]
        else:
            pairs = [(words[0], words[1])] if len(words) == 2 else []
        names = words
        for name, value in pairs:
            if name in _COUNTED and value.isdigit():
                found[_COUNTED[name]] += int(value)
    return found
