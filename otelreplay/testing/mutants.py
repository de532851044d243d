"""Programs that differ from a recorded one in exactly one thing, and the place where that must be found.

A *step* is one call that the recorded program made. A *mutant* is the steps of a program with one change: in one component of
one request that the recording carries, or in the calls themselves. What the matching takes for a spelling of the same thing
(``docs/matching-keys.md``) is no change, so no mutant is made of it: an id, an empty text, where a message ends, the role of a
tool's result. Deterministic; pure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from otelreplay.canonical import digest_value
from otelreplay.canonical.paths import join
from otelreplay.matching import SEMANTICS
from otelreplay.matching.semantics import NEVER, PART_FIELDS, TOOL_FIELDS, TRANSPORT_PARAMS

Change = tuple[str, str, Any]
"""(what was done, the field that it shows in, the value with the change)."""
Skip = Callable[[str], bool]
"""Whether a text at this field is not carried, because a policy took it out whole."""

_NEW: Final = "zz new"
_FAR: Final = 1_000_003
"""What a number is changed by: so much that it is not the number of another call."""
_ROLES: Final = {"user": "assistant", "assistant": "user", "system": "user", "developer": "user", "tool": "user"}
_CHANGED: Final = frozenset({"request_changed"})
_LEFT_OUT: Final = frozenset({"missing_call", "events_unused"})
_TOO_MANY: Final = frozenset({"unexpected_call"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A call that the recorded program made, before any policy."""

    seq: int
    kind: str
    name: str
    request: dict[str, Any]
    carried: Callable[[str], bool]
    """Whether the recording carries a component, by its name or by its absence."""
    hidden: Skip
    parent: int | None = None
    """seq of the agent around it."""
    alike: frozenset[int] = frozenset()
    """seq of the steps that make the very same request; of itself too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A program with one change, and what must be said of it."""

    seq: int
    what: str
    paths: tuple[str, ...]
    """Where it must be found; one of them. Empty for a change of the calls themselves."""
    kinds: frozenset[str]
    seqs: frozenset[int] | None
    """The events one of which must be named; None where the change is a call that no event is about."""
    place: int
    """Which step it takes the place of."""
    steps: tuple[Step, ...] = field(repr=False)
    """What stands there instead."""


def mutants_of(steps: Sequence[Step], others: Sequence[str] = ()) -> Iterator[Mutant]:
    """Every mutant of a program. ``others``: further tools that it may call instead."""
    for place, step in enumerate(steps):
        for what, path, request in request_changes(step):
            yield Mutant(
                seq=step.seq, what=what, paths=_either(path) if what == "list order" else (path,), kinds=_CHANGED,
                seqs=frozenset({step.seq}), place=place, steps=(_with(step, request=request),),
            )  # fmt: skip
        if step.kind == "agent":
            continue
        yield Mutant(
            seq=step.seq, what="call left out", paths=(), kinds=_LEFT_OUT, seqs=step.alike or frozenset({step.seq}),
            place=place, steps=(),
        )  # fmt: skip
        yield Mutant(
            seq=step.seq, what="call made twice", paths=(), kinds=_TOO_MANY, seqs=None, place=place, steps=(step, step)
        )
        for name in (step.name + "_other", *others) if step.kind in ("tool", "retrieval") else ():
            if name != step.name:
                yield Mutant(
                    seq=step.seq, what="another tool", paths=(), kinds=_TOO_MANY, seqs=None, place=place,
                    steps=(_with(step, name=name),),
                )  # fmt: skip


def _either(path: str) -> tuple[str, str]:
    """Of two neighbours that changed places, either was moved."""
    head, _, n = path[:-1].rpartition("[")
    return path, f"{head}[{int(n) + 1}]"


def _with(step: Step, **members: Any) -> Step:
    held = {name: getattr(step, name) for name in Step.__dataclass_fields__}
    return Step(**{**held, **members})


def request_changes(step: Step) -> Iterator[Change]:
    """Every request that differs from the step's in one thing that the recording carries."""
    rule, request = SEMANTICS[step.kind], step.request  # type: ignore[index]
    for name in [n for n in request if n not in NEVER] if rule.rest else rule.whole:
        if request.get(name) is not None and step.carried(join("", name)):
            for what, path, value in _component(request[name], join("request", name), step.hidden):
                yield what, path, _put(request, name, value)
    for name in rule.spread:
        yield from _spread(step, name)
    if rule.conversation:
        yield from _conversation(step)


def _put(members: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The object with one member changed, in its place; without it where the value is :data:`_GONE`."""
    if value is _GONE:
        return {k: v for k, v in members.items() if k != key}
    return {**members, key: value}


class _Gone:
    """Stands for a member that was left out."""


_GONE: Final = _Gone()


def _component(value: Any, path: str, hidden: Skip) -> Iterator[Change]:
    """A whole component, which may also be missing."""
    yield "key missing", path, _GONE
    if _is_messages(value):
        yield from _messages(value, path, hidden)
    else:
        yield from changes(value, path, hidden)


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "role" in m and "parts" in m for m in value)


def _spread(step: Step, name: str) -> Iterator[Change]:
    held = step.request.get(name)
    path = join("request", name)
    if held is not None and not isinstance(held, dict):
        if step.carried(name):
            for what, at, value in changes(held, path, step.hidden):
                yield what, at, _put(step.request, name, value)
        return
    held = held or {}
    for key, value in held.items():
        if name == "params" and (key in TRANSPORT_PARAMS or value is None):
            continue
        if not step.carried(join(name, key)):
            continue
        at = join(path, key)
        yield "key missing", at, _put(step.request, name, _put(held, key, _GONE))
        for what, where, changed in changes(value, at, step.hidden):
            yield what, where, _put(step.request, name, _put(held, key, changed))
    extra = "zz_new" if name == "arguments" else "seed"
    if extra not in held and held and step.carried(join(name, extra)):
        yield "key added", join(path, extra), _put(step.request, name, {**held, extra: 7})


def _conversation(step: Step) -> Iterator[Change]:
    request, hidden = step.request, step.hidden
    messages, system, tools = request.get("messages"), request.get("system"), request.get("tools")
    if isinstance(messages, list) and step.carried("messages"):
        for what, path, value in _messages(messages, "request.messages", hidden):
            yield what, path, _put(request, "messages", value)
    if isinstance(system, list) and step.carried("system"):
        for what, path, value in _parts(system, "request.system", hidden):
            yield what, path, _put(request, "system", value)
        if any(map(_says, system)):
            yield "key missing", "request.system", _put(request, "system", _GONE)
    elif system is None and step.carried("system"):
        yield "key added", "request.system", {**request, "system": [{"type": "text", "content": _NEW}]}
    if isinstance(tools, list) and tools and step.carried("tools"):
        for what, path, value in _tools(tools, hidden):
            yield what, path, _put(request, "tools", value)
    elif not tools and step.carried("tools"):
        yield "key added", "request.tools", {**request, "tools": [{"type": "function", "name": "zz_new"}]}


def _tools(tools: list[Any], hidden: Skip) -> Iterator[Change]:
    yield "key missing", "request.tools", _GONE
    added = {"type": "function", "name": "zz_new", "parameters": {"type": "object"}}
    yield from _list_changes(tools, "request.tools", added)
    for n, tool in enumerate(tools):
        if not isinstance(tool, dict):
            continue
        for key in TOOL_FIELDS[1:]:
            if tool.get(key) is None:
                continue
            path = join(join("request.tools", n), key)
            yield "tool schema", path, _at(tools, n, _put(tool, key, _GONE))
            for what, at, value in changes(tool[key], path, hidden):
                yield f"tool schema: {what}", at, _at(tools, n, _put(tool, key, value))


def _messages(messages: list[Any], path: str, hidden: Skip) -> Iterator[Change]:
    said = [isinstance(m, dict) and any(map(_says, m.get("parts") or ())) for m in messages]
    for n, message in enumerate(messages):
        if not said[n]:
            continue
        at = join(path, n)
        yield "message dropped", at, messages[:n] + messages[n + 1 :]
        if n + 1 < len(messages) and said[n + 1] and digest_value(message) != digest_value(messages[n + 1]):
            yield "list order", at, [*messages[:n], messages[n + 1], message, *messages[n + 2 :]]
        parts = message["parts"]
        answers = [isinstance(p, dict) and p.get("type") == "tool_call_response" for p in parts]
        if not any(answers) and message.get("role") in _ROLES:
            yield "key changed", join(at, "role"), _at(messages, n, {**message, "role": _ROLES[message["role"]]})
        for what, where, changed in _parts(parts, join(at, "parts"), hidden):
            yield what, where, _at(messages, n, {**message, "parts": changed})
    added = {"role": "user", "parts": [{"type": "text", "content": _NEW}]}
    for n in {0, len(messages)}:
        yield "message added", join(path, n), [*messages[:n], added, *messages[n:]]
    yield from _swapped_answers(messages, path)


def _swapped_answers(messages: list[Any], path: str) -> Iterator[Change]:
    """Two results, each given as the answer to the other one's call."""
    found = [
        (n, k, part)
        for n, m in enumerate(messages)
        for k, part in enumerate(m.get("parts") or ())
        if isinstance(part, dict) and part.get("type") == "tool_call_response" and part.get("id")
    ]
    for (n, k, a), (m, j, b) in pairwise(found):
        if a["id"] != b["id"]:
            made = json.loads(json.dumps(messages, default=str))
            made[n]["parts"][k]["id"], made[m]["parts"][j]["id"] = b["id"], a["id"]
            yield "result of another call", f"{path}[{n}].parts[{k}].id", made


def _says(part: Any) -> bool:
    """Whether a part says anything: an empty text does not."""
    return bool(part) and not (isinstance(part, dict) and part.get("type") == "text" and not part.get("content"))


def _parts(parts: list[Any], path: str, hidden: Skip) -> Iterator[Change]:
    for n, part in enumerate(parts):
        if not _says(part):
            continue
        at = join(path, n)
        if len(parts) > 1:
            yield "part dropped", at, parts[:n] + parts[n + 1 :]
        if not isinstance(part, dict):
            continue
        if n + 1 < len(parts) and part.get("type") == _type(parts[n + 1]) and digest_value(part) != digest_value(parts[n + 1]):
            yield "list order", at, [*parts[:n], parts[n + 1], part, *parts[n + 2 :]]
        for key in PART_FIELDS.get(str(part.get("type")), ()):
            if part.get(key) is not None:
                for what, where, value in changes(part[key], join(at, key), hidden, spoken=key == "response"):
                    yield what, where, _at(parts, n, _put(part, key, value))


def _type(part: Any) -> Any:
    return part.get("type") if isinstance(part, dict) else None


def _at(items: list[Any], n: int, value: Any) -> list[Any]:
    return [*items[:n], value, *items[n + 1 :]]


def _list_changes(items: list[Any], path: str, added: Any) -> Iterator[Change]:
    for n, item in enumerate(items):
        yield "item dropped", join(path, n), items[:n] + items[n + 1 :]
        if n + 1 < len(items) and digest_value(item) != digest_value(items[n + 1]):
            yield "list order", join(path, n), [*items[:n], items[n + 1], item, *items[n + 2 :]]
    yield "item added", join(path, len(items)), [*items, added]


def changes(value: Any, path: str, hidden: Skip, *, spoken: bool = False) -> Iterator[Change]:
    """Every value that differs from this one in one thing. ``spoken``: a model reads it, so that 4 and "4" are one."""
    if isinstance(value, dict):
        yield "key added", join(path, "zz_new"), {**value, "zz_new": 1}
        for key, item in value.items():
            at = join(path, key)
            yield "key missing", at, _put(value, key, _GONE)
            for what, where, changed in changes(item, at, hidden):
                yield what, where, _put(value, key, changed)
    elif isinstance(value, list):
        yield from _list_changes(value, path, _NEW)
        for n, item in enumerate(value):
            for what, where, changed in changes(item, join(path, n), hidden):
                yield what, where, _at(value, n, changed)
    elif not hidden(path):
        yield from ((what, path, changed) for what, changed in _scalar(value, spoken=spoken))


def _scalar(value: Any, *, spoken: bool) -> Iterator[tuple[str, Any]]:
    if isinstance(value, str):
        yield "key changed", f"zz {value}"
        if not value.lstrip().startswith(("{", "[")) and not spoken:
            yield "whitespace", f" {value}"
            yield "whitespace", value.replace(" ", "  ", 1) if " " in value.strip() else f"\n{value}"
            yield "retyped", [value]
    elif isinstance(value, bool):
        yield "key changed", not value
        yield from [] if spoken else [("retyped", str(value))]
    elif isinstance(value, int | float):
        yield "key changed", value + _FAR if abs(value) < _FAR**2 else -value
        yield from [] if spoken else [("retyped", str(value))]
    elif value is None:
        yield "retyped", 0
