"""Events that stay where they were put until something is asked of them, for cassettes of any size.

    file ─▶ Scan, one pass: verified, every reference checked ─▶ Aside: the lines, on disk
                        │                                          │
                        └─▶ Shelf: of each event a Held ───────────┘ read on demand, the latest kept
                            (seq, kind, name, parent, after, times)

Rules. What order, matching and reports ask of *every* event stands in its :class:`Held`; the rest is read from its line when it
is asked for. What was read lately stays: two generations, each of at most ``window`` bytes of text; when the younger one
is full the older one goes, and what is asked for again moves to the younger. A line whose own members are not plainly of their
forms is read whole after the pass: it is refused then as it ever was, or its Held is made of the event. A wrong form further in
(of a mark, of an error, inside of a blob) is told when the event is read.

The ugly thing: a Held is no Event, it only answers as one. Its class cannot be a model, which holds all of its fields.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager
from typing import Annotated, Any, Final, Generic, Protocol, TypeVar, cast

import msgspec

from otelreplay.cassette.limits import Limits
from otelreplay.cassette.unpack import Blobs, MalformedError, may_be_typed, parse
from otelreplay.errors import CassetteFormatError, LimitError
from otelreplay.events import Effect, Event, Kind, Redaction

WINDOW: Final = 8 << 20
"""Bytes of text that a generation of what was read may come from. As objects they take several times as much."""
_KEPT: Final = ("seq", "kind", "name", "parent", "after", "effect", "redactions", "start", "end")
_DIGITS: Final = 20
_Time = Annotated[str, msgspec.Meta(pattern=f"^[0-9]{{1,{_DIGITS}}}$")]
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Aside(Protocol):
    """Where lines are put, and read again from the place that they got."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held by whoever reads; may be entered again by the same thread."""
        ...

    def put(self, data: bytes, /) -> int:
        """Its place."""
        ...

    def get(self, place: int, /) -> bytes:
        """What was put there."""
        ...


class Recent(Generic[_Key, _Value]):
    """The values of two generations."""

    def __init__(self) -> None:
        self._young: dict[_Key, _Value] = {}
        self._old: dict[_Key, _Value] = {}

    def get(self, key: _Key) -> _Value | None:
        """The value, which is of the younger generation from now on."""
        found = self._young.get(key)
        if found is None and (found := self._old.pop(key, None)) is not None:
            self._young[key] = found
        return found

    def put(self, key: _Key, value: _Value) -> _Value:
        """Keep it for a while."""
        self._young[key] = value
        return value

    def turn(self) -> None:
        """Let the older generation go."""
        self._old, self._young = self._young, {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)


class _Bodies(MutableMapping[str, bytes]):
    """Bodies of blobs, of which only names and places are here."""

    def __init__(self, aside: Aside) -> None:
        self._aside = aside
        self._places: dict[bytes | str, int] = {}

    @staticmethod
    def _key(name: str) -> bytes | str:
        try:
            return bytes.fromhex(name) if len(name) == 32 else name
        except ValueError:
            return name

    def __setitem__(self, name: str, body: bytes) -> None:
        self._places[self._key(name)] = self._aside.put(body)

    def __getitem__(self, name: str) -> bytes:
        return self._aside.get(self._places[self._key(name)])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._key(name) in self._places

    def __delitem__(self, name: str) -> None:
        del self._places[self._key(name)]

    def __iter__(self) -> Iterator[str]:
        return (key.hex() if isinstance(key, bytes) else key for key in self._places)

    def __len__(self) -> int:
        return len(self._places)


class HeldBlobs(Blobs):
    """Blobs that are decoded when an event asks for them, and kept as long as they were asked for lately."""

    def __init__(self, limits: Limits, aside: Aside) -> None:
        super().__init__(limits)
        self._raw = _Bodies(aside)
        self._recent: Recent[str, tuple[Any]] = Recent()
        self._joined: Recent[str, list[Any]] = Recent()
        self.read = 0
        """Bytes read since the last turn."""
        self.checked = False
        """All references were, in the pass."""

    def turn(self) -> None:
        """Let go of what was not asked for lately."""
        self._recent.turn()
        self._joined.turn()
        self.read = 0

    def _check(self, kind: str, value: dict[str, Any]) -> None:
        if not self.checked:
            super()._check(kind, value)

    def value(self, name: str) -> Any:
        """See :meth:`Blobs.value`."""
        found = self._recent.get(name)
        if found is None:
            body = self._raw[name]
            self.read += len(body)
            found = self._recent.put(name, (self._decoded(body),))
        return found[0]

    def list(self, name: str) -> list[Any]:
        """See :meth:`Blobs.list`; a list whose beginning is not at hand is put together from its first entry on."""
        waiting: list[list[str]] = []
        at, found = name, None
        while at and (found := self._joined.get(at)) is None:
            base, added, length = self._parts[at]
            if length > self._limits.expanded:
                raise LimitError(
                    f"a message list of more than {self._limits.expanded} entries", code="cassette.too_large",
                    next_step="if you trust the file, read it with a wider Limits(expanded=...)",
                )  # fmt: skip
            waiting.append(added)
            at = base
        if not waiting:
            return found or []
        out = list(found or [])
        for added in reversed(waiting):
            out += map(self.value, added)
        self.read += 8 * len(out)
        return self._joined.put(name, out)


class _Plain(msgspec.Struct):
    """The members of a line that need no second look. Whatever is not of this form is looked at again, not refused."""

    seq: int
    id: str
    kind: Kind
    name: str
    parent: int | None = None
    after: list[int] = []
    effect: Effect | None = None
    start: _Time | None = None
    end: _Time | None = None
    agent: str | None = None
    request: dict[str, Any] = {}
    response: dict[str, Any] | None = None
    request_keys: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    redactions: list[Any] = []
    spans: list[str] = []


def _is_plain(members: dict[str, Any]) -> bool:
    try:
        msgspec.convert(members, _Plain)
    except msgspec.ValidationError:
        return False
    return True


class Held:
    """Answers as the event of a line does."""

    __slots__ = ("_at", "_end", "_redacted", "_shelf", "_start", "after", "effect", "kind", "name", "parent", "seq")

    def __init__(self, shelf: Shelf, at: int, members: dict[str, Any]) -> None:
        self._shelf, self._at = shelf, at
        self.seq: int = members["seq"]
        self.kind, self.name = shelf.one(members.get("kind")), shelf.one(members.get("name"))
        self.parent, self.after = members.get("parent"), members.get("after") or ()
        self.effect = shelf.one(members.get("effect"))
        self._redacted = bool(members.get("redactions"))
        self._start, self._end = _short(members.get("start")), _short(members.get("end"))

    @property
    def start(self) -> str | None:
        """When it began."""
        return cast("str | None", _long(self._start))

    @property
    def end(self) -> str | None:
        """When it ended."""
        return cast("str | None", _long(self._end))

    @property
    def redactions(self) -> list[Redaction]:
        """What was removed, but for what stands with its messages."""
        return self._shelf.event(self._at).redactions if self._redacted else []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shelf.event(self._at), name)

    def __eq__(self, other: object) -> bool:
        whole = self._shelf.event(self._at)
        return bool(whole == (other._shelf.event(other._at) if isinstance(other, Held) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Held(seq={self.seq}, kind={self.kind!r})"


def _short(text: Any) -> Any:
    """A time as a number, where that gives the very text back."""
    short = isinstance(text, str) and len(text) <= _DIGITS and text.isascii() and text.isdecimal()
    return int(text) if short and str(int(text)) == text else text


def _long(time: Any) -> Any:
    return str(time) if type(time) is int else time


class Shelf:
    """The events of a cassette, of which the latest are at hand. For several threads at once."""

    def __init__(
        self, aside: Aside, limits: Limits, made: Callable[[int, dict[str, Any]], Event], *, window: int = WINDOW
    ) -> None:  # fmt: skip
        """``made``: the event from the number of its line and its members."""
        self.blobs: Blobs = HeldBlobs(limits, aside)
        self._aside, self._limits, self._made, self._window = aside, limits, made, window
        self._held: list[Held] = []
        self._doubtful: list[int] = []
        self._places, self._numbers = array("Q"), array("Q")
        self._recent: Recent[int, Event] = Recent()
        self._ones: dict[str, str] = {}
        self._read = 0

    def one(self, text: Any) -> Any:
        """The one object for a text that many events have."""
        return self._ones.setdefault(text, text) if isinstance(text, str) else text

    def take(self, number: int, members: dict[str, Any], line: bytes) -> None:
        """See :class:`otelreplay.cassette.scan.Taker`."""
        if not _is_plain(members):
            self._doubtful.append(len(self._held))
        self._held.append(Held(self, len(self._held), members))
        self._places.append(self._aside.put(line))
        self._numbers.append(number)

    def events(self) -> tuple[Event, ...]:
        """All of them; after the pass. Raises CassetteFormatError for a line with members of the wrong form."""
        cast("HeldBlobs", self.blobs).checked = True
        for at in self._doubtful:
            whole = self.event(at)
            self._held[at] = Held(self, at, {name: getattr(whole, name) for name in _KEPT})
        self._doubtful.clear()
        return cast("tuple[Event, ...]", tuple(self._held))

    def event(self, at: int) -> Event:
        """The whole event at this place. Raises CassetteFormatError for one of the wrong form."""
        with self._aside.lock:
            found = self._recent.get(at)
            return self._read_again(at) if found is None else found

    @property
    def at_hand(self) -> int:
        """How many events are at hand."""
        return len(self._recent)

    def _read_again(self, at: int) -> Event:
        blobs = cast("HeldBlobs", self.blobs)
        if self._read + blobs.read > self._window:
            self._recent.turn()
            blobs.turn()
            self._read = 0
        line = self._aside.get(self._places[at])
        self._read += len(line)
        number = self._numbers[at]
        try:
            members = parse(line, self._limits)
            del members["type"]
            return self._recent.put(at, self._made(number, blobs.event(members, typed=may_be_typed(line))))
        except MalformedError as error:
            raise CassetteFormatError(str(error), code=error.code, where=f"line {number}") from None
