"""The Merkle tree has the shape of RFC 6962."""

from hashlib import sha256

import pytest

from otelreplay.cassette.merkle import MerkleTree


def root_by_definition(leaves):
    """RFC 6962, section 2.1, word for word."""
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0])
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + root_by_definition(leaves[:split]).digest() + root_by_definition(leaves[split:]).digest())


@pytest.mark.parametrize("count", [*range(35), 1000])
def test_the_root_is_the_one_that_the_rfc_defines(count):
    leaves = [str(n).encode() for n in range(count)]
    tree = MerkleTree()
    for leaf in leaves:
        assert tree.add(leaf) == sha256(b"\x00" + leaf).digest()
    assert (tree.root(), tree.leaves) == (root_by_definition(leaves).hexdigest(), count)


def test_known_roots():
    """Test vectors of Certificate Transparency."""
    leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    tree = MerkleTree()
    assert tree.root() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    tree.add(b"")
    assert tree.root() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    for leaf in leaves[1:]:
        tree.add(bytes.fromhex(leaf))
    assert tree.root() == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
