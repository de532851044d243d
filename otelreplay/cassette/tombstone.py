"""A signed word that a sealed cassette is no longer to be used. The cassette itself stays as it is.

One line of JSON, ``tombstones/<root>.json``, signed like a seal: over ``b"otelreplay tombstone 1\\n"``, the line up to, not
including, ``,"signature":`` and ``b"}"``.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import Any

from otelreplay import canonical
from otelreplay.cassette.keys import Signer, TrustStore, key_id, signature_holds
from otelreplay.errors import CassetteFormatError, IntegrityError

DOMAIN = b"otelreplay tombstone 1\n"
_TEXTS = ("root", "run_id", "reason", "created", "public")
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Which cassette, why, and who said so."""

    root: str
    """Merkle root of the invalidated cassette."""
    run_id: str
    reason: str
    created: str
    """RFC 3339."""
    public: str = ""
    signature: bytes = b""

    @property
    def signer(self) -> str:
        """Id of the key that signed."""
        return key_id(bytes.fromhex(self.public))

    @property
    def name(self) -> str:
        """Its file name."""
        return f"{self.root}.json"

    def _signed_bytes(self) -> bytes:
        members = {"type": "tombstone"} | {name: getattr(self, name) for name in _TEXTS}
        return DOMAIN + canonical.dumps(members)

    def signed(self, signer: Signer) -> Tombstone:
        """The same with the signer's signature."""
        unsigned = replace(self, public=signer.public.hex())
        return replace(unsigned, signature=signer.sign(unsigned._signed_bytes()))

    def line(self) -> bytes:
        """Its file's content."""
        text = base64.b64encode(self.signature)
        return self._signed_bytes().removeprefix(DOMAIN)[:-1] + b',"signature":"%s"}\n' % text

    def check(self, trust: TrustStore) -> None:
        """Raise IntegrityError unless a trusted key signed it."""
        public = bytes.fromhex(self.public)
        if not signature_holds(public, self._signed_bytes(), self.signature):
            raise IntegrityError("the tombstone was altered", code="tombstone.signature", where=self.name)
        if public not in trust:
            raise IntegrityError(
                f"signed by {self.signer}, who is not in the trust store", code="tombstone.untrusted", where=self.name
            )


def parse_tombstone(line: bytes, where: str = "") -> Tombstone:
    """The tombstone that a file holds; raises IntegrityError for one that would not have been written so."""
    try:
        members: dict[str, Any] = canonical.loads(line)
        values = {name: members[name] for name in _TEXTS}
        _all_text(values)
        found = Tombstone(**values, signature=base64.b64decode(members["signature"], validate=True))
        same = found.line() == line
    except (ValueError, KeyError, TypeError, AttributeError, CassetteFormatError):
        same = False
    if not same:
        raise IntegrityError("the tombstone is not in the form in which it is written", code="tombstone.form", where=where)
    return found


def _all_text(values: dict[str, Any]) -> None:
    if not all(isinstance(value, str) for value in values.values()):
        raise TypeError
    for name in ("root", "public"):
        if len(values[name]) != 64 or not _HEX.issuperset(values[name]):
            raise ValueError
