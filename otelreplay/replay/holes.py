"""Typed holes: what stands where a policy took text away, and values with the text of every hole left out.

A *skeleton* is a value in which each placeholder is a token of its rule. Two requests are compared by their skeletons; which
text stood in which hole is a second question (:mod:`otelreplay.replay.bindings`). Holes are listed in an order that does not
depend on how a convention cuts messages: a turn's calls come last, as in the digest of a list (``docs/matching-keys.md``), and
the keys of objects are taken in their order by code point.

The token has characters of the private use area. Text that holds them by itself is harmless: it has no hole to go with them,
and the lists of holes are compared too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import is_
from typing import Any, Final

import msgspec

from otelreplay.canonical import Tagged, jcs
from otelreplay.canonical.paths import join
from otelreplay.events import Kind
from otelreplay.matching import SEMANTICS
from otelreplay.matching.parts import arguments_of, is_system, settled
from otelreplay.matching.semantics import NEVER, PARAM_NAMES
from otelreplay.redaction import find_placeholders
from otelreplay.redaction.placeholders import may_hold_placeholder
from otelreplay.replay.normalizers import Normalizer, Numbers, Pattern, Unordered

KEYED: Final = frozenset({"pseudonym", "hash"})
"""Actions whose placeholders tell one value from another."""
NORMALISED: Final = "normalise"
BOUND: Final = "bind"
"""The action of a hole of a normaliser that keeps apart what it finds."""
TELLING: Final = KEYED | {BOUND}
"""Actions whose holes stand for one value over the whole run."""
UNORDERED: Final = "unordered"
"""The action of a hole in a set: which of several equal ones it is cannot be told."""
OPEN, CLOSE = "\ue000", "\ue001"
_MAP: Final = f"{OPEN}keys{CLOSE}"
_LISTS: Final = 64
_MESSAGES: Final = 4_096
"""Messages remembered, or twice as many as the list has that is at hand."""
_DEPTH: Final = 200


class Hole(msgspec.Struct, frozen=True):
    """One hole of a request, in order."""

    rule: str
    text: str
    """The placeholder; for a normalised value, what stood there."""
    action: str


Holes = tuple[Hole, ...]


class Skeleton(msgspec.Struct, frozen=True):
    """A request without the text of its holes."""

    request: dict[str, Any]
    holes: dict[str, Holes]
    """By component; only those that have some."""


class _Member(msgspec.Struct, frozen=True):
    """A message of which something was left out."""

    value: Any
    turns: tuple[tuple[str, Holes, Holes], ...]
    """(turn, holes of other parts, holes of tool calls) for each run of parts of one turn."""


def token(rule: str) -> str:
    """What stands in a skeleton for a hole of this rule."""
    return f"{OPEN}{rule}{CLOSE}"


class Skeletons:
    """Makes skeletons, each member of a list once. For one session; not for several threads at once."""

    def __init__(self, normalizers: Sequence[Normalizer] = (), *, idle: bool = False) -> None:
        """``idle``: the recording has no holes, so that none of the live side fits anything; values are their own skeletons."""
        self._normalizers, self._idle = tuple(normalizers), idle and not normalizers
        self._sets = {normalizer.field for normalizer in self._normalizers if isinstance(normalizer, Unordered)}
        self._bound = [n for n in self._normalizers if isinstance(n, Pattern | Numbers) and n.bound]
        self._members: dict[tuple[int, str], tuple[Any, Any, Any]] = {}
        self._lists: dict[tuple[int, int, str], tuple[list[Any], list[Any], bool]] = {}

    def is_set(self, field: str) -> bool:
        """Whether the list at this field was declared to be a set."""
        return field in self._sets

    def bound_in(self, value: Any) -> Iterator[Hole]:
        """What a bound normaliser would find in a value, wherever that stands: a program that was given it may pass it on."""
        waiting = [(value, 0)] if self._bound else []
        while waiting:
            item, depth = waiting.pop()
            if isinstance(item, dict | list | tuple | set | frozenset) and depth < _DEPTH:
                waiting += [(part, depth + 1) for part in (item.values() if isinstance(item, dict) else item)]
            for normalizer in self._bound:
                yield from (Hole(normalizer.name, text, BOUND) for text in normalizer.found(normalizer.under, item))

    def request(self, kind: Kind, request: dict[str, Any]) -> Skeleton:
        """The skeleton of a request."""
        if self._idle:
            return Skeleton(request, {})
        held = request.get("messages")
        size = len(held) if isinstance(held, list) else 0
        if len(self._members) > max(_MESSAGES, 2 * size):  # before a request, since its turns are read from what is known
            self._members.clear()
            self._lists.clear()
        rule, holes = SEMANTICS[kind], dict[str, Holes]()
        made = dict(request)
        for name in (n for n in request if n not in NEVER) if rule.rest else rule.whole:
            if name in request:
                made[name] = self._component(join("", name), request[name], f"request.{name}", holes)
        for name in rule.spread:
            if name in request:
                made[name] = self._spread(name, request[name], holes)
        if rule.conversation:
            self._conversation(request, made, holes)
        return Skeleton(made, holes)

    def value(self, value: Any, field: str) -> tuple[Any, Holes]:
        """Any value without the text of its holes, and these; the same object where there are none."""
        if self._idle:
            return value, ()
        found: list[Hole] = []
        return self._walk(value, field, found, 0), tuple(found)

    def _component(self, component: str, value: Any, field: str, holes: dict[str, Holes]) -> Any:
        made, found = self.value(value, field)
        if found:
            holes[component] = found
        return made

    def _spread(self, name: str, value: Any, holes: dict[str, Holes]) -> Any:
        if name == "arguments":
            value = arguments_of(value)
        if not isinstance(value, dict) or not value or any(_is_hole(key) for key in value):
            return self._component(name, value, f"request.{name}", holes)
        return {
            key: self._component(
                join(name, PARAM_NAMES.get(key, key) if name == "params" else key) if isinstance(key, str) else name,
                item, join(f"request.{name}", str(key)), holes,
            )
            for key, item in value.items()
        }  # fmt: skip

    def _conversation(self, request: dict[str, Any], made: dict[str, Any], holes: dict[str, Holes]) -> None:
        system: Holes = ()
        if "system" in request:
            made["system"], system = self._list(settled(request["system"]), "request.system[*]")
        messages = settled(request.get("messages"))
        if isinstance(messages, list):
            made["messages"], changed = self._members_of(messages, "request.messages[*]")
            if changed:
                leading = next((n for n, m in enumerate(messages) if not is_system(m)), len(messages))
                system += self._turns(messages[:leading])
                if rest := self._turns(messages[leading:]):
                    holes["messages"] = rest
        elif messages is not None:
            made["messages"] = self._component("messages", messages, "request.messages", holes)
        if system:
            holes["system"] = system
        if "tools" in request:
            made["tools"], found = self._list(settled(request["tools"]), "request.tools[*]")
            if found:
                holes["tools"] = found

    def _list(self, value: Any, field: str) -> tuple[Any, Holes]:
        """A list of shared members that are no messages."""
        if not isinstance(value, list):
            return self.value(value, field)
        out, found = [], list[Hole]()
        for item in value:
            made, holes = self._member(item, field)
            out.append(made)
            found += holes
        return out, tuple(found)

    def _member(self, item: Any, field: str) -> tuple[Any, Holes]:
        known = self._members.get((id(item), field))
        if known is None:
            made, holes = self.value(item, field)
            if not isinstance(item, dict):
                return made, holes
            known = self._members[id(item), field] = (item, made, holes)
        return known[1], known[2]

    def _members_of(self, messages: list[Any], field: str) -> tuple[list[Any], bool]:
        """(the messages, whether any has a hole). A list that continues a known one costs what is new."""
        size, out, changed = self._prefix(messages, field)
        for message in messages[size:]:
            made = self._message(message, field)
            out.append(message if made is None else made.value)
            changed = changed or made is not None
        if messages:
            key = (len(messages), id(messages[-1]), field)
            self._lists.pop(key, None)
            self._lists[key] = (messages, out, changed)
            if len(self._lists) > _LISTS:
                del self._lists[next(iter(self._lists))]
        return (out if changed else messages), changed

    def _prefix(self, messages: list[Any], field: str) -> tuple[int, list[Any], bool]:
        if self._lists:
            for size in range(len(messages), 0, -1):
                known = self._lists.get((size, id(messages[size - 1]), field))
                if known is not None and all(map(is_, known[0], messages)):
                    return size, list(known[1]), known[2]
        return 0, [], False

    def _message(self, message: Any, field: str) -> _Member | None:
        known = self._members.get((id(message), field))
        if known is None:
            known = self._members[id(message), field] = (message, self._message_of(message, field), None)
        made: _Member | None = known[1]
        return made

    def _message_of(self, message: Any, field: str) -> _Member | None:
        if not isinstance(message, dict) or not isinstance(message.get("parts"), list):
            made, holes = self.value(message, field)
            return _Member(made, (("", holes, ()),)) if holes else None
        rest = {key: item for key, item in message.items() if key != "parts"}
        made_rest, holes = self.value(rest, field)
        turns: list[tuple[str, Holes, Holes]] = [("", holes, ())] if holes else []
        parts, changed = [], bool(holes)
        for part in message["parts"]:
            made, found = self.value(part, f"{field}.parts[*]")
            parts.append(made)
            if found:
                kind = part.get("type") if isinstance(part, dict) else None
                turn = "tool" if kind == "tool_call_response" else f"{message.get('role')} {message.get('name')}"
                turns.append((turn, (), found) if kind == "tool_call" else (turn, found, ()))
                changed = True
        if not changed:
            return None
        return _Member({key: parts if key == "parts" else made_rest.get(key) for key in message}, tuple(turns))

    def _turns(self, messages: list[Any]) -> Holes:
        """The holes of messages in the order of turns."""
        out: list[Hole] = []
        now, calls = "", list[Hole]()
        for message in messages:
            known = self._members.get((id(message), "request.messages[*]"))
            member = known[1] if known is not None else None
            for turn, others, own in member.turns if member is not None else ():
                if turn != now:
                    out += calls
                    now, calls = turn, []
                out += others
                calls += own
        return tuple(out + calls)

    def _walk(self, value: Any, field: str, found: list[Hole], depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, field, found)
        if depth > _DEPTH or value is None or isinstance(value, bool | int | float):
            return self._normal(value, field, found) if self._normalizers else value
        if isinstance(value, dict):
            return self._dict(value, field, found, depth)
        if isinstance(value, list | tuple):
            if field in self._sets:
                return self._unordered(value, field, found, depth)
            value = self._normal(value, field, found)
            items = [self._walk(item, f"{field}[*]", found, depth + 1) for item in value]
            if all(map(is_, items, value)):
                return value
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, set | frozenset):
            return self._set(value, field, found, depth)
        if isinstance(value, Tagged):
            members = self._walk(dict(value.members), field, found, depth + 1)
            return value if members == dict(value.members) else Tagged(value.tag, members)
        if isinstance(value, bytes | bytearray):
            text = value.decode("latin-1")
            made = self._text(text, field, found)
            return value if made is text else (_MAP, type(value).__name__, made)
        return value

    def _set(self, value: Any, field: str, found: list[Hole], depth: int) -> Any:
        """Members in the order of their skeletons; of those that are equal then, none can be told from the other."""
        members = self._sorted(value, field, depth)
        if not any(own for _, _, own in members):
            return value
        found += _apart(members)
        return (_MAP, *(made for _, made, _ in members))

    def _unordered(self, value: Any, field: str, found: list[Hole], depth: int) -> Any:
        """A list that was declared to be a set."""
        members = self._sorted(value, field, depth)
        made = [item for _, item, _ in members]
        if any(self._walk(item, f"{field}[*]", [], depth + 1) != other for item, other in zip(value, made, strict=True)):
            found.append(
                Hole("unordered", jcs([self._walk(i, f"{field}[*]", [], depth + 1) for i in value]).decode(), NORMALISED)
            )
        found += _apart(members)
        return made

    def _sorted(self, value: Any, field: str, depth: int) -> list[tuple[bytes, Any, list[Hole]]]:
        """(bytes of the skeleton, skeleton, holes) of each member, in the order of the skeletons."""
        members: list[tuple[bytes, Any, list[Hole]]] = []
        for item in value:
            own: list[Hole] = []
            made = self._walk(item, f"{field}[*]", own, depth + 1)
            members.append((jcs(made), made, own))
        return sorted(members, key=lambda m: m[0])

    def _dict(self, value: dict[Any, Any], field: str, found: list[Hole], depth: int) -> Any:
        if any(map(_is_hole, value)):
            pairs = []
            for key in sorted(value, key=_key_order):
                name = self._walk(key, field, found, depth + 1)
                pairs.append([name, self._walk(value[key], join(field, _key_order(key)), found, depth + 1)])
            return {_MAP: pairs}
        ordered = sorted(value, key=_key_order) if len(value) > 1 else value
        made = {key: self._walk(value[key], join(field, str(key)), found, depth + 1) for key in ordered}
        return value if all(made[key] is item for key, item in value.items()) else made

    def _text(self, text: str, field: str, found: list[Hole]) -> str:
        if not may_hold_placeholder(text):
            return str(self._normal(text, field, found)) if self._normalizers else text
        out, at = [], 0
        for seen in find_placeholders(text):
            out += [self._normal(text[at : seen.start], field, found), token(seen.rule)]
            found.append(Hole(seen.rule, seen.text, seen.action))
            at = seen.end
        last = self._normal(text[at:], field, found)
        return "".join([*out, last]) if out or last != text else text

    def _normal(self, value: Any, field: str, found: list[Hole]) -> Any:
        for normalizer in self._normalizers:
            made = normalizer.normal(field, value)
            if isinstance(normalizer, Pattern | Numbers) and normalizer.bound:
                found += [Hole(normalizer.name, text, BOUND) for text in normalizer.found(field, value)]
                value = made
            elif made is not value and made != value:
                found.append(Hole(normalizer.name, value if isinstance(value, str) else jcs(value).decode(), NORMALISED))
                value = made
        return value


def _apart(members: Sequence[tuple[bytes, Any, list[Hole]]]) -> Holes:
    """The holes of the members of a set: of those that are equal without them, none can be told from the other."""
    count = Counter(key for key, _, _ in members)
    return tuple(
        Hole(hole.rule, hole.text, UNORDERED) if count[key] > 1 and hole.action in TELLING else hole
        for key, _, own in members
        for hole in own
    )


def holes_in(value: Any) -> Iterator[Hole]:
    """Every placeholder of a value, in no promised order."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        item, depth = waiting.pop()
        seen += 1
        if isinstance(item, str):
            if may_hold_placeholder(item):
                yield from (Hole(f.rule, f.text, f.action) for f in find_placeholders(item))
        elif isinstance(item, bytes | bytearray):
            waiting.append((item.decode("latin-1"), depth))
        elif depth > _DEPTH:
            continue
        elif isinstance(item, dict):
            waiting += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list | tuple | set | frozenset):
            waiting += [(part, depth + 1) for part in item]
        elif isinstance(item, Tagged):
            waiting.append((dict(item.members), depth + 1))


def _is_hole(key: Any) -> bool:
    return isinstance(key, str) and may_hold_placeholder(key) and bool(find_placeholders(key))


def _key_order(key: Any) -> str:
    """Keys with holes stand where their skeletons stand."""
    text = key if isinstance(key, str) else str(key)
    if may_hold_placeholder(text):
        for seen in reversed(find_placeholders(text)):
            text = f"{text[: seen.start]}{token(seen.rule)}{text[seen.end :]}"
    return text
