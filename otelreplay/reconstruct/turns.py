"""Reading a conversation out of the requests of its model calls.

Every model call sends the whole history again. Theory of operation::

    request of call 1   S  U
    reply of call 1             A1(calls a, b)
    request of call 2   S  U  | A1(calls a, b)  R(a)  R(b)          new: what stands behind the longest earlier request
    reply of call 2                                       A2
    request of call 3   S  U    A1(calls a, b)  R(a)  R(b) | A2  U2

Only the *new* part of a request is news; the rest is history that was read before. In a new part an assistant turn is either
the
reply of a call that was recorded (by its calls, else by its text), or of one that was not; a result answers an open call: by id
where ids are given, else by name and order.

A thread's first request has no earlier one. What it quotes before the last thing that a user said is the past of a resumed
conversation, not part of this run; what it quotes behind it happened in this run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from operator import itemgetter
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.events import Inferred, Message
from otelreplay.reconstruct.draft import Draft, names_alike


class Answer(msgspec.Struct, eq=False):
    """What the model was told about a call."""

    value: Any
    reader: Draft
    """The model call whose request quotes it first."""
    path: str


class Call(msgspec.Struct, eq=False):
    """A tool call that a model asked for."""

    id: str
    name: str
    part: dict[str, Any]
    asker: Draft | None
    """The model call that asked; None when only a later history tells of it."""
    path: str
    teller: Draft
    """The draft in which it stands: the asker, or the one that quotes it."""
    order: int
    current: bool = True
    """Part of this run, not of a resumed conversation's past."""
    answers: list[Answer] = []
    readers: list[Draft] = []
    """The model calls whose request ends with this call's answer: they wait for the tool."""
    tool: Draft | None = None
    known_as: str = ""
    """The id under which an answer names it, where that is another."""

    def name_of(self) -> str:
        """The id that crossed the wire: the id of an item of a reply (``fc_…``) names no call."""
        return self.known_as or ("" if self.id.startswith(_ITEM) else self.id)

    def key(self) -> str:
        """The id by which an answer finds it."""
        return self.id or self.known_as


_ITEM = "fc_"


@dataclass(slots=True, eq=False)
class Lost:
    """An assistant turn that no recorded reply says."""

    messages: list[Message]
    before: list[Message]
    """The request up to it."""
    teller: Draft
    path: str
    calls: list[Call]
    current: bool


class _Open:
    """The calls that wait for an answer, in order, each found by its id at once: one reply may ask for thousands."""

    def __init__(self, calls: dict[Call, None], by_id: dict[str, tuple[Call, ...]]) -> None:
        self.calls, self._by_id = calls, by_id

    def copy(self) -> _Open:
        return _Open(self.calls.copy(), self._by_id.copy())

    def add(self, calls: Iterable[Call]) -> None:
        for call in calls:
            if call not in self.calls:
                self.calls[call] = None
                if call.key():
                    self._by_id[call.key()] = (*self.named(call.key()), call)

    def remove(self, call: Call) -> None:
        if call in self.calls:
            del self.calls[call]
            if call.key():
                same = self._by_id.pop(call.key())
                at = same.index(call)
                if len(same) > 1:
                    self._by_id[call.key()] = same[:at] + same[at + 1 :]

    def named(self, call_id: str) -> tuple[Call, ...]:
        return self._by_id.get(call_id, ())


@dataclass(slots=True)
class _Thread:
    """What is known after one request was read."""

    draft: Draft
    messages: list[Message]
    open: _Open
    last: Draft | None
    """The recorded call whose reply was quoted last."""
    told: list[Call]
    """The calls answered since the last turn of a recorded call."""
    follows: Draft | None = None
    """The call whose request this one goes on from: its reply is expected next."""


class Conversation:
    """All turns of a run: calls with their answers, and turns that nobody recorded."""

    def __init__(self, models: Sequence[Draft]) -> None:
        self.models = sorted(models, key=lambda d: (d.start, d.id))
        self.calls: list[Call] = []
        self.lost: list[Lost] = []
        self.restored: dict[int, Message] = {}
        self.named: dict[Draft, list[Message]] = {}
        """Replies whose calls have their ids from the history."""
        self._keys: dict[int, Any] = {}
        self._replies: dict[Any, dict[Draft, None]] = {}
        self._asked: dict[Draft, list[Call]] = {}
        self._taken: dict[Draft, int] = {}
        self._by_id: dict[str, list[Call]] = {}
        self._threads: list[_Thread] = []
        self._ends: dict[tuple[int, int, int], list[int]] = {}
        """By length and the last two messages of a request: the threads that end so."""
        for draft in self.models:
            self._reply(draft)
        for draft in self.models:
            if draft.has("request.messages"):
                self._request(draft)
        self._drop_alternatives()

    # -- replies
    def _reply(self, draft: Draft) -> None:
        messages = draft.fields.get("response.messages") or []
        for n, message in enumerate(messages):
            key = self.key([message])
            if key is not None:
                self._replies.setdefault(key, {})[draft] = None
            for p, part in tool_calls(message):
                call = self._call(part, draft, draft, f"response.messages[{n}].parts[{p}]")
                self._asked.setdefault(draft, []).append(call)
        whole = self.key(messages) if len(messages) > 1 else None
        if whole is not None:
            self._replies.setdefault(whole, {})[draft] = None

    def _drop_alternatives(self) -> None:
        """Of several choices the agent takes one: the one quoted later, else the first. The calls of the others never ran."""
        for draft, calls in self._asked.items():
            taken = self._taken.get(draft, 0)
            if draft.alternatives:
                dropped = {c for c in calls if not c.path.startswith(f"response.messages[{taken}]")}
                self.calls = [c for c in self.calls if c not in dropped]

    def _call(self, part: dict[str, Any], asker: Draft | None, teller: Draft, path: str) -> Call:
        call = Call(str(part.get("id") or ""), str(part.get("name") or ""), part, asker, path, teller, len(self.calls))
        self.calls.append(call)
        if call.id:
            self._by_id.setdefault(call.id, []).append(call)
        return call

    def key(self, messages: Sequence[Message]) -> Any:
        """What a turn is known by: its calls, else its text; None for an empty one."""
        if len(messages) == 1:
            known = self._keys.get(id(messages[0]), self)
            if known is not self:
                return known
        key: Any = tuple(
            [(part.get("name"), canonical.jcs(part.get("arguments") or {})) for m in messages for _, part in tool_calls(m)]
        )
        if not key:
            texts = [str(p.get("content") or "") for m in messages for p in m["parts"] if p.get("type") == "text"]
            key = "".join(texts).strip() or None
        if len(messages) == 1:
            self._keys[id(messages[0])] = key
        return key

    # -- requests
    def _request(self, draft: Draft) -> None:
        messages: list[Message] = draft.fields["request.messages"]
        known = self._known(messages)
        if known is None:
            thread = _Thread(draft, messages, _Open({}, {}), None, [])
        else:
            thread = _Thread(draft, messages, known.open.copy(), known.last, list(known.told), known.draft)
        start = len(known.messages) if known else 0
        current_from = start if known else _after_last_user(messages)
        at = start
        while at < len(messages):
            turn = turn_at(messages, at)
            if messages[at].get("role") == "assistant":
                self._quoted(draft, thread, at, turn, current=at >= current_from)
            else:
                self._answered(draft, thread, at)
            at += len(turn)
        if thread.last is not None:
            draft.before.add(thread.last)
        for call in thread.told:
            call.readers.append(draft)
        if messages:
            end = (len(messages), id(messages[-1]), id(messages[-2]) if len(messages) > 1 else 0)
            self._ends.setdefault(end, []).append(len(self._threads))
        self._threads.append(thread)

    def _known(self, messages: list[Message]) -> _Thread | None:
        """The nearest earlier request that this one begins with.

        As a rule that is one of the last. Where many conversations go on side by side, it can only be one of those whose last
        two messages stand in this request at the same place.
        """
        for earlier in islice(reversed(self._threads), _NEAR):
            if _begins(messages, earlier.messages):
                return earlier
        if len(self._threads) <= _NEAR:
            return None
        ids = list(map(id, messages))
        ends = self._ends.keys() & set(zip(count(1), ids, chain((0,), ids)))
        best = -1
        for ending in sorted([self._ends[end] for end in ends], key=_newest, reverse=True):
            if ending[-1] < best:
                break
            best = max(best, next((n for n in reversed(ending) if _begins(messages, self._threads[n].messages)), -1))
        return self._threads[best] if best >= 0 else None

    def _quoted(self, draft: Draft, thread: _Thread, at: int, turn: list[Message], *, current: bool) -> None:
        owner = self._owner(draft, thread, turn)
        path = f"request.messages[{at}]"
        if owner is not None:
            thread.last, thread.told = owner, []  # whoever gave this turn has waited for the tools before it
            draft.before.add(owner)
            taken = self._taken_calls(owner, turn)
            self._name(taken, owner, turn, f"{draft.id}:{path}")
            thread.open.add(taken)
            self._restore(draft, owner, turn)
            return
        if self.key(turn) is None:
            return  # its content is switched off: whose reply it was cannot be known
        calls = [
            self._call(part, None, draft, f"request.messages[{at + n}].parts[{p}]")
            for n, m in enumerate(turn)
            for p, part in tool_calls(m)
        ]
        for call in calls:
            call.current = current
        thread.open.add(calls)
        self.lost.append(Lost(turn, thread.messages[:at], draft, path, calls, current))

    def _owner(self, draft: Draft, thread: _Thread, turn: list[Message]) -> Draft | None:
        """The recorded call whose reply this turn is: the nearest before the request that is not yet quoted in this thread."""
        key = self.key(turn)
        replies = self._replies.get(key, {}) if key is not None else {}
        if thread.follows in replies:
            owner, thread.follows = thread.follows, None
            return owner
        said = [d for d in replies if d is not draft]
        earlier = [d for d in said if d.start <= draft.start] or said  # clocks of two hosts may disagree
        fresh = [d for d in earlier if d is not thread.last and (thread.last is None or d.start >= thread.last.start)]
        return next(iter(fresh or earlier), None)

    def _taken_calls(self, owner: Draft, turn: list[Message]) -> list[Call]:
        """The calls of a quoted reply; of alternatives, those of the one that is quoted."""
        asked = self._asked.get(owner, [])
        if not owner.alternatives:
            return asked
        key, replies = self.key(turn), owner.fields["response.messages"]
        self._taken[owner] = next((n for n, m in enumerate(replies) if self.key([m]) == key), 0)
        return [c for c in asked if c.path.startswith(f"response.messages[{self._taken[owner]}]")]

    def _name(self, calls: list[Call], owner: Draft, turn: list[Message], source: str) -> None:
        """Gives the calls of a reply the ids that its history has for them, where the reply was recorded without."""
        if not calls or any(call.key() for call in calls):
            return
        ids = [str(part.get("id") or "") for m in turn for _, part in tool_calls(m)]
        if len(ids) != len(calls) or not all(ids):
            return
        by_part = {id(call.part): given for call, given in zip(calls, ids, strict=True)}
        for call, given in zip(calls, ids, strict=True):
            call.known_as = given
        replies = []  # equal messages of a run are one object, so that only this one's are put in its place
        for message in owner.fields.get("response.messages") or ():
            named = {n: by_part[id(part)] for n, part in tool_calls(message) if id(part) in by_part}
            parts = [{"type": p["type"], "id": named[n], **p} if n in named else p for n, p in enumerate(message["parts"])]
            marks = [Inferred(field=f"parts[{n}].id", source=source, rule="call_id_from_later_history") for n in named]
            replies.append(Message({**message, "parts": parts}, [*message.marks, *marks]) if named else message)
        self.named[owner] = replies

    def _restore(self, draft: Draft, owner: Draft, turn: list[Message]) -> None:
        """Puts back the text that some packages drop from a history message with tool calls."""
        if not draft.drops_text or len(turn) != 1 or _has_text(turn[0]):
            return
        reply = (owner.fields.get("response.messages") or [None])[0]
        if reply is not None and _has_text(reply):
            texts = [p for p in reply["parts"] if p.get("type") == "text"]
            marks = [
                Inferred(field=f"parts[{n}]", source=f"{owner.id}:response.messages[0]", rule="text_restored_from_reply")
                for n in range(len(texts))
            ]
            self.restored[id(turn[0])] = Message({**turn[0], "parts": [*texts, *turn[0]["parts"]]}, marks)

    def _answered(self, draft: Draft, thread: _Thread, at: int) -> None:
        for p, part in enumerate(thread.messages[at]["parts"]):
            if part.get("type") != "tool_call_response":
                continue
            call = self._asked_before(part, draft, thread) or _answering(part, thread.messages[at], thread.open)
            if call is not None:
                thread.open.remove(call)
                thread.told.append(call)
                if call.id.startswith(_ITEM) and part.get("id") and not str(part["id"]).startswith(_ITEM):
                    call.known_as = str(part["id"])
                if "response" in part:
                    call.answers.append(Answer(part["response"], draft, f"request.messages[{at}].parts[{p}]"))

    def _asked_before(self, part: dict[str, Any], draft: Draft, thread: _Thread) -> Call | None:
        """The call of an earlier reply that this request does not quote: the server keeps the history, only its id is sent."""
        key = str(part.get("id") or "")
        if not key or thread.open.named(key):
            return None
        asked = [
            c for c in self._by_id.get(key, ()) if c.asker is not None and c.asker is not draft and c.asker.start <= draft.start
        ]
        call = next((c for c in reversed(asked) if not c.answers), None)
        if call is not None and call.asker is not None:
            draft.before.add(call.asker)
        return call


_NEAR = 8
"""How many requests back the one that a request goes on from is looked for first."""


_newest = itemgetter(-1)


def _begins(messages: list[Message], earlier: list[Message]) -> bool:
    """Does the request begin with a whole earlier one? Identity of the messages makes the comparison cheap."""
    n = len(earlier)
    return 0 < n <= len(messages) and messages[n - 1] is earlier[-1] and messages[:n] == earlier


def tool_calls(message: Message) -> Iterator[tuple[int, dict[str, Any]]]:
    """(position, part) of every tool call in the message."""
    for n, part in enumerate(message["parts"]):
        if part.get("type") == "tool_call":
            yield n, part


def turn_at(messages: Sequence[Message], at: int) -> list[Message]:
    """The assistant messages from here on that belong together, or one message of another role."""
    end = at + 1
    while messages[at].get("role") == "assistant" and end < len(messages) and messages[end].get("role") == "assistant":
        end += 1
    return list(messages[at:end])


def _after_last_user(messages: Sequence[Message]) -> int:
    """Position behind the last message in which a user says something (a result under the user's role is none)."""
    for at in range(len(messages) - 1, -1, -1):
        m = messages[at]
        if m.get("role") == "user" and any(p.get("type") != "tool_call_response" for p in m["parts"]):
            return at + 1
    return len(messages)


def _has_text(message: Message) -> bool:
    return any(p.get("type") == "text" and p.get("content") for p in message["parts"])


def _answering(part: dict[str, Any], message: Message, waiting: _Open) -> Call | None:
    """The open call that a result answers: by id, else by name and order, else by order."""
    key = str(part.get("id") or "")
    name = part.get("name") or message.get("name")
    same = waiting.named(key) if key else ()
    return next((c for c in same or waiting.calls if not name or names_alike(c.name, str(name))), None)
