"""Model calls whose content is told by other spans, and model calls of which nothing else arrived.

An assistant turn that a later request quotes and that no recorded reply says belongs to a call without content, if exactly such
calls stand between: then its reply is that turn, and its request the history before it. Otherwise the call itself is missing,
and the run says so. The reply of an agent's last call, when that has none, is what the agent put out.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from otelreplay.dialects.packages import LOST
from otelreplay.events import Message, Missing
from otelreplay.reconstruct.draft import Draft
from otelreplay.reconstruct.tree import by_agent
from otelreplay.reconstruct.turns import Conversation, Lost

_WORD: Final = re.compile(r"""[^\s"'`,;(){}\[\]<>=]+""")
_TELLING: Final = 5
"""Characters of an id that stands in a text by no chance."""


def complete(conversation: Conversation, agents: Sequence[Draft]) -> list[Missing]:
    """Fills what can be filled; returns a run-level gap for each model call that has no event."""
    empty = [d for d in conversation.models if not d.has("response.messages") and not d.has("error")]
    starts = [d.start for d in empty]  # in order, as the models are
    gaps = []
    lost = [turn for turn in conversation.lost if turn.current]
    quoted = _quoting(conversation.models) if lost else None
    lost = [turn for turn in lost if quoted is None or not quoted(turn)]
    by_teller: dict[Draft, list[Lost]] = {}
    for turn in lost:
        by_teller.setdefault(turn.teller, []).append(turn)
    for teller, turns in by_teller.items():
        after = max((d.start for d in teller.before if d.kind == "model"), default=0)
        between = range(bisect_left(starts, after), bisect_right(starts, teller.start))
        open_calls = (empty[n] for n in between if empty[n] is not teller and not empty[n].has("response.messages"))
        fitting = list(islice(open_calls, len(turns) + 1))  # one more than that is too many, however many there are
        if len(fitting) == len(turns):
            for draft, turn in zip(fitting, turns, strict=True):
                _told(draft, turn)
        else:
            gaps += [_lost_call(turn) for turn in turns]
    inside = by_agent(conversation.models) if agents else {}
    for agent in agents:
        _from_output(agent, inside.get(agent, []), conversation)
    nothing = [Message({"role": "assistant", "parts": []})]
    for draft in conversation.models:
        if draft.maybe_empty and not draft.has("response.messages"):  # and no other span tells of a reply
            source = f"{draft.id}:response.finish_reasons"
            draft.infer("response.messages", nothing, source=source, rule="empty_reply_from_finish_reason")
    return gaps


def _quoting(models: Sequence[Draft]) -> Callable[[Lost], bool]:
    """Whether the text of a turn without calls is a recorded reply, whose calls a framework wrote as text (smolagents).

    It holds the ids of all calls of that reply as words. Ids that are as short as a number in a sentence tell nothing.
    """
    by_id: dict[str, set[frozenset[str]]] = {}
    for message in (m for d in models for m in d.fields.get("response.messages") or ()):
        ids = frozenset(p["id"] for p in message["parts"] if p.get("type") == "tool_call" and isinstance(p.get("id"), str))
        if ids and min(map(len, ids)) >= _TELLING:
            by_id.setdefault(min(ids), set()).add(ids)

    def quoted(turn: Lost) -> bool:
        if turn.calls or not by_id:
            return False
        words: set[str] = set()
        for part in (p for m in turn.messages for p in m["parts"] if p.get("type") == "text"):
            words.update(_WORD.findall(str(part.get("content"))))
        return any(ids <= words for word in words & by_id.keys() for ids in by_id[word])

    return quoted


def _told(draft: Draft, turn: Lost) -> None:
    source = f"{turn.teller.id}:{turn.path}"
    draft.infer("response.messages", list(turn.messages), source=source, rule="reply_from_later_history")
    if not draft.has("request.messages"):
        draft.infer(
            "request.messages", turn.before, source=f"{turn.teller.id}:request.messages", rule="request_from_later_history"
        )
        if turn.teller.has("request.system") and not draft.has("request.system"):
            draft.infer(
                "request.system",
                turn.teller.fields["request.system"],
                source=f"{turn.teller.id}:request.system",
                rule="request_from_later_history",
            )
    turn.teller.before.add(draft)
    for call in turn.calls:
        call.asker = draft


def _lost_call(turn: Lost) -> Missing:
    return Missing(
        field="model",
        cause="span_not_received",
        detail=f"{turn.teller.id} quotes a reply ({turn.path}) that no model event of this run gave",
        remedy=LOST,
    )


def _from_output(agent: Draft, inside: Sequence[Draft], conversation: Conversation) -> None:
    """The last call of an agent, when it holds no reply, replied what the agent put out."""
    output = agent.fields.get("response.output")
    if not isinstance(output, list) or not output or not all(isinstance(m, Message) for m in output):
        return  # what a function returned, not what was said
    if agent.exact or not inside or inside[-1].has("response.messages") or inside[-1].has("error"):
        return
    key = conversation.key(output[-1:])
    if key is None or any(conversation.key(d.fields.get("response.messages") or []) == key for d in inside):
        return
    inside[-1].infer("response.messages", output[-1:], source=f"{agent.id}:response.output", rule="reply_from_agent_output")
