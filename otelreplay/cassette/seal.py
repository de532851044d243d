"""The last line: counts, Merkle root, what is known to be missing, and a signature over all of it.

The signature covers these bytes and no others:

    b"otelreplay seal 1\\n" + the seal's line up to, not including, `,"signature":` + b"}"

so nothing has to be put into a canonical form to check it. The line is refused unless writing it anew gives the same bytes.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field, replace
from typing import Any

from otelreplay import canonical
from otelreplay.cassette.keys import Signer, key_id, signature_holds
from otelreplay.cassette.merkle import CHECK_BYTES
from otelreplay.errors import CassetteFormatError, IntegrityError

DOMAIN = b"otelreplay seal 1\n"
PREFIX = b'{"type":"seal",'

_HEX = re.compile(r"[0-9a-f]*")
_MEMBERS = ("lines", "events", "blobs", "root", "checks", "completeness")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """What the last line says."""

    lines: int
    """Lines before the seal."""
    events: int
    blobs: int
    root: str
    """Hex Merkle root over every line before the seal."""
    checks: str
    """The first 6 hex digits of the leaf hash of every line before the seal, joined: they say *which* line was altered."""
    completeness: dict[str, Any]
    """``spans``, ``logs``, run-level ``missing`` and ``notes``, and the caller's ``summary``."""
    public: str = ""
    """Hex of the signer's raw public key."""
    signature: bytes = b""
    further: dict[str, Any] = field(default_factory=dict)
    """Members of later versions."""

    @property
    def signer(self) -> str:
        """Id of the key that signed."""
        return key_id(bytes.fromhex(self.public))

    def signed_bytes(self) -> bytes:
        """What the signature is over."""
        members = {"type": "seal"} | {name: getattr(self, name) for name in _MEMBERS} | self.further
        members |= {"signer": self.signer, "public": self.public}
        return DOMAIN + canonical.dumps(members)

    def sealed_by(self, signer: Signer) -> bytes:
        """The line of the same seal with the signer's signature, newline included."""
        data = replace(self, public=signer.public.hex()).signed_bytes()
        return _line(data, signer.sign(data))

    def line(self) -> bytes:
        """The line, newline included."""
        return _line(self.signed_bytes(), self.signature)

    def holds(self) -> bool:
        """True if the named key signed this; says nothing of whether the key is trusted."""
        return signature_holds(bytes.fromhex(self.public), self.signed_bytes(), self.signature)


def _line(signed: bytes, signature: bytes) -> bytes:
    return signed.removeprefix(DOMAIN)[:-1] + b',"signature":"%s"}\n' % base64.b64encode(signature)


def parse_seal(line: bytes, where: str) -> Seal:
    """The seal that a line holds; raises IntegrityError for one that the writer would not have written."""
    try:
        members = canonical.loads(line)
        seal = _seal(members)
        same = seal.line() == line
    except (ValueError, KeyError, TypeError, AttributeError, CassetteFormatError, binascii.Error):
        same = False
    if not same:
        raise IntegrityError("the seal is not in the form in which it is written", code="cassette.seal", where=where)
    return seal


def _seal(members: dict[str, Any]) -> Seal:
    values = {name: members.pop(name) for name in (*_MEMBERS, "public")}
    signature = base64.b64decode(members.pop("signature"), validate=True)
    del members["type"], members["signer"]
    numbers = [values[name] for name in ("lines", "events", "blobs")]
    if any(type(number) is not int or number < 0 for number in numbers) or not isinstance(values["completeness"], dict):
        raise ValueError
    hexes = {"root": 64, "public": 64, "checks": 2 * CHECK_BYTES * values["lines"]}
    if any(len(values[name]) != size or not _HEX.fullmatch(values[name]) for name, size in hexes.items()):
        raise ValueError
    if len(signature) != 64:
        raise ValueError
    return Seal(**values, signature=signature, further=members)
