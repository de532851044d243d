"""Who may send, and as which tenant. No I/O."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Mapping

from otelreplay.errors import UsageError

SHORTEST = 16
"""Characters of a token: a shorter one could be guessed."""


class Access:
    """Bearer tokens to tenants; without any token everybody may send. ``default``: the tenant where none is named."""

    def __init__(self, tokens: Mapping[str, str], *, default: str = "") -> None:
        self._default = default
        self._tenants = {_digest(token): tenant or default for token, tenant in tokens.items()}

    @property
    def open(self) -> bool:
        """May anybody send?"""
        return not self._tenants

    @property
    def tenants(self) -> tuple[str, ...]:
        """Every tenant that may send."""
        return tuple(sorted(set(self._tenants.values()))) or (self._default,)

    def tenant(self, authorization: str) -> str | None:
        """The tenant that an ``Authorization`` header names; None when it may not send."""
        if self.open:
            return self._default
        scheme, _, token = authorization.partition(" ")
        digest = _digest(token.strip())
        found = [tenant for known, tenant in self._tenants.items() if hmac.compare_digest(known, digest)]
        return found[0] if found and scheme.lower() == "bearer" else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def parse_tokens(text: str, where: str) -> dict[str, str]:
    """Token to tenant, from lines ``TENANT TOKEN`` (``-`` for the tenant without a name); # begins a comment."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or len(words[1]) < SHORTEST or not _sendable(words[1]) or words[1] in found:
            raise UsageError(
                f"line {number} is no tenant and token",
                code="serve.tokens",
                where=where,
                next_step=f"write TENANT TOKEN in each line, each token once, of {SHORTEST} characters of ASCII or more",
            )
        found[words[1]] = "" if words[0] == "-" else words[0]
    if not found:
        raise UsageError("it names no token", code="serve.tokens", where=where, next_step="write TENANT TOKEN in each line")
    return found


def _sendable(token: str) -> bool:
    """Can a header carry it, on both ways in?"""
    return token.isascii() and token.isprintable()


def is_loopback(host: str) -> bool:
    """Can nobody but this machine reach an address?"""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
