"""Socket addresses as the kernel has them, read and judged. Pure."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from typing import Final, Literal

UNSPEC, UNIX, INET, NETLINK, INET6, ALG = 0, 1, 2, 16, 10, 38
_FAMILIES: Final = {17: "packet", 29: "can", 31: "bluetooth", 40: "vsock", 44: "xdp"}
DNS: Final = 53

Family = Literal["none", "unix", "inet", "local", "other"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a call is about to go."""

    family: Family
    host: str = ""
    port: int = 0
    path: bytes = b""
    """Of a Unix socket: its file, or its abstract name after a zero byte."""

    @property
    def loopback(self) -> bool:
        """This machine."""
        return self.family == "inet" and ipaddress.ip_address(self.host).is_loopback

    def text(self) -> str:
        """As people write it."""
        if self.family == "inet":
            return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        if self.family == "unix":
            return "unix:" + self.path.decode("utf-8", "backslashreplace").replace("\0", "@")
        return self.host or self.family


def decode(data: bytes) -> Address:
    """A ``struct sockaddr``. What is too short to be one is ``other``: it is not known to be harmless."""
    if len(data) < 2:
        return Address("other", "an address that cannot be read")
    (family,) = struct.unpack_from("=H", data)
    if family == UNSPEC:
        return Address("none")
    if family in (NETLINK, ALG):
        return Address("local", "netlink" if family == NETLINK else "kernel crypto")
    if family == UNIX:
        path = data[2:]
        return Address("unix", path=path if path[:1] == b"\0" else path.split(b"\0")[0])
    if family == INET and len(data) >= 8:
        return Address("inet", str(ipaddress.IPv4Address(data[4:8])), int.from_bytes(data[2:4], "big"))
    if family == INET6 and len(data) >= 24:
        return Address("inet", _v6(data[8:24]), int.from_bytes(data[2:4], "big"))
    return Address("other", f"an address of family {_FAMILIES.get(family, family)}")


def _v6(data: bytes) -> str:
    """An IPv4 address in IPv6 clothes is shown, and judged, as the former."""
    address = ipaddress.IPv6Address(data)
    return str(address.ipv4_mapped or address)
