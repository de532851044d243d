"""What is put where a rule matched. Pure: the key is a value that the caller brings."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

from otelreplay.redaction.placeholders import mail_label

KEYED: Final = frozenset({"pseudonym", "hash"})
"""Actions that need a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PseudonymKey:
    """The secret under which one tenant's pseudonyms are made. Never stored with what it protects."""

    secret: bytes
    """At least 16 bytes from a cryptographic random source."""
    epoch: int = 1
    """Rotation counter; part of the input, so that a new epoch gives new pseudonyms."""
    tenant: str = ""

    def __post_init__(self) -> None:
        """Refuse a key that could be guessed."""
        if len(self.secret) < 16:
            raise ValueError("a pseudonym key needs at least 16 bytes")

    def __repr__(self) -> str:
        return f"PseudonymKey(epoch={self.epoch}, tenant={self.tenant!r})"

    def digest(self, rule: str, text: str) -> bytes:
        """HMAC-SHA256 over epoch, tenant, rule and text; lengths are part of the input, so that no two inputs coincide."""
        head = f"{self.epoch}\x00{len(self.tenant)}\x00{self.tenant}\x00{rule}\x00"
        return hmac.new(self.secret, (head + text).encode("utf-8", "surrogatepass"), hashlib.sha256).digest()


def mask(rule: str) -> str:
    """``[REDACTED:rule]``."""
    return f"[REDACTED:{rule}]"


def dropped(rule: str) -> str:
    """``[DROPPED:rule]``."""
    return f"[DROPPED:{rule}]"


def pseudonym(rule: str, text: str, key: PseudonymKey, *, mail: bool = False) -> str:
    """``[rule#...]``, or an address under ``.invalid`` for e-mail: 80 bits, the same for the same text."""
    short = base64.b32encode(key.digest(rule, text)[:10]).decode("ascii").lower()
    return f"{short}@{mail_label(rule)}.invalid" if mail else f"[{rule}#{short}]"


def keyed_hash(rule: str, text: str, key: PseudonymKey) -> str:
    """``[rule#sha256:...]``: 128 bits of the same HMAC."""
    return f"[{rule}#sha256:{key.digest(rule, text).hex()[:32]}]"


def truncate(rule: str, text: str, keep: int) -> str:
    """The first ``keep`` characters and a marker; text that is no longer than that stays as it is."""
    marker = f"[TRUNCATED:{rule}]"
    if len(text) <= keep or text.endswith(marker):
        return text
    return text[:keep] + marker
