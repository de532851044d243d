"""Blob lines and references back to values; the inverse of ``pack``.

Every reference is to a blob on an *earlier* line, so there are no cycles, and the length of a list is known before it is built.
Values are decoded when an event asks for them and only once: a message is one object in all events that hold it.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.cassette.forms import OBJECTS, blob_id, form, list_id
from otelreplay.cassette.limits import Limits
from otelreplay.cassette.marks import from_named
from otelreplay.errors import LimitError
from otelreplay.events import Message

BLOB_PREFIX = b'{"type":"blob","id":"'
_TYPED = canonical.RESERVED.encode()
_BODY_AT = len(BLOB_PREFIX) + 34
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


class MalformedError(ValueError):
    """A line that is not as the format says; the text is safe to show."""

    def __init__(self, what: str, code: str = "cassette.line") -> None:
        super().__init__(what)
        self.code = code


def _no_blob() -> MalformedError:
    return MalformedError("it refers to a blob that no earlier line holds", "cassette.missing_blob")


def _no_form() -> MalformedError:
    return MalformedError("a reference in none of the forms of the format", "cassette.reference")


def parse(data: bytes, limits: Limits) -> Any:
    """Plain JSON, without typed values, of bounded depth. Raises MalformedError."""
    if data.count(b"{") + data.count(b"[") > limits.depth and _depth(data) > limits.depth:
        raise MalformedError(f"nested deeper than {limits.depth} levels", "cassette.too_deep")
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise MalformedError("not JSON") from None


def may_be_typed(data: bytes) -> bool:
    """False only for JSON bytes that hold no typed value."""
    return _TYPED in data or b"\\u" in data


def _depth(data: bytes) -> int:
    depth = deepest = 0
    for token in _TOKENS.finditer(data):
        start = data[token.start()]
        if start in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif start in b"]}":
            depth -= 1
    return deepest


class Blobs:
    """The blobs of one cassette, filled line by line."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._raw: MutableMapping[str, bytes] = {}
        self._values: dict[str, Any] = {}
        self._parts: dict[str, tuple[str, list[str], int]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._objects: dict[str, dict[str, Any]] = {}
        self._typed_objects: set[str] = set()
        self._expanded = 0

    def __len__(self) -> int:
        return len(self._raw) + len(self._objects)

    def add(self, line: bytes) -> None:
        """Take a whole blob line. Raises MalformedError if it is none, is there twice, or refers to what is not there yet."""
        name, body = line[_BODY_AT - 34 : _BODY_AT - 2].decode("latin-1"), line[_BODY_AT:-1]
        if line[_BODY_AT - 2 : _BODY_AT] != b'",' or blob_id(body) != name:
            raise MalformedError("the blob is not the one that its id names", "cassette.altered")
        if name in self._raw or name in self._objects:
            raise MalformedError("the blob is there twice", "cassette.duplicate_blob")
        if body.startswith((b'"message":', b'"value":')):
            self._raw[name] = body
        elif body.startswith(b'"object":'):
            members = parse(b"{" + body, self._limits).get("object")
            if not isinstance(members, dict):
                raise MalformedError("the blob's object is none")
            self._check_slots(members)
            self._objects[name] = members
            if may_be_typed(body):
                self._typed_objects.add(name)
        else:
            raise MalformedError("a blob of a kind that this version does not know", "cassette.blob_kind")

    def _known(self, where: dict[str, Any], name: Any) -> Any:
        try:
            return where[name]
        except (KeyError, TypeError):
            raise _no_blob() from None

    def _check_there(self, name: Any) -> None:
        if not isinstance(name, str) or name not in self._raw:
            raise _no_blob()

    # --- references ---------------------------------------------------------------------------------------------------

    def check_event(self, members: dict[str, Any]) -> None:
        """Raise MalformedError unless every reference of an event line is well formed and its blob is there."""
        for name, value in members.items():
            if type(value) is dict:
                if name in OBJECTS:
                    self._check_object(value)
                elif kind := form(value):
                    self._check(kind, value)

    def _check_object(self, value: dict[str, Any]) -> None:
        kind = form(value)
        if kind == "$like":
            self._check_slots(self._like(value)[1])
        elif kind == "$value":
            self._check_slots(self._wrapped(value))
        elif kind:
            self._check(kind, value)
        else:
            self._check_slots(value)

    def _check_slots(self, members: dict[str, Any]) -> None:
        for value in members.values():
            if type(value) is dict and (kind := form(value)):
                self._check(kind, value)

    def _check(self, kind: str, value: dict[str, Any]) -> None:
        held = value[kind]
        if len(value) == 1 and kind == "$ref":
            self._check_there(held)
        elif len(value) == 1 and kind == "$list" and isinstance(held, dict):
            self._check_list(held.get("base", ""), held.get("append", []))
        elif len(value) != 1 or kind != "$value":
            raise _no_form()

    def _check_list(self, base: Any, added: Any) -> None:
        if not isinstance(base, str) or not isinstance(added, list):
            raise _no_form()
        length = len(added)
        if base:
            length += self._known(self._parts, base)[2]
        for item in added:
            self._check_there(item)
        if added:
            self._parts.setdefault(list_id(base, added), (base, added, length))

    def _like(self, value: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], bool]:
        """(the object of the blob, the members to put in place, whether the object may hold typed values)."""
        pair = value["$like"]
        if len(value) == 1 and isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], dict):
            return self._known(self._objects, pair[0]), pair[1], pair[0] in self._typed_objects
        raise _no_form()

    @staticmethod
    def _wrapped(value: dict[str, Any]) -> dict[str, Any]:
        members = value["$value"]
        if len(value) == 1 and isinstance(members, dict):
            return members
        raise _no_form()

    # --- values -------------------------------------------------------------------------------------------------------

    def event(self, members: dict[str, Any], *, typed: bool) -> dict[str, Any]:
        """The members of an event line with every reference replaced by what it stands for; checks them as it goes.

        ``typed`` says whether the line may hold typed values at all; most do not, and are not searched for any.
        """
        found: dict[str, Any] = {}
        for name, value in members.items():
            kind = type(value)
            if kind is dict and name in OBJECTS:
                found[name] = self._members(value, typed)
            elif kind is dict or (typed and kind is list):
                found[name] = self._slot(value, typed)
            else:
                found[name] = value
        return found

    def _members(self, value: dict[str, Any], typed: bool) -> Any:
        kind = form(value)
        if kind == "$like":
            base, changed, base_typed = self._like(value)
            value, typed = base | changed, typed or base_typed
        elif kind == "$value":
            value = self._wrapped(value)
        elif kind:
            return self._slot(value, typed)
        return {
            name: self._slot(member, typed) if type(member) is dict or (typed and type(member) is list) else member
            for name, member in value.items()
        }

    def _slot(self, value: Any, typed: bool) -> Any:
        if kind := form(value):
            self._check(kind, value)
            value = value[kind]
            if kind == "$ref":
                return self.value(value)
            if kind == "$list":
                return self._list_of(value)
        return canonical.decode(value) if typed else value

    def value(self, name: str) -> Any:
        """The value or message of a blob."""
        if name not in self._values:
            self._values[name] = self._decoded(self._raw[name])
        return self._values[name]

    def _decoded(self, body: bytes) -> Any:
        members = parse(b"{" + body, self._limits)
        try:
            if may_be_typed(body):
                members = canonical.decode(members)
            if body.startswith(b'"value":'):
                return members["value"]
            if type(members["message"]) is dict:
                return Message(members["message"], from_named(members.get("marks", ())))
        except (ValueError, TypeError, KeyError, AttributeError):
            pass
        raise MalformedError("a blob that holds no value")

    def _list_of(self, reference: dict[str, Any]) -> list[Any]:
        base, added = reference.get("base", ""), reference.get("append", [])
        return self.list(list_id(base, added) if added else base)

    def list(self, name: str) -> list[Any]:
        """A list with its prefixes written out. One list object for each id."""
        waiting: list[tuple[str, list[str]]] = []
        while name and name not in self._lists:
            base, added, length = self._parts[name]
            waiting.append((name, added))
            self._expanded += length
            if self._expanded > self._limits.expanded:
                raise LimitError(
                    f"message lists of more than {self._limits.expanded} entries once their prefixes are written out",
                    code="cassette.too_large",
                    next_step="if you trust the file, read it with a wider Limits(expanded=...)",
                )
            name = base
        found = self._lists[name] if name else []
        for name, added in reversed(waiting):
            found = self._lists[name] = found + [self.value(item) for item in added]
        return found
