"""Cassettes: write, read and verify the sealed recording of one run. The form is written down in ``docs/cassette-format.md``.

Pure: streams and bytes in, values and bytes out. Files are the matter of ``cassette.keyring`` and ``cassette.directory``.
"""

from otelreplay.cassette.header import Header, Parent, Retention, header_for
from otelreplay.cassette.keys import Signer, TrustStore
from otelreplay.cassette.limits import Limits
from otelreplay.cassette.read import Cassette, read_cassette
from otelreplay.cassette.scan import Problem
from otelreplay.cassette.verify import Verification, verify_cassette
from otelreplay.cassette.write import write_cassette

__all__ = [
    "Cassette",
    "Header",
    "Limits",
    "Parent",
    "Problem",
    "Retention",
    "Signer",
    "TrustStore",
    "Verification",
    "header_for",
    "read_cassette",
    "verify_cassette",
    "write_cassette",
]
