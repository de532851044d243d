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

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

import msgspec

from otelreplay import canonical
from otelreplay.dialects.packages import package_of
from otelreplay.dialects.values import decoded, decoded_whole
from otelreplay.events import Missing, Note
from otelreplay.reconstruct import results
from otelreplay.reconstruct.draft import Draft, names_alike
from otelreplay.reconstruct.turns import Call, Conversation, tool_calls

UNKNOWN_ERROR = "_OTHER"
"""``error.type`` of a failure that the framework handled: what it told the model instead is the tool's outcome."""


def promote(drafts: Iterable[Draft], models: Sequence[Draft]) -> None:
    """Makes a tool of each traced function whose name a model declared or asked for."""
    functions = [d for d in drafts if d.as_tool is not None and d.kind == "context"]
    if not functions:
        return
    declared = {str(t.get("name")) for d in models for t in d.fields.get("request.tools") or () if isinstance(t, dict)}
    asked = {str(p.get("name")) for d in models for m in d.fields.get("response.messages") or () for _, p in tool_calls(m)}
    for draft in functions:
        reading = draft.as_tool
        if reading is None or reading.name not in declared | asked:
            continue
        draft.kind, draft.name = "tool", reading.name
        draft.fields.update(reading.fields)
        draft.texts.update(reading.texts)
        draft.gaps.update({gap.field: gap for gap in reading.gaps})
        draft.leftovers = {k: v for k, v in draft.leftovers.items() if k not in reading.taken}


def pair(tools: Sequence[Draft], conversation: Conversation, notes: list[Note]) -> None:
    """Gives each call its tool event, where there is one."""
    free = sorted(tools, key=lambda d: (d.start, d.id))
    if free:
        ours = [c for c in conversation.calls if c.asker is not None or c.current]
        free = _matched(free, ours, _id_of, lambda call: call.id)
    if free:
        free = _matched(free, [c for c in ours if c.tool is None], _content_of, _content_key)
    if free:
        free = _matched(free, [c for c in ours if c.tool is None], _nameless, _only_value)
    if free:
        free = _matched(free, [c for c in ours if c.tool is None], _bare, lambda _call: _ANY, notes)
    decorated = [tool for tool in free if tool.exact]
    if decorated:
        _by_name(decorated, [c for c in ours if c.tool is None], notes)


def _by_name(tools: Sequence[Draft], calls: Sequence[Call], notes: list[Note]) -> None:
    """Joins decorated tools to calls of a like name whose arguments they do not have as the model wrote them.

    A function is called with more (defaults, what the program adds) and with other types (dates, objects) than a model writes
    down. So those calls come first that the tool's arguments include; then, with a note, any call that was asked for before
    the tool ran and answered after.
    """
    waiting = {call: _digests(decoded(call.part.get("arguments"))) for call in calls}
    left = [(tool, _digests(tool.fields.get("request.arguments"))) for tool in tools]
    for including in (True, False):
        rest = []
        for tool, held in left:
            fitting = [
                c for c, asked in waiting.items() if _may_be(tool, c) and (not including or asked.items() <= held.items())
            ]
            if not fitting:
                rest.append((tool, held))
                continue
            call = max(fitting, key=lambda c: (c.asker.start if c.asker is not None else 0, -c.order))
            del waiting[call]
            call.tool = tool
            if not including:
                message = (
                    f"{tool.name}: its span has no call id and other arguments than the model wrote; taken by name and order"
                )
                notes.append(Note(code="ambiguous_pairing", spans=(tool.id, call.teller.id), message=message))
        left = rest


def _digests(arguments: object) -> dict[str, str]:
    """Argument → digest of its value; what is no object of arguments is one argument."""
    held = arguments if isinstance(arguments, dict) else {"": arguments}
    return {str(name): canonical.digest_value(value) for name, value in held.items()}


def _may_be(tool: Draft, call: Call) -> bool:
    """Was the call asked for before the tool ran, and answered after?"""
    if not names_alike(call.name, tool.name) or (call.asker is not None and call.asker.start > tool.start):
        return False
    return all(tool.start <= reader.start for reader in call.readers)


_ANY = "any"


def _id_of(tool: Draft) -> object:
    """An id that no call has may be the framework's, and joins nothing."""
    return tool.fields.get("request.call_id") or None


def _content_of(tool: Draft) -> object:
    return canonical.jcs(decoded(tool.fields["request.arguments"])) if tool.has("request.arguments") else None


def _content_key(call: Call) -> bytes:
    return canonical.jcs(call.part.get("arguments") if call.part.get("arguments") is not None else {})


def _nameless(tool: Draft) -> str | None:
    """The one value that a framework kept of the arguments, without its name, as text."""
    given = tool.fields.get("request.arguments")
    return None if tool.exact or given is None or isinstance(given, (dict, list)) else _as_text(given)


def _only_value(call: Call) -> str | None:
    """The value of a call's only argument, as text."""
    given = decoded(call.part.get("arguments"))
    return _as_text(next(iter(given.values()))) if isinstance(given, dict) and len(given) == 1 else None


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else canonical.dumps(value).decode()


def _bare(tool: Draft) -> object:
    """A tool whose arguments are not known may be any call's."""
    return None if tool.has("request.arguments") else _ANY


class _Group(msgspec.Struct, eq=False):
    """Calls with one key, one name, one asker and one teller that have no tool yet, in order."""

    first: Call
    calls: deque[Call] = msgspec.field(default_factory=deque)
    contents: Counter[bytes] = msgspec.field(default_factory=Counter)
    """How many of them ask for the same; kept only where keys tell little."""

    def add(self, call: Call, *, count: bool) -> None:
        self.calls.append(call)
        if count:
            self.contents[_content_key(call)] += 1

    def take(self) -> Call:
        call = self.calls.popleft()
        if self.contents:
            content = _content_key(call)
            self.contents[content] -= 1
            if not self.contents[content]:
                del self.contents[content]
        return call

    def asked_before(self, tool: Draft) -> bool:
        return self.first.asker is None or self.first.asker.start <= tool.start

    def since(self) -> int:
        return self.first.teller.start if self.first.asker is not None else 0


_Waiting = dict[object, dict[tuple[str, Draft | None, Draft], _Group]]


def _matched(
    tools: Sequence[Draft],
    calls: Sequence[Call],
    key_of_tool: Callable[[Draft], object],
    key_of_call: Callable[[Call], object],
    notes: list[Note] | None = None,
) -> list[Draft]:
    """Joins tools to calls of the same key and a like name; returns the tools that are left. ``notes``: where keys tell little.

    Calls wait in groups, so that thousands of one reply are one look for each tool.
    """
    waiting: _Waiting = {}
    for call in calls:
        same = waiting.setdefault(key_of_call(call), {})
        same.setdefault((call.name, call.asker, call.teller), _Group(call)).add(call, count=notes is not None)
    left = []
    for tool in tools:
        key = key_of_tool(tool)
        same = waiting.get(key, {}) if isinstance(key, (str, bytes)) else {}
        fitting = [group for (name, _, _), group in same.items() if names_alike(name, tool.name)]
        if not fitting:
            left.append(tool)
            continue
        group = _nearest(tool, fitting)
        call = group.take()
        call.tool = tool
        if notes is not None and _is_ambiguous(call, fitting):
            message = f"{tool.name}: its span has no call id and several calls fit; taken in order"
            notes.append(Note(code="ambiguous_pairing", spans=(tool.id, call.teller.id), message=message))
        if not group.calls:
            del same[call.name, call.asker, call.teller]
    return left


def _nearest(tool: Draft, groups: Sequence[_Group]) -> _Group:
    """The latest reply before the tool started; within it the first call."""
    before = [g for g in groups if g.asked_before(tool)] or groups
    return min(before, key=lambda g: (-g.since(), g.calls[0].order))


def _is_ambiguous(taken: Call, groups: Iterable[_Group]) -> bool:
    """Did other calls of the same reply fit that ask for something else?"""
    content = _content_key(taken)
    return any(g.contents and g.contents.keys() != {content} for g in groups if g.first.teller is taken.teller)


def complete(conversation: Conversation) -> list[Draft]:
    """Fills tool events from calls and answers; returns the events of calls that have no span."""
    made = []
    sibling: dict[Draft, int] = {}
    for call in conversation.calls:
        if call.tool is None and (call.asker is not None or (call.current and call.answers)):
            call.tool = _event_of(call)
            made.append(call.tool)
        if call.tool is not None:
            _fill(call.tool, call)
            call.tool.behind = sibling.get(call.teller, 0)
            sibling[call.teller] = max(call.tool.behind, call.tool.start)
    return made


def unread(conversation: Conversation) -> list[Note]:
    """A note for each tool that ran and whose result no request quotes, where every request is recorded."""
    if not all(d.has("request.messages") for d in conversation.models):
        return []
    said = "no model call of this run reads its result: the agent ended there, or a later call is not in the trace"
    ran = [c.tool for c in conversation.calls if c.asker is not None and not c.readers and c.tool is not None and c.tool.span]
    return [Note(code="result_unread", message=f"{tool.name}: {said}", spans=(tool.id,)) for tool in ran]


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
    return draft


def _fill(tool: Draft, call: Call) -> None:
    told = f"{call.teller.id}:{call.path}"
    if call.asker is not None:
        tool.before.add(call.asker)
    known = tool.has("request.arguments") and not (call.tool is tool and _nameless(tool) == _only_value(call) is not None)
    if not known and "arguments" in call.part:
        tool.infer(
            "request.arguments", decoded(call.part["arguments"]), source=f"{told}.arguments", rule="arguments_from_model_reply"
        )
    if not tool.has("request.call_id") and call.name_of():
        tool.infer("request.call_id", call.name_of(), source=f"{told}.id", rule="call_id_from_model_reply")
    for reader in call.readers:
        reader.before.add(tool)
    if call.answers:
        first = call.answers[0]
        _answer(tool, first.value, f"{first.reader.id}:{first.path}.response")
    elif tool.span is None:
        tool.gaps["response.result"] = _unanswered(call)


def _unanswered(call: Call) -> Missing:
    if call.readers:
        reader = call.readers[0]
        return Missing(
            field="response.result",
            cause="content_not_captured",
            detail=f"{reader.id} quotes the answer without its content",
            remedy=package_of(reader.span).content if reader.span else "",
        )
    return Missing(
        field="response.result",
        cause="span_not_received",
        detail="a model asked for this call; no span of it arrived and no later request quotes a result",
        remedy="instrument the tool, and flush the tracer provider before the process ends",
    )


def _answer(tool: Draft, value: object, source: str) -> None:
    seen = decoded_whole(value)
    if results.whole_after_all(tool, value):
        return
    if results.of_several(tool, value):
        tool.infer("response.result", seen, source=source, rule="result_from_next_request")
        del tool.texts["response.result"]
    elif tool.has("response.result"):
        results.settle(tool, value)
        if not results.same(tool.fields["response.result"], value):
            tool.fields["response.as_seen"] = seen
    elif tool.has("error") and tool.fields["error"].type != UNKNOWN_ERROR:
        tool.fields["response.as_seen"] = seen
        tool.gaps.pop("response.result", None)
    else:
        tool.infer("response.result", seen, source=source, rule="result_from_next_request")
