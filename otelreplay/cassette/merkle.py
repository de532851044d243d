"""Merkle tree over the lines of a cassette, in the shape of RFC 6962 section 2.1.

    leaf  = SHA-256(0x00 || line)            the line's exact bytes, its final newline included
    node  = SHA-256(0x01 || left || right)   split at the largest power of two below the number of leaves
    root of no leaves = SHA-256("")

The tree is built as lines pass by and holds one hash for each bit of the count: complete subtrees of falling size.
"""

from __future__ import annotations

from hashlib import sha256

CHECK_BYTES = 3
"""Bytes of each leaf hash that the seal repeats, so that an altered line can be named and not only noticed."""


class MerkleTree:
    """Grows leaf by leaf in logarithmic memory."""

    __slots__ = ("_subtrees", "leaves")

    def __init__(self) -> None:
        self._subtrees: list[bytes] = []
        self.leaves = 0

    def add(self, line: bytes) -> bytes:
        """Append one line; returns its leaf hash (32 bytes)."""
        leaf = node = sha256(b"\x00" + line).digest()
        size = self.leaves
        while size & 1:
            node = sha256(b"\x01" + self._subtrees.pop() + node).digest()
            size >>= 1
        self._subtrees.append(node)
        self.leaves += 1
        return leaf

    def root(self) -> str:
        """Hex root over the lines so far."""
        if not self._subtrees:
            return sha256(b"").hexdigest()
        node = self._subtrees[-1]
        for left in reversed(self._subtrees[:-1]):
            node = sha256(b"\x01" + left + node).digest()
        return node.hex()
