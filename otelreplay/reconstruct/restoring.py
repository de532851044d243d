"""Turns of a history that a package leaves out, or of which it keeps the role alone.

An assistant turn that only calls tools has no text, and some packages record text: what stands in the history is a message
without parts, or nothing at all before the answers. The reply of the call that this request goes on from is that turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import is_

from otelreplay.dialects.spelled import NO_ROLE
from otelreplay.events import Inferred, Message, Missing
from otelreplay.reconstruct.draft import Draft
from otelreplay.reconstruct.turns import tool_calls


def restore(models: Iterable[Draft]) -> None:
    """Puts such turns back where an earlier call, whose request the later one begins with, replied with calls."""
    models = list(models)
    _roles(models)
    earlier: list[tuple[Draft, list[Message]]] = []
    turns: dict[Draft, list[Message]] = {}
    for draft in sorted(models, key=lambda d: (d.start, d.id)):
        raw = draft.fields.get("request.messages")
        if not raw or draft.exact:
            continue
        if any(_lacks(draft, raw, at) for at in range(1, len(raw))):
            _complete(draft, raw, earlier, turns)
        if any(True for m in draft.fields.get("response.messages") or () for _ in tool_calls(m)):
            earlier.append((draft, raw))


def _roles(models: Sequence[Draft]) -> None:
    """The role of a first message whose role an attribute limit took: the one it has in another request of the run."""
    for draft in models:
        held = draft.fields.get("request.messages")
        if not held or held[0].get("role") != NO_ROLE:
            continue
        first, rest = held[0], held[1:]
        for other in models:
            if other.fields.get("request.system") == first["parts"] and not draft.has("request.system"):
                draft.fields["request.messages"] = rest
                source = f"{other.id}:request.system"
                draft.infer("request.system", first["parts"], source=source, rule="role_from_other_request")
                break
        else:
            draft.fields["request.messages"] = [Message({**first, "role": "user"}), *rest]
            detail = "an attribute limit took the role of this message"
            draft.missing.append(Missing(field="request.messages[0].role", cause="attributes_dropped", detail=detail))


def _lacks(draft: Draft, messages: Sequence[Message], at: int) -> bool:
    """Is the turn at this place without its parts, or missing in front of an answer?"""
    message, before = messages[at], messages[at - 1]
    if message.get("role") == "assistant":
        return not message["parts"]
    return draft.drops_calls and _answers(message) and not _answers(before) and before.get("role") != "assistant"


def _answers(message: Message) -> bool:
    return any(p.get("type") == "tool_call_response" for p in message["parts"])


def _complete(
    draft: Draft, raw: list[Message], earlier: Sequence[tuple[Draft, list[Message]]], turns: dict[Draft, list[Message]]
) -> None:
    before = [(other, held) for other, held in earlier if len(held) < len(raw) and all(map(is_, held, raw))]
    if not before:
        return
    longest = max(len(held) for _, held in before)
    other = [o for o, held in before if len(held) == longest][-1]
    rest = raw[longest:]
    if rest[0].get("role") == "assistant" and not rest[0]["parts"]:
        rest = rest[1:]
    elif rest[0].get("role") == "assistant" or not _answers(rest[0]):
        return
    if other not in turns:
        reply = other.fields["response.messages"]
        turns[other] = [Message({k: v for k, v in m.items() if k != "finish_reason"}) for m in reply]
    start = list(other.fields["request.messages"])
    draft.fields["request.messages"] = [*start, *turns[other], *rest]
    for n in range(len(turns[other])):
        mark = Inferred(
            field=f"request.messages[{len(start) + n}]",
            source=f"{other.id}:response.messages[{n}]",
            rule="turn_restored_from_reply",
        )
        draft.inferred.append(mark)
    draft.inferred += [m for m in other.inferred if m.rule == "turn_restored_from_reply"]
