"""One form for every payload value: JSON bytes, typed encoding, digests. Pure, and without any knowledge of events.

Theory of operation. A payload is any Python value. :func:`encode` turns it into plain JSON (what JSON cannot say becomes a
*typed value*, see :mod:`otelreplay.canonical.encoding`) and :func:`decode` back. On that stand two forms of bytes:
:func:`dumps`, compact JSON that keeps key order and number types, for storage; and :func:`jcs`, RFC 8785, for equality and
digests. Reading is of two kinds as well: :func:`loads` for what was written here, strict; :func:`read_json` for JSON that
others put into attributes, lenient.
"""

from otelreplay.canonical.decoding import decode
from otelreplay.canonical.digests import digest, digest_value, jcs
from otelreplay.canonical.encoding import Loss, encode, encode_reporting
from otelreplay.canonical.leaves import Tagged, class_name
from otelreplay.canonical.lines import dumps, dumps_reporting, loads
from otelreplay.canonical.plain import MAX_DEPTH, RESERVED
from otelreplay.canonical.reading import READ_DEPTH, read_json

__all__ = [
    "MAX_DEPTH",
    "READ_DEPTH",
    "RESERVED",
    "Loss",
    "Tagged",
    "class_name",
    "decode",
    "digest",
    "digest_value",
    "dumps",
    "dumps_reporting",
    "encode",
    "encode_reporting",
    "jcs",
    "loads",
    "read_json",
]
