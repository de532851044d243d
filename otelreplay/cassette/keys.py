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
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True
