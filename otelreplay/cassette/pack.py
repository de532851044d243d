"""Events to lines: each message, tool definition and large payload once, and lists by what they add to an earlier list.

Theory of operation. A run of n turns whose every model call repeats the history holds n²/2 messages but only n different ones,
and reconstruction hands each as one object. So everything that costs per message (encoding, hashing) is remembered by identity,
and a list is written as what it adds to the longest earlier list that is its prefix (see ``prefixes``).

Small values that recur are not worth a line of their own the first time. A value is written in place when it is first met and
becomes a blob when it is met again; likewise the members that an object shares with the one before of its kind and name.
Both rules only decide *where* a value is stored, so a reader needs to know neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.cassette.forms import LISTS, OBJECTS, blob_id, escape, hash_of
from otelreplay.cassette.marks import encoded, named
from otelreplay.cassette.prefixes import Prefixes
from otelreplay.events import Event, Mark, Message

INLINE_ONCE = 1024
"""Bytes up to which a value that was not met before is written in place."""
INLINE_ALWAYS = 96
"""Bytes up to which a value is written in place however often it recurs: a reference takes about half of it."""
LIKE_OVERHEAD = 64
"""Bytes that the ``$like`` form costs: it is used where it saves more."""

_Implied = Callable[[dict[str, Any]], Any]

MAX_SAFE = 2**53 - 1

_json = msgspec.json.encode
_PLAIN = frozenset({str, int})
_REFERENCE = b'{"$ref":'
_ALWAYS = object()


def _implied_hash(event: dict[str, Any]) -> str | None:
    return hash_of(event["request_keys"]) if event["request_keys"] else None


_IMPLIED: dict[str, _Implied] = {"spans": lambda event: [event["id"]], "request_hash": _implied_hash}
"""What goes without saying depends on the rest of the event for these; for the others it is the default of the model."""


def _fields() -> Iterator[tuple[str, bytes, Any, _Implied | None]]:
    """(name, how its member starts, what goes without saying, or what finds that) in the order of the members."""
    for name, field in Event.model_fields.items():
        default = _ALWAYS if field.is_required() else field.default
        yield name, b'"%s":' % name.encode(), default, _IMPLIED.get(name)


_FIELDS = tuple(_fields())


class _Last(msgspec.Struct):
    """The object that was written last of a kind, name and member of the event."""

    names: list[str] = []
    members: dict[str, bytes] = {}
    values: dict[str, Any] = {}
    """What the members are made from: the same value again is the same bytes, but for those of ``loose``."""
    loose: Set[str] = frozenset()
    """Names of the members that would be written in another way now: lists, values that recur."""
    changed: Set[str] = frozenset()
    """Names of the members that were not as in the one before."""
    shared: str = ""
    """Id of the blob with the others, if it was written by means of one."""


_FIRST = _Last()


class Packer:
    """Turns the events of one recording into lines, in order. The recording must outlive it: objects are known by identity."""

    def __init__(self) -> None:
        self.blobs = 0
        self._pending: list[bytes] = []
        self._known: set[str] = set()
        self._elements: dict[int, str] = {}
        self._slots: dict[int, bytes] = {}
        self._met: dict[bytes, str] = {}
        self._names: dict[str, bytes] = {}
        self._prefixes = Prefixes()
        self._last: dict[tuple[str, str, str], _Last] = {}

    def event(self, event: Event) -> list[bytes]:
        """The event's line, after the lines of the blobs that it is the first to need."""
        extra = event.model_extra
        if extra and ("type" in extra or not all(map(clean, extra))):
            raise ValueError("an event's further members need names that JSON can hold, other than 'type'")
        found = vars(event)
        plain: dict[str, Any] = {"type": "event"}  # members that are encoded as they are, in one go
        parts: list[bytes] = []
        for name, start, default, implied in _FIELDS:
            value = found[name]
            if value != (default if implied is None else implied(found)):
                kind = type(value)
                if (kind is str and len(value) <= INLINE_ALWAYS and value.isascii()) or simple(value):
                    plain[name] = value
                    continue
                if plain:
                    parts.append(_json(plain)[1:-1])
                    plain = {}
                parts.append(start + self._member(event, name, value))
        if plain:
            parts.append(_json(plain)[1:-1])
        for name, value in extra.items() if extra else ():
            parts.append(b"%s:%s" % (_json(name), self._slot(value)))
        lines = [*self._pending, b"{%s}\n" % b",".join(parts)]
        self._pending.clear()
        return lines

    def _member(self, event: Event, name: str, value: Any) -> bytes:
        if isinstance(value, dict):
            return self._object((event.kind, event.name, name), value) if name in OBJECTS else self._value(value)
        if isinstance(value, list):
            return self._stored(encoded(value)) if value and isinstance(value[0], Mark) else self._value(value)
        if hasattr(value, "model_dump"):
            more = value.model_extra or {}  # not by model_dump, which takes typed values apart
            return self._value({k: v for k, v in value if v is not None or k in more})
        return self._value(value)

    def _object(self, place: tuple[str, str, str], members: dict[str, Any]) -> bytes:
        """An object whose members are slots. Most are like the one before but for the same few members: only those are made."""
        starts, names = self._names, list(members)
        last = self._last.get(place, _FIRST)
        alike = names == last.names
        if not (alike or members.keys() <= starts.keys() or all(map(self._name, members))):
            return self._reference(self._blob(b'"value":' + canonical.dumps(members) + b"}"))
        before, held, fixed = last.members, last.values, last.loose
        changed: dict[str, bytes] = {}
        loose: set[str] = set()
        for name, value in members.items():
            kind, old = type(value), held.get(name, _ALWAYS)
            if (old is value or (kind in _PLAIN and kind is type(old) and old == value)) and name not in fixed:
                continue
            if kind is str and len(value) <= INLINE_ALWAYS and value.isascii():  # as in simple(), for the most of them
                member = starts[name] + _json(value)
            else:
                made = simple(value) or self._slot(value, name)
                if kind is list or (len(made) > INLINE_ALWAYS and not made.startswith(_REFERENCE)):
                    loose.add(name)
                member = starts[name] + made
            if before.get(name) != member:
                changed[name] = member
        if alike and last.shared and changed.keys() == last.changed:
            shared = last.shared  # the others are what they were, and so is the object that holds them
            before.update(changed)
            last.values, last.loose = members, loose
        else:
            shared, found = "", {name: changed[name] if name in changed else before[name] for name in names}
            if sum([len(found[name]) + 1 for name in names if name not in changed]) > LIKE_OVERHEAD:
                same = [starts[name] + b"null" if name in changed else member for name, member in found.items()]
                shared = self._recurring(b'"object":{%s}}' % b",".join(same))
            self._last[place] = _Last(names, found, members, loose, frozenset(changed), shared)
            if not shared:
                return escape(b"{%s}" % b",".join(found.values()))
        return b'{"$like":["%s",{%s}]}' % (shared.encode(), b",".join(changed.values()))

    def _name(self, name: Any) -> bool:
        """Remember how a member of this name starts, since the same few recur; False if it cannot be written as it is."""
        if not clean(name):
            return False
        self._names[name] = _json(name) + b":"
        return True

    def _slot(self, value: Any, name: str = "") -> bytes:
        """Bytes of a value that lives as long as the recording."""
        if isinstance(value, list):
            if value and (name in LISTS or any(map(_is_message, value))):
                return self._list(value)
        elif isinstance(value, Message):
            return self._reference(self._element(value))
        elif not isinstance(value, str) and not isinstance(value, dict):
            return self._value(value)
        known = self._slots.get(id(value))
        if known is None:
            known = self._value(value)
            if len(known) <= INLINE_ALWAYS or known.startswith(_REFERENCE):
                self._slots[id(value)] = known
        return known

    def _value(self, value: Any) -> bytes:
        return self._stored(canonical.dumps(value))

    def _stored(self, data: bytes) -> bytes:
        """What stands in the slot of a value with these bytes."""
        if len(data) <= INLINE_ALWAYS:
            return escape(data)
        body = b'"value":%s}' % data
        known = self._blob(body) if len(data) > INLINE_ONCE else self._recurring(body)
        return self._reference(known) if known else escape(data)

    def _recurring(self, body: bytes) -> str:
        """The id of the blob with this body, which is made when the body is met again; nothing the first time."""
        known = self._met.get(body)
        if known is None:
            known = self._met[body] = ""
        elif not known:
            known = self._met[body] = self._blob(body)
        return known

    def _element(self, value: Any) -> str:
        known = self._elements.get(id(value))
        if known is None:
            if isinstance(value, Message):
                marks = b',"marks":' + canonical.dumps(named(value.marks)) if value.marks else b""
                body = b'"message":' + canonical.dumps(value) + marks + b"}"
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
    if (kind is int and -MAX_SAFE <= value <= MAX_SAFE) or value is None or kind is bool:
        return _json(value)
    return b""


def _is_message(value: Any) -> bool:
    return isinstance(value, Message)


def clean(name: Any) -> bool:
    """True if a member's name can be written as a JSON string as it is."""
    if not isinstance(name, str):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
