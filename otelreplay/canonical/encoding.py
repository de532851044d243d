"""Typed encoding: every Python payload as plain JSON, and back as it was.

A *typed value* is an object with the reserved key ``$otelreplay``, whose value is a tag, and the members of that tag, each of
which is itself an encoded value:

    ===============  ===========================  ====================================================================
    tag              members                      stands for
    ===============  ===========================  ====================================================================
    ``float``        ``value``                    ``nan``, ``inf``, ``-inf``, ``-0.0``
    ``int``          ``value``                    an integer beyond +-(2^53 - 1), decimal text (``0x``: beyond 600 digits)
    ``complex``      ``real imag``                a complex number
    ``str``          ``escaped``                  text with lone surrogates: each as ``\\uXXXX``, and ``\\`` doubled
    ``bytes``        ``base64``                   bytes, also of a memoryview
    ``bytearray``    ``base64``                   a bytearray
    ``tuple``        ``items``                    a tuple
    ``set``          ``items``                    a set, items in the order of their RFC 8785 bytes
    ``frozenset``    ``items``                    a frozenset, likewise
    ``dict``         ``items`` ([key, value]…)    a dict with a key that is no text, is not Unicode, or is the reserved key
    ``datetime``     ``value [fold] [zone]``      ISO 8601; ``zone`` is the IANA name of a named zone
    ``date``         ``value``                    ISO 8601
    ``time``         ``value [fold] [zone]``      ISO 8601
    ``timedelta``    ``days seconds microseconds``  normalised as Python does
    ``decimal``      ``value``                    a Decimal, exponent and trailing zeros kept
    ``uuid``         ``value``                    a UUID
    ``path``         ``class value``              a path; ``class`` is one of the four classes of pathlib
    ``enum``         ``class name value``         a member of an Enum
    ``dataclass``    ``class fields``             an instance; ``class`` is ``module:Qualified.Name``
    ``namedtuple``   ``class fields``             likewise
    ``pydantic``     ``class fields [extra] [set]``  likewise; ``set``: the fields given, where that is not all of them
    ``unencodable``  ``class``                    a loss: an object that cannot be said
    ``cycle``        ``up``                       a loss: the container so many levels up, again
    ``too_deep``     ``class``                    a loss: a container nested deeper than ``MAX_DEPTH``
    ``too_large``    ``class``                    a loss: a container beyond the first ``MAX_CONTAINERS`` of the value
    ===============  ===========================  ====================================================================

User data that has the reserved key is a ``dict`` typed value, so it can never be taken for a typed value. Everything else is
itself: a value that is plain JSON is returned as the same object, and so is every plain part of one that is not. Subclasses of
the built-in types are encoded as those types. A leaf that cannot be encoded takes nothing else with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from otelreplay.canonical.folding import Frame, dict_frame, fold, list_frame
from otelreplay.canonical.leaves import Broken, Pair, Pairs, Parts, class_name, instance_parts, parts
from otelreplay.canonical.plain import MAX_CONTAINERS, MAX_DEPTH, RESERVED, TYPED, classify, examine, is_plain_scalar, key_shape
from otelreplay.canonical.writing import write

Reason = Literal["unencodable", "cycle", "too_deep", "too_large"]


@dataclass(frozen=True, slots=True)
class Loss:
    """A place where the encoding holds less than the value did."""

    path: tuple[str | int, ...]
    """Keys and indexes from the top of the value."""
    class_name: str
    """``module:Qualified.Name`` of what stood there."""
    reason: Reason


def encode(value: Any) -> Any:
    """The value as plain JSON (see the table above); the same object if it is that already. Never raises."""
    return value if classify(value) != TYPED else _Encoder().run(value)


def encode_reporting(value: Any) -> tuple[Any, tuple[Loss, ...]]:
    """Like :func:`encode`, with the places where something was lost."""
    if classify(value) != TYPED:
        return value, ()
    encoder = _Encoder()
    encoded = encoder.run(value)
    return encoded, tuple(encoder.losses)


def encode_canonical(value: Any) -> Any:
    """Like :func:`encode`, with the items of odd dicts sorted too, so that the order of their keys does not matter."""
    return _Encoder(canonical=True).run(value)


_SHORTCUTS: Final = 8
"""Down to this depth, a part that is plain JSON is passed on whole. Looking costs a pass, so not at every depth."""


class _Encoder:
    def __init__(self, *, canonical: bool = False) -> None:
        self._sorted = {"set", "frozenset", "dict"} if canonical else {"set", "frozenset"}
        self._room = MAX_CONTAINERS
        self.losses: list[Loss] = []

    def run(self, value: Any) -> Any:
        return fold(value, self._enter)

    def _enter(self, item: Any, stack: list[Frame]) -> Any:
        kind = type(item)
        if kind not in _BUILTIN:
            if kind is Broken:
                return self._lose(stack, item.kind, "unencodable")
            try:
                found = instance_parts(item, kind)
            except Exception:  # a user's class does as it likes
                return self._lose(stack, kind, "unencodable")
            if found is not None:
                return self._typed(item, found, stack)
            item = _exact(item)
        if is_plain_scalar(item):
            return item
        if isinstance(item, list | dict) and len(stack) <= _SHORTCUTS:
            shape, room = examine(item, len(stack), self._room)
            if shape != TYPED:
                self._room = room
                return item
        if isinstance(item, list):
            return self._bounded(item, stack) or list_frame(item, list(item), _labels(item))
        if isinstance(item, dict):
            pairs = list(dict.items(item))  # a snapshot: another thread may be writing
            if key_shape(key for key, _ in pairs) != TYPED:
                return self._bounded(item, stack) or dict_frame(item, pairs)
        try:
            found = parts(item)
        except Exception:  # likewise: a tzinfo, a subclass of date
            found = None
        return self._typed(item, found, stack) if found else self._lose(stack, kind, "unencodable")

    def _typed(self, item: Any, found: Parts, stack: list[Frame]) -> Any:
        tag, members = found
        if all(map(is_plain_scalar, members.values())):
            return {RESERVED: tag, **members}
        return self._bounded(item, stack) or Frame(item, list(members.values()), self._builder(tag, list(members)))

    def _builder(self, tag: Any, names: list[str]) -> Callable[[list[Any]], Any]:
        def build(done: list[Any]) -> Any:
            if isinstance(tag, str) and tag in self._sorted and names == ["items"] and isinstance(done[0], list):
                done = [sorted(done[0], key=write)]
            return {RESERVED: tag, **dict(zip(names, done, strict=True))}

        return build

    def _bounded(self, item: Any, stack: list[Frame]) -> dict[str, Any] | None:
        """What stands for a container that cannot be gone into."""
        for up, frame in enumerate(reversed(stack), 1):
            if frame.source is item:
                return self._lose(stack, type(item), "cycle", up=up)
        if len(stack) >= MAX_DEPTH:
            return self._lose(stack, type(item), "too_deep")
        self._room -= 1
        return self._lose(stack, type(item), "too_large") if self._room < 0 else None

    def _lose(self, stack: list[Frame], kind: type, reason: Reason, *, up: int = 0) -> dict[str, Any]:
        path = tuple(frame.labels[len(frame.done)] for frame in stack if frame.labels is not None)
        self.losses.append(Loss(path, class_name(kind), reason))
        return {RESERVED: reason, "up": up} if up else {RESERVED: reason, "class": class_name(kind)}


_BUILTIN: Final = frozenset({type(None), bool, str, int, float, list, dict, tuple, set, frozenset, bytes, Pairs, Pair})


def _exact(item: Any) -> Any:
    """A subclass of str, int or float as that type; others as they are."""
    if isinstance(item, str):
        return str.__str__(item)  # not through methods of the subclass
    if isinstance(item, int):
        return int.__int__(item)
    return float.__float__(item) if isinstance(item, float) else item


def _labels(item: list[Any]) -> Any:
    if type(item) is Pairs:
        return None
    return (item.label(),) * 2 if type(item) is Pair else range(len(item))
