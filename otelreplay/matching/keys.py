"""Component keys: one digest for each component of a request that matters."""

from __future__ import annotations

import hashlib
from itertools import chain, takewhile
from operator import is_
from typing import Any, Final

from otelreplay.canonical import RESERVED, digest, digest_value, jcs
from otelreplay.canonical.paths import join
from otelreplay.canonical.writing import write_plain
from otelreplay.events import Event, Kind
from otelreplay.matching.chain import Chain
from otelreplay.matching.parts import Atom, arguments_of, atoms_of, canonical_parts, is_system, parts_of, settled
from otelreplay.matching.semantics import NEVER, PARAM_NAMES, SEMANTICS, TOOL_FIELDS, TRANSPORT_PARAMS, Rule

_SCALARS: Final = frozenset({str, int, bool})
_SHORT: Final = 256
"""Longer texts are hardly ever said twice."""
_LISTS: Final = 64
"""Message lists remembered, so that a list that continues one of them costs only what is new."""
_MESSAGES: Final = 4_096
"""Messages remembered, or twice as many as the list has that is at hand."""
_VALUES: Final = 65_536


class KeyMemo:
    """What was digested already, by identity of the (immutable) objects. One for each run; holds on to what it saw lately."""

    def __init__(self) -> None:
        self._atoms: dict[int, tuple[Any, tuple[Atom, ...]]] = {}
        self._tools: dict[int, tuple[Any, bytes]] = {}
        self._lists: dict[tuple[int, int], tuple[list[Any], Chain]] = {}
        self._systems: dict[tuple[int, ...], tuple[list[Any], str | None]] = {}
        self._values: dict[tuple[type, Any], str] = {}
        self._fields: dict[tuple[str, str], str] = {}

    def value(self, value: Any) -> str:
        """The digest of any value; of a short text or a number (a model's name, a temperature) made once."""
        kind = type(value)
        if kind is float:
            key = (kind, repr(value))  # 0.0 and -0.0 are equal and have two digests
        elif kind in _SCALARS and (kind is not str or len(value) <= _SHORT):
            key = (kind, value)
        else:
            return digest_value(value)
        found = self._values.get(key)
        if found is None:
            if len(self._values) >= _VALUES:
                self._values.clear()
            found = self._values[key] = digest_value(value)
        return found

    def field(self, field: str, name: str) -> str:
        """The spelling of a component that is a key of a field."""
        found = self._fields.get((field, name))
        if found is None:
            found = self._fields[field, name] = join(field, name)
        return found

    def system(self, parts: list[Any]) -> str | None:
        """The digest of the parts of a system prompt; None where they say nothing."""
        key = tuple(map(id, parts))
        found = self._systems.get(key)
        if found is None:
            said = canonical_parts(parts)
            found = self._systems[key] = (parts, digest_value(said) if said else None)
        return found[1]

    def atoms(self, message: Any) -> tuple[Atom, ...]:
        """The canonical parts of a message."""
        found = self._atoms.get(id(message))
        if found is None:
            found = self._atoms[id(message)] = (message, atoms_of(message))
        return found[1]

    def tool(self, definition: Any) -> bytes:
        """The digest of a tool definition."""
        found = self._tools.get(id(definition))
        if found is None:
            found = self._tools[id(definition)] = (definition, hashlib.sha256(jcs(_tool(definition))).digest())
        return found[1]

    def messages(self, messages: list[Any]) -> str:
        """The digest of a message list; linear in what no remembered list starts with."""
        if len(self._atoms) > max(_MESSAGES, 2 * len(messages)):
            self._forget()
        size, state = self._longest_prefix(messages)
        state = state.extend(chain.from_iterable(map(self.atoms, messages[size:])))
        if messages:
            key = (len(messages), id(messages[-1]))
            self._lists.pop(key, None)
            self._lists[key] = (messages, state)
            if len(self._lists) > _LISTS:
                del self._lists[next(iter(self._lists))]
        return "sha256:" + state.digest().hex()

    def _forget(self) -> None:
        """Let go of what is known by identity: an id may be used again once its object is gone, so all of it."""
        for known in (self._atoms, self._tools, self._lists, self._systems):
            known.clear()

    def _longest_prefix(self, messages: list[Any]) -> tuple[int, Chain]:
        if self._lists:
            for size in range(len(messages), 0, -1):
                known = self._lists.get((size, id(messages[size - 1])))
                if known is not None and all(map(is_, known[0], messages)):
                    return size, known[1]
        return 0, Chain.start()


class StampedKeys(dict[str, str]):
    """Component keys that know their :func:`request_hash`. Never changed after construction."""

    __slots__ = ("whole",)

    def __init__(self, keys: dict[str, str]) -> None:
        super().__init__(keys)
        self.whole = request_hash(keys) if keys else None


def component_keys(event: Event, memo: KeyMemo | None = None) -> dict[str, str]:
    """One digest for each component that the event's request holds; a component that is absent has no key.

    Give the same memo for all events of a run: equal messages are one object there and are digested once.
    """
    return request_components(event.kind, event.name, event.request, memo)


def request_components(kind: Kind, name: str, request: dict[str, Any], memo: KeyMemo | None = None) -> dict[str, str]:
    """The component keys of a request that is no event yet."""
    memo = memo or KeyMemo()
    rule = SEMANTICS[kind]
    keys: dict[str, str] = {"name": memo.value(name)} if rule.operation else {}
    for field in _whole(rule, request):
        if request.get(field) is not None:
            keys[join("", field)] = _value_key(request[field], memo)
    for field in rule.spread:
        if field in request:
            keys.update(_param_keys(request[field], memo) if field == "params" else _argument_keys(field, request[field], memo))
    if rule.conversation:
        keys.update(_conversation_keys(request, memo))
    return keys


def request_hash(keys: dict[str, str]) -> str:
    """One digest over all component keys."""
    if all(map(str.isascii, keys)) and RESERVED not in keys:  # every set of component keys: field names and hex digits
        return digest(write_plain(keys))
    return digest_value(keys)


def _whole(rule: Rule, request: dict[str, Any]) -> list[str]:
    return [field for field in request if field not in NEVER] if rule.rest else list(rule.whole)


def _value_key(value: Any, memo: KeyMemo) -> str:
    value = settled(value)
    if (
        isinstance(value, list)
        and value
        and all(isinstance(item, dict) and "role" in item and "parts" in item for item in value)
    ):
        return memo.messages(value)
    return memo.value(value)


def _param_keys(params: Any, memo: KeyMemo) -> dict[str, str]:
    """A param that is null was not sent."""
    keys: dict[str, str] = {}
    for name, value in params.items() if isinstance(params, dict) else ():
        name = PARAM_NAMES.get(name, name)
        if value is None or name in TRANSPORT_PARAMS:
            continue
        if name == "stop_sequences" and isinstance(value, str):
            value = [value]
        keys[memo.field("params", str(name))] = memo.value(value)
    return keys


def _argument_keys(field: str, arguments: Any, memo: KeyMemo) -> dict[str, str]:
    """One key for each argument; one for all where they are no object with text keys, or an empty one."""
    arguments = arguments_of(arguments)
    if isinstance(arguments, dict) and arguments and all(isinstance(name, str) for name in arguments):
        return {memo.field(field, name): memo.value(value) for name, value in arguments.items()}
    return {field: digest_value(arguments)}


def _conversation_keys(request: dict[str, Any], memo: KeyMemo) -> dict[str, str]:
    keys: dict[str, str] = {}
    messages = settled(request.get("messages"))
    system = settled(request.get("system"))
    parts = list(system) if isinstance(system, list) else [] if system is None else [system]
    if isinstance(messages, list):
        leading = list(takewhile(is_system, messages))
        for message in leading:
            parts += parts_of(message)
        keys["messages"] = memo.messages(messages[len(leading) :] if leading else messages)
    elif messages is not None:
        keys["messages"] = digest_value(messages)
    said = memo.system(parts) if parts else None
    if said is not None:
        keys["system"] = said
    tools = settled(request.get("tools"))
    if isinstance(tools, list) and tools:
        keys["tools"] = digest(b"".join(map(memo.tool, tools)))
    return keys


def _tool(definition: Any) -> Any:
    if not isinstance(definition, dict):
        return definition
    inner = definition.get("function")
    if isinstance(inner, dict):  # the shape of the chat completions API
        definition = {"type": "function", **inner}
    kind = definition.get("type") or "function"
    kept = TOOL_FIELDS if kind == "function" else tuple(definition)
    made = {
        field: settled(definition[field]) if field == "parameters" else definition[field]
        for field in kept
        if field in definition
    }
    return {"type": kind, **{field: value for field, value in made.items() if value is not None and field != "type"}}
