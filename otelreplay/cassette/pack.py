"""Events to lines: each message, tool definition and large payload once, and lists by what they add to an earlier list.

Theory of operation. A run of n turns whose every model call repeats the history holds n²/2 messages but only n different ones,
and reconstruction hands each as one object. So everything that costs per message (encoding, hashing) is remembered by identity,
and a list is written as what it adds to the longest earlier list that is its prefix (see ``prefixes``).

Small values that recur are not worth a line of their own the first time. A value is written in place when it is first met and
becomes a blob when it is met again; likewise the members that an object shares with the one before of its kind and name.
Both rules only decide *where* a value is stored, so a reader needs to know neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.cassette.forms import LISTS, OBJECTS, blob_id, escape, hash_of
from otelreplay.cassette.marks import named, plain
from otelreplay.cassette.prefixes import Prefixes
from otelreplay.events import Event, Mark, Message

INLINE_ONCE = 1024
"""Bytes up to which a value that was not met before is written in place."""
INLINE_ALWAYS = 96
"""Bytes up to which a value is written in place however often it recurs: a reference takes about half of it."""
LIKE_OVERHEAD = 64
"""Bytes that the ``$like`` form costs: it is used where it saves more."""

_PLAIN = {name: b'"%s":' % name.encode() for name in ("seq", "id", "kind", "name")}
_FIELDS = {name: (b'"%s":' % name.encode(), field.default) for name, field in Event.model_fields.items() if name not in _PLAIN}

MAX_SAFE = 2**53 - 1

_json = msgspec.json.encode


class Packer:
    """Turns the events of one recording into lines, in order. The recording must outlive it: objects are known by identity."""

    def __init__(self) -> None:
        self.blobs = 0
        self._pending: list[bytes] = []
        self._known: set[str] = set()
        self._elements: dict[int, str] = {}
        self._slots: dict[int, bytes] = {}
        self._met: set[bytes] = set()
        self._names: dict[str, bytes] = {}
        self._prefixes = Prefixes()
        self._last: dict[tuple[str, str, str], dict[bytes, bytes]] = {}

    def event(self, event: Event) -> Iterator[bytes]:
        """The event's line, after the lines of the blobs that it is the first to need."""
        extra = event.model_extra or {}
        if "type" in extra or not all(map(clean, extra)):
            raise ValueError("an event's further members need names that JSON can hold, other than 'type'")
        found = vars(event)
        parts = [b'{"type":"event"']
        parts += [start + (simple(found[name]) or self._slot(found[name])) for name, start in _PLAIN.items()]
        for name, (start, default) in _FIELDS.items():
            value = found[name]
            if name == "spans":
                default = [event.id]
            elif name == "request_hash" and event.request_keys:
                default = hash_of(event.request_keys)
            if value != default:
                parts.append(start + (simple(value) or self._member(event, name, value)))
        parts += [_json(name) + b":" + self._slot(value) for name, value in extra.items()]
        line = b",".join(parts) + b"}\n"
        yield from self._pending
        self._pending.clear()
        yield line

    def _member(self, event: Event, name: str, value: Any) -> bytes:
        if name in OBJECTS and isinstance(value, dict):
            return self._object((event.kind, event.name, name), value)
        if isinstance(value, list) and value and isinstance(value[0], Mark):
            return self._value([plain(mark) for mark in value])
        if hasattr(value, "model_dump"):
            return self._value(value.model_dump(exclude_defaults=True))
        return self._value(value)

    def _object(self, place: tuple[str, str, str], members: dict[str, Any]) -> bytes:
        names = self._names
        if not all(name in names or self._name(name) for name in members):
            return self._reference(self._blob(b'"value":' + canonical.dumps(members) + b"}"))
        found = {names[name]: simple(value) or self._slot(value, name) for name, value in members.items()}
        before = self._last.get(place, {})
        self._last[place] = found
        same = {start for start, data in found.items() if before.get(start) == data}
        if sum(len(start) + len(found[start]) + 1 for start in same) > LIKE_OVERHEAD:
            shared = b",".join([start + (data if start in same else b"null") for start, data in found.items()])
            body = b'"object":{%s}}' % shared
            if self._again(body):
                changed = b",".join([start + data for start, data in found.items() if start not in same])
                return b'{"$like":["%s",{%s}]}' % (self._blob(body).encode(), changed)
        return escape(b"{" + b",".join([start + data for start, data in found.items()]) + b"}")

    def _name(self, name: Any) -> bool:
        """Remember a member's name as it is written, since the same few recur; False if it cannot be written as it is."""
        if not clean(name):
            return False
        self._names[name] = _json(name) + b":"
        return True

    def _slot(self, value: Any, name: str = "") -> bytes:
        """Bytes of a value that lives as long as the recording."""
        if isinstance(value, Message):
            return self._reference(self._element(value))
        if isinstance(value, list) and value:
            if name in LISTS or any(isinstance(item, Message) for item in value):
                return self._list(value)
        elif not isinstance(value, dict | str):
            return self._value(value)
        known = self._slots.get(id(value))
        if known is None:
            known = self._value(value)
            if known.startswith(b'{"$ref":'):
                self._slots[id(value)] = known
        return known

    def _value(self, value: Any) -> bytes:
        data = canonical.dumps(value)
        if len(data) <= INLINE_ALWAYS:
            return escape(data)
        body = b'"value":' + data + b"}"
        if len(data) > INLINE_ONCE or self._again(body):
            return self._reference(self._blob(body))
        return escape(data)

    def _again(self, body: bytes) -> bool:
        """True if this very body was asked about before."""
        digest = sha256(body).digest()
        if digest in self._met:
            return True
        self._met.add(digest)
        return False

    def _element(self, value: Any) -> str:
        known = self._elements.get(id(value))
        if known is None:
            if isinstance(value, Message):
                marks = b',"marks":' + canonical.dumps(named(value.marks)) if value.marks else b""
                body = b'"message":' + canonical.dumps(dict(value)) + marks + b"}"
            else:
                body = b'"value":' + canonical.dumps(value) + b"}"
            known = self._elements[id(value)] = self._blob(body)
        return known

    def _list(self, items: list[Any]) -> bytes:
        base, added = self._prefixes.add(items, self._element)
        if not added:
            return b'{"$list":{"base":"%s"}}' % base.encode()
        return b'{"$list":{%s"append":%s}}' % (b'"base":"%s",' % base.encode() if base else b"", _json(added))

    def _blob(self, body: bytes) -> str:
        name = blob_id(body)
        if name not in self._known:
            self._known.add(name)
            self._pending.append(b'{"type":"blob","id":"%s",%s\n' % (name.encode(), body))
            self.blobs += 1
        return name

    @staticmethod
    def _reference(name: str) -> bytes:
        return b'{"$ref":"%s"}' % name.encode()


def simple(value: Any) -> bytes:
    """Bytes of a value that most slots hold: short ASCII text, a small integer, true, false, null. Nothing for others."""
    kind = type(value)
    if kind is str:
        return _json(value) if len(value) <= INLINE_ALWAYS and value.isascii() else b""
    if value is None or kind is bool or (kind is int and -MAX_SAFE <= value <= MAX_SAFE):
        return _json(value)
    return b""


def clean(name: Any) -> bool:
    """True if a member's name can be written as a JSON string as it is."""
    if not isinstance(name, str):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
