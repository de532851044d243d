"""The reference forms of an event line, and how user data is kept from looking like one.

References stand in *slots* only: the members of an event line, and the members of the objects named in ``OBJECTS``. Inside a
slot's value nothing is a reference, so text from a payload can forge one only by being a slot itself; there, an object whose
first member has the name of a form is wrapped when it is written.

    {"$ref": ID}                                   the value or message of a blob
    {"$list": {"base": ID, "append": [ID, ...]}}   the elements of an earlier list and then these values or messages;
                                                   either member may be left out
    {"$like": [ID, {members}]}                     the object of a blob with these members put in place (OBJECTS only)
    {"$value": V}                                  V itself, whatever it looks like
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.matching import StampedKeys

OBJECTS = frozenset({"request", "request_keys", "response", "attributes", "versions"})
"""Members of an event line whose own members are slots."""

LISTS = frozenset({"messages", "tools"})
"""Members of a request or response that are written element by element whatever the elements are."""

ID_DIGITS = 32
"""Hex digits of a blob id: the first 128 bits of the SHA-256 of the blob's stored bytes."""

_LOOKS_LIKE = re.compile(rb'\{"\$(?:ref|list|like|value)":')
_sorted = msgspec.json.Encoder(order="sorted")
_FORMS = frozenset({"$ref", "$list", "$like", "$value"})


def escape(data: bytes) -> bytes:
    """JSON bytes of a slot's value, wrapped if they would be read as a form."""
    if data.startswith(b'{"$') and _LOOKS_LIKE.match(data):
        return b'{"$value":' + data + b"}"
    return data


def form(value: Any) -> str | None:
    """The name of the form that a slot's value is in; None for a value that stands for itself."""
    if type(value) is not dict or not value:
        return None
    first: str = next(iter(value))
    return first if first[:1] == "$" and first in _FORMS else None


def blob_id(body: bytes) -> str:
    """The id of a blob: over its stored bytes, which are all that follows the id on its line up to the newline."""
    return sha256(body).hexdigest()[:ID_DIGITS]


def list_id(base: str, added: list[str]) -> str:
    """The name by which later lists refer to a list: over the id of its base (or nothing) and the ids it appends, joined."""
    return sha256((base + "".join(added)).encode()).hexdigest()[:ID_DIGITS]


def hash_of(keys: dict[str, str]) -> str:
    """The ``request_hash`` that goes without saying: the SHA-256 of the RFC 8785 form of ``request_keys``."""
    if type(keys) is StampedKeys and keys.whole is not None:
        return keys.whole
    data = _sorted.encode(keys)
    if b"\\" in data or not data.isascii():  # escapes, and orders of keys, in which RFC 8785 may differ
        return canonical.digest_value(keys)
    return canonical.digest(data)
