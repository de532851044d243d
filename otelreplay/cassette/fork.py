"""Forks: a recording with something in it changed by hand, to see what the program would have done.

A fork is a draft at first: its header holds what the seal will (``draft``), and there is no seal. The first replay adds what
was observed as a line of type ``observed``, and seals it. From then on it is a cassette like any other; what a later replay
observes becomes a child of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from pydantic import ValidationError

from otelreplay import canonical
from otelreplay.cassette.header import Header, Parent
from otelreplay.cassette.read import Cassette
from otelreplay.errors import UsageError
from otelreplay.events import Event, Inferred, Message, Recording
from otelreplay.events.fields import format_path, parse, within
from otelreplay.matching import component_keys, request_hash

RULE: Final = "fork"
"""Names the mark of a field that was set by hand."""
AGAIN: Final = "replayed again"
_SETTABLE: Final = ("request", "response", "error", "effect", "idempotency_key", "versions", "attributes")
_ADVICE: Final = "name a field as `otelreplay events --json` shows it, such as response.result.state"
OBSERVED: Final = b'{"type":"observed",'


@dataclass(frozen=True, slots=True)
class Edit:
    """One value that is put in place."""

    field: str
    value: Any


def forked(
    parent: Cassette, *, seq: int, edits: Sequence[Edit], reason: str, created: str, clean: Callable[[Event], Event]
) -> tuple[Header, Recording]:
    """Header and recording of a draft.

    ``clean``: the parent's policy; what is put in passes it like all that was recorded. Raises UsageError.
    """
    if parent.seal is None:
        raise UsageError(
            "only a sealed cassette can be forked", code="fork.unsealed",
            next_step="replay it once, which seals a draft, or seal it from the store that holds its spans",
        )  # fmt: skip
    if all(event.seq != seq for event in parent.events):
        raise UsageError(f"there is no event {seq}", code="cassette.no_such_event", next_step="`otelreplay show` lists them")
    named = [{"seq": seq, "field": format_path(parse(edit.field))} for edit in edits]
    text = canonical.dumps([parent.seal.root, [[seq, e.field, e.value] for e in edits], reason])
    run_id = sha256(text).hexdigest()[:32]
    link = Parent.model_validate(
        {"root": parent.seal.root, "kind": "fork", "reason": reason, "run_id": parent.header.run_id, "edits": named}
    )
    held = parent.recording()
    events = tuple(
        _edited(event, edits, parent.header.run_id, clean) if event.seq == seq else event for event in held.events
    )  # fmt: skip
    header = parent.header.model_copy(
        update={"run_id": run_id, "revision": 1, "parent": link, "created": created, "draft": _completeness(parent)}
    )
    return header, replace(held, run_id=run_id, events=events)


def _completeness(parent: Cassette) -> dict[str, Any]:
    """What a seal holds beside counts and digests."""
    found = dict(parent.seal.completeness) if parent.seal is not None else {}
    return {"spans": 0, "logs": 0} | found


def _edited(event: Event, edits: Sequence[Edit], run_id: str, clean: Callable[[Event], Event]) -> Event:
    members = {name: getattr(event, name) for name in (*Event.model_fields, *(event.model_extra or {}))}
    for edit in edits:
        path = parse(edit.field)
        if not path or path[0] not in _SETTABLE:
            raise UsageError(
                f"{edit.field or 'an empty name'} is no field that can be set", code="fork.field", next_step=_ADVICE
            )
        members[str(path[0])] = _put(members[str(path[0])], path[1:], edit.value, edit.field)
    fields = [format_path(parse(edit.field)) for edit in edits]
    for name in ("missing", "inferred", "redactions"):
        members[name] = [mark for mark in members[name] if not any(_touches(mark.field, field) for field in fields)]
    members["inferred"] += [Inferred.model_validate({"field": f, "from": f"{run_id}:fork", "rule": RULE}) for f in fields]
    made = clean(_checked(_agreeing(members, event, fields), fields))
    keys = component_keys(made)
    return made.model_copy(update={"request_keys": keys, "request_hash": request_hash(keys) if keys else None})


def _touches(mark: str, field: str) -> bool:
    return within(mark, field) or within(field, mark)


def _put(holder: Any, path: Sequence[str | int], value: Any, field: str) -> Any:
    """The holder with the value in place; objects that are not there are made, lists grow by one."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = [] if holder is None else holder
        if not isinstance(items, list) or step > len(items):
            raise UsageError(f"{field} is not there: there is no item {step}", code="fork.field", next_step=_ADVICE)
        inner = items[step] if step < len(items) else None
        return [*items[:step], _put(inner, rest, value, field), *items[step + 1 :]]
    if holder is not None and hasattr(holder, "model_dump"):
        holder = holder.model_dump(exclude_none=True)
    if holder is not None and not isinstance(holder, Mapping):
        raise UsageError(
            f"{field} is not there: {step} is asked of a value that has no members", code="fork.field", next_step=_ADVICE
        )
    members = dict(holder or {})
    members[step] = _put(members.get(step), rest, value, field)
    return Message(members, holder.marks) if isinstance(holder, Message) else members


def _checked(members: dict[str, Any], fields: Sequence[str]) -> Event:
    """The event, if its members are of the types of the model. Raises UsageError."""
    try:
        made = Event.model_validate(members)
    except ValidationError as error:
        names = sorted({format_path([p for p in e["loc"] if isinstance(p, str | int)]) for e in error.errors()})
        raise _mistyped(fields, f"{', '.join(names)} would have the wrong type") from None
    for name, holder in (("request", made.request), ("response", made.response or {})):
        messages = holder.get("messages")
        if messages is not None and not (isinstance(messages, list) and all(map(_is_message, messages))):
            raise _mistyped(fields, f"{name}.messages would be no list of messages with role and parts")
    return made


def _mistyped(fields: Sequence[str], why: str) -> UsageError:
    return UsageError(
        f"{', '.join(fields)} cannot be set so: {why}", code="fork.type", next_step="docs/event.schema.json has the types"
    )


def _is_message(item: Any) -> bool:
    parts = item.get("parts") if isinstance(item, dict) else None
    return isinstance(parts, list) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts)


def _agreeing(members: dict[str, Any], before: Event, fields: Sequence[str]) -> dict[str, Any]:
    """A reply that is one text is held as message and as result, perhaps in chunks: one of them set, the others follow."""
    response = members["response"]
    if not isinstance(response, dict):
        return members
    old = before.response or {}
    said, result = _text(old.get("messages")), old.get("result")
    set_messages, set_result = (any(within(f, name) for f in fields) for name in ("response.messages", "response.result"))
    if set_messages and not set_result and isinstance(result, str) and result == said:
        new = _text(response.get("messages"))
        response = response | ({"result": new} if new is not None else {})
    elif set_result and not set_messages and isinstance(result, str) and result == said and isinstance(response["result"], str):
        message = Message({**response["messages"][0], "parts": [{"type": "text", "content": response["result"]}]})
        response = response | {"messages": [message]}
    if (set_messages or set_result) and "chunks" in response and not any(within(f, "response.chunks") for f in fields):
        response = {name: value for name, value in response.items() if name not in ("chunks", "stream")}
    return members | {"response": response}


def _text(messages: Any) -> str | None:
    """The text of a reply that is one text."""
    if not isinstance(messages, list) or len(messages) != 1 or not isinstance(messages[0], dict):
        return None
    parts = messages[0].get("parts")
    if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict) or parts[0].get("type") != "text":
        return None
    content = parts[0].get("content")
    return content if isinstance(content, str) else None


def draft_lines(lines: Iterable[bytes]) -> list[bytes]:
    """The lines of a draft from those of a sealed cassette: all but the seal."""
    return list(lines)[:-1]


def observed(report: Mapping[str, Any], *, created: str) -> bytes:
    """The line that says what a replay came to."""
    names = ("outcome", "exit_code", "child_exit", "served", "calls", "unused", "first_divergence", "others", "guard")
    return canonical.dumps({"type": "observed", "created": created} | {n: report.get(n) for n in names}) + b"\n"


def observation(cassette: Cassette) -> dict[str, Any] | None:
    """What the replay that sealed a fork observed; None if there is no such line."""
    line = next((line for line in cassette.further if line.startswith(OBSERVED)), None)
    found = canonical.loads(line) if line is not None else None
    return found if isinstance(found, dict) else None


def concluded(cassette: Cassette, line: bytes, *, created: str) -> tuple[Header, Recording, list[bytes]]:
    """(header, recording, further lines) of what a replay of a fork leaves: the draft itself sealed, or a child of the fork."""
    further = [*(old for old in cassette.further if not old.startswith(OBSERVED)), line]
    if cassette.header.draft is not None:
        return cassette.header.model_copy(update={"draft": None}), cassette.recording(), further
    assert cassette.seal is not None
    members = canonical.loads(line)
    seen = canonical.dumps([cassette.seal.root, {n: v for n, v in members.items() if n not in ("created", "guard")}])
    run_id = sha256(seen).hexdigest()[:32]
    link = Parent(root=cassette.seal.root, kind="fork", reason=AGAIN, run_id=cassette.header.run_id)
    update = {"run_id": run_id, "revision": 1, "parent": link, "created": created}
    return cassette.header.model_copy(update=update), replace(cassette.recording(), run_id=run_id), further


def facts(cassette: Cassette) -> dict[str, Any]:
    """Lineage and observation, for reports; empty for a recording that has neither."""
    link = cassette.header.parent
    if link is None:
        return {}
    seen = observation(cassette)
    out: dict[str, Any] = {"parent": link.model_dump(exclude_defaults=True), "draft": cassette.header.draft is not None}
    return out | ({"observed": {n: v for n, v in seen.items() if n != "type"}} if seen is not None else {})


__all__ = ["AGAIN", "RULE", "Edit", "concluded", "draft_lines", "facts", "forked", "observation", "observed"]
