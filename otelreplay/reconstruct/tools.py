"""Tool events: each span with the call that a model asked for, and calls that have no span.

A call and a span belong together by call id; where one side has none, by name, arguments and order. Where more than one pairing
is possible that would make a difference, the first in order is taken and a note says so: never in silence.

What a span does not hold is taken from the call (arguments, id) and from the first later request that quotes its answer
(result).
A call that no span answers becomes an event of its own when it belongs to this run: a result that a model was told is proof
that
something ran. What the model was told differs from what the tool returned in most frameworks; both are kept (``as_seen``).
"""

from __future__ import annotations

from collections.abc import Sequence

from otelreplay import canonical
from otelreplay.dialects.packages import package_of
from otelreplay.dialects.values import decoded, decoded_whole
from otelreplay.events import Missing, Note
from otelreplay.reconstruct import results
from otelreplay.reconstruct.draft import Draft
from otelreplay.reconstruct.tree import names_alike
from otelreplay.reconstruct.turns import Call, Conversation

UNKNOWN_ERROR = "_OTHER"
"""``error.type`` of a failure that the framework handled: what it told the model instead is the tool's outcome."""


def pair(tools: Sequence[Draft], conversation: Conversation, notes: list[Note]) -> None:
    """Gives each call its tool event, where there is one."""
    free = sorted(tools, key=lambda d: (d.start, d.id))
    ids: dict[str, list[Call]] = {}
    ours = [c for c in conversation.calls if c.asker is not None or c.current]
    for call in ours:
        ids.setdefault(call.id, []).append(call)
    for match in (_by_id, _by_content, _by_name):
        waiting = [c for c in ours if c.tool is None]
        for tool in list(free):
            candidates = ids.get(tool.fields.get("request.call_id") or "", []) if match is _by_id else waiting
            found = match(tool, [c for c in candidates if c.tool is None and names_alike(c.name, tool.name)])
            if not found:
                continue
            call = _nearest(tool, found)
            if match is not _by_id and len({_content_key(c) for c in found if c.teller is call.teller}) > 1:
                notes.append(
                    Note(
                        code="ambiguous_pairing",
                        spans=(tool.id, call.teller.id),
                        message=f"{tool.name}: its span has no call id and several calls fit; taken in order",
                    )
                )
            call.tool = tool
            free.remove(tool)


def _by_id(tool: Draft, calls: Sequence[Call]) -> list[Call]:
    key = tool.fields.get("request.call_id")
    return [c for c in calls if key and c.id == key]


def _by_content(tool: Draft, calls: Sequence[Call]) -> list[Call]:
    if not tool.has("request.arguments") or _has_other_id(tool, calls):
        return []
    wanted = canonical.digest_value(decoded(tool.fields["request.arguments"]))
    return [c for c in calls if _content_key(c) == wanted]


def _by_name(tool: Draft, calls: Sequence[Call]) -> list[Call]:
    return list(calls) if not tool.has("request.arguments") and not _has_other_id(tool, calls) else []


def _has_other_id(tool: Draft, calls: Sequence[Call]) -> bool:
    """An id that some call has is this call's own; an id that no call has may be the framework's, and joins nothing."""
    return any(c.id and c.id == tool.fields.get("request.call_id") for c in calls)


def _content_key(call: Call) -> str:
    return canonical.digest_value(call.part.get("arguments") if call.part.get("arguments") is not None else {})


def _nearest(tool: Draft, calls: Sequence[Call]) -> Call:
    """The latest reply before the tool started; within it the first call."""
    before = [c for c in calls if c.asker is None or c.asker.start <= tool.start] or list(calls)
    latest = max(c.teller.start if c.asker is not None else 0 for c in before)
    return min((c for c in before if (c.teller.start if c.asker is not None else 0) == latest), key=lambda c: c.order)


def complete(conversation: Conversation) -> list[Draft]:
    """Fills tool events from calls and answers; returns the events of calls that have no span."""
    made = []
    for call in conversation.calls:
        if call.tool is None and (call.asker is not None or (call.current and call.answers)):
            call.tool = _event_of(call)
            made.append(call.tool)
        if call.tool is not None:
            _fill(call.tool, call)
    return made


def _event_of(call: Call) -> Draft:
    teller = call.teller
    suffix = call.id if call.id and call.id.isascii() and len(call.id) <= 64 and call.id.isprintable() else f"call-{call.path}"
    draft = Draft(id=f"{teller.id}#{suffix}", kind="tool", name=call.name or "tool", spans=[], rank=(call.order,))
    draft.parent = teller.parent
    if "arguments" not in call.part:
        draft.gaps["request.arguments"] = Missing(
            field="request.arguments",
            cause="content_not_captured",
            detail="the model's reply names the call without its arguments",
            remedy=package_of(teller.span).content if teller.span else "",
        )
    draft.gaps["response.result"] = Missing(
        field="response.result",
        cause="span_not_received",
        detail="a model asked for this call; no span of it arrived and no later request quotes a result",
        remedy="instrument the tool, and flush the tracer provider before the process ends",
    )
    return draft


def _fill(tool: Draft, call: Call) -> None:
    told = f"{call.teller.id}:{call.path}"
    if call.asker is not None:
        tool.before.add(call.asker)
    if not tool.has("request.arguments") and "arguments" in call.part:
        tool.infer(
            "request.arguments", decoded(call.part["arguments"]), source=f"{told}.arguments", rule="arguments_from_model_reply"
        )
    if not tool.has("request.call_id") and call.id:
        tool.infer("request.call_id", call.id, source=f"{told}.id", rule="call_id_from_model_reply")
    for reader in call.readers:
        reader.before.add(tool)
    if call.answers:
        first = call.answers[0]
        _answer(tool, first.value, f"{first.reader.id}:{first.path}.response")
    elif call.readers and tool.span is None:
        reader = call.readers[0]
        tool.gaps["response.result"] = Missing(
            field="response.result",
            cause="content_not_captured",
            detail=f"{reader.id} quotes the answer without its content",
            remedy=package_of(reader.span).content if reader.span else "",
        )


def _answer(tool: Draft, value: object, source: str) -> None:
    seen = decoded_whole(value)
    if tool.has("response.result"):
        results.settle(tool, value)
        if not results.same(tool.fields["response.result"], value):
            tool.fields["response.as_seen"] = seen
    elif tool.has("error") and tool.fields["error"].type != UNKNOWN_ERROR:
        tool.fields["response.as_seen"] = seen
        tool.gaps.pop("response.result", None)
    else:
        tool.infer("response.result", seen, source=source, rule="result_from_next_request")
