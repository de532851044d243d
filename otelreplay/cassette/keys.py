"""Who sealed a cassette: Ed25519 signatures and the keys that are trusted. No files here; see ``keyring`` for those.

A key is named by the first 32 hex digits of the SHA-256 of its raw 32-byte public key.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def key_id(public: bytes) -> str:
    """The name of a raw public key."""
    return sha256(public).hexdigest()[:32]


_LOW_ORDER = frozenset(
    bytes.fromhex(encoding)
    for encoding in (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
)
"""The points of small order and their other encodings, sign bit off: under such a "key" anybody can sign anything."""


def is_public_key(public: bytes) -> bool:
    """True for 32 bytes that are no point of small order."""
    return len(public) == 32 and public[:31] + bytes([public[31] & 0x7F]) not in _LOW_ORDER


class Signer:
    """A private key that seals. Never shows the key in text."""

    __slots__ = ("_private", "key_id", "public")

    def __init__(self, private: bytes) -> None:
        if len(private) != 32:
            raise ValueError("an Ed25519 private key has 32 bytes")
        self._private = Ed25519PrivateKey.from_private_bytes(private)
        self.public = self._private.public_key().public_bytes_raw()
        self.key_id = key_id(self.public)

    def __repr__(self) -> str:
        return f"Signer({self.key_id})"

    def sign(self, data: bytes) -> bytes:
        """64 bytes; the same data gives the same signature."""
        return self._private.sign(data)


class TrustStore:
    """The public keys whose seals count. Immutable: :meth:`adding` gives a larger one."""

    __slots__ = ("_keys",)

    def __init__(self, publics: Iterable[bytes] = ()) -> None:
        self._keys = {key_id(public): bytes(public) for public in publics}

    def __contains__(self, public: bytes) -> bool:
        return self._keys.get(key_id(public)) == public

    def __len__(self) -> int:
        return len(self._keys)

    def adding(self, public: bytes) -> TrustStore:
        """A store that trusts one key more."""
        return TrustStore([*self._keys.values(), public])

    def ids(self) -> tuple[str, ...]:
        """Ids of the trusted keys, sorted."""
        return tuple(sorted(self._keys))


def signature_holds(public: bytes, data: bytes, signature: bytes) -> bool:
    """True if the owner of ``public`` signed exactly ``data``."""
    if not is_public_key(public):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True
