"""What is not there, and why: the last word on each event's gaps, and gaps that no event can hold.

A dialect proposes a gap for each content field that its span does not hold. Not each of them is one: a request without a system
prompt is no gap when its messages are there, a failed call has no reply, a span whose package records tools and has none
declared
none. What is there, recorded or inferred, is never called missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence

from otelreplay import semconv as sc
from otelreplay.dialects import CONTENT_FIELDS
from otelreplay.dialects.packages import LOST, UNKNOWN, package_of
from otelreplay.events import Message, Missing
from otelreplay.reconstruct.draft import NOT_CAPTURED, Draft, above, names_alike
from otelreplay.reconstruct.tree import by_agent
from otelreplay.reconstruct.turns import tool_calls

_STEP_TYPE, _STEP = "mastra.span.type", "model_step"
"""A span of Mastra for each exchange of a model call that goes on by itself; what was said in it is not told as messages."""
_OWN_LOOP = "switch off automatic function calling and call the tools from your own loop"
_INSTRUMENT = "instrument the model SDK and the tools as well as the agent framework"
_UNREAD = "see docs/dialects.md for the conventions that are read, or record with one of them"
_AI = re.compile(
    r"(?i)(^|[^a-z])(gen_?ai|llms?|prompts?|completions?|openai|anthropic|gemini|bedrock|chat|tool_?calls?|tokens)([^a-z]|$)"
)
_CALLING = ("tool_calls", "tool_call", "tool_use", "function_call", "tool-calls")


def settle(drafts: Sequence[Draft]) -> None:
    """Turns each draft's proposed gaps into its marks."""
    uses_tools = _scopes_with_tools(drafts)
    for draft in drafts:
        if draft.kind == "model" and not draft.exact:
            draft.missing += _calls_untold(draft)
        for field in CONTENT_FIELDS.get(draft.kind, ()):
            if field in draft.fields:
                continue
            gap = draft.gaps.get(field)
            if gap is not None and _is_gap(draft, gap, uses_tools):
                draft.missing.append(gap)
            elif gap is None and not draft.exact and _expected(draft, field):
                draft.missing.append(
                    Missing(
                        field=field, cause="content_not_captured", remedy=package_of(draft.span).content if draft.span else ""
                    )
                )


def _calls_untold(draft: Draft) -> Iterable[Missing]:
    """A reply that ended by calling tools, and holds no call: its text alone was recorded."""
    if draft.fields.get("response.messages") and _calls_unseen(draft):
        detail = "the reply ended by calling tools, and no call is recorded in it"
        remedy = package_of(draft.span).content if draft.span else ""
        yield Missing(field="response.messages[0].parts", cause="not_carried_by_convention", detail=detail, remedy=remedy)


def _calls_unseen(draft: Draft) -> bool:
    """Did a reply end by calling tools, and is no call with a name readable in it?"""
    held = draft.fields.get("response.messages") or ()
    return _finished_by_calling(draft) and not any(True for m in held for _ in tool_calls(m))


def unchanged(drafts: Sequence[Draft]) -> None:
    """Marks requests that say no more than one whose reply asked for tools that ran meanwhile: their results are not there."""
    ran: dict[Draft, list[Draft]] = {}
    for tool in drafts:
        if tool.kind == "tool" and tool.span is not None:
            for asker in tool.before:
                ran.setdefault(asker, []).append(tool)
    if not ran:
        return
    asked = sorted((d for d in ran if d.kind == "model"), key=lambda d: (d.start, d.id))
    by_request: dict[tuple[int, ...], list[Draft]] = {}
    for draft in asked:
        by_request.setdefault(tuple(map(id, draft.fields.get("request.messages") or ())), []).append(draft)
    for draft in drafts:
        held = draft.fields.get("request.messages") if draft.kind == "model" and not draft.exact else None
        for earlier in by_request.get(tuple(map(id, held)), ()) if held else ():
            params = draft.fields.get("request.params") or {}
            if earlier is not draft and "previous_response.id" not in params and _ran_before(ran[earlier], draft):
                detail = f"it is no longer than the request of {earlier.id}, whose calls were answered meanwhile"
                remedy = package_of(draft.span).content if draft.span else ""
                draft.missing.append(
                    Missing(field="request.messages", cause="not_carried_by_convention", detail=detail, remedy=remedy)
                )
                break


def _ran_before(tools: Sequence[Draft], later: Draft) -> bool:
    return all(tool.start <= later.start and tool.parent is later.parent for tool in tools)


def _scopes_with_tools(drafts: Sequence[Draft]) -> set[str]:
    """Of the packages whose requests hold no tool definitions, those that report tool calls."""
    models = [d for d in drafts if d.kind == "model"]
    seen: dict[str, dict[int, Message]] = {d.scope: {} for d in models if "request.tools" in d.gaps}
    return {d.scope for d in models if d.scope in seen and _calls_tools(d, seen[d.scope])} if seen else set()


def _calls_tools(draft: Draft, seen: dict[int, Message]) -> bool:
    """Are there calls in messages that were not seen before? Each history repeats those before it."""
    fields = draft.fields
    held = [*(fields.get("response.messages") or ()), *(fields.get("request.messages") or ())]
    by_id = dict(zip(map(id, held), held, strict=True))
    new = by_id.keys() - seen.keys()
    seen.update(by_id)
    return any(True for n in new for _ in tool_calls(by_id[n])) or _finished_by_calling(draft)


def _finished_by_calling(draft: Draft) -> bool:
    return any(str(r) in _CALLING for r in draft.fields.get("response.finish_reasons") or ())


def _is_gap(draft: Draft, gap: Missing, uses_tools: set[str]) -> bool:
    if gap.cause not in NOT_CAPTURED:
        return True
    if gap.field in ("response.messages", "response.result", "response.output") and draft.has("error"):
        return False
    captured = draft.has("request.messages")
    if gap.field == "request.system":
        return not captured or gap.cause == "not_carried_by_convention"
    if gap.field == "request.tools":
        return draft.scope in uses_tools if gap.cause == "not_carried_by_convention" else not captured
    return True


def _expected(draft: Draft, field: str) -> bool:
    """Fields of a recognised boundary that a reading must have or explain."""
    if field in ("response.messages", "request.messages"):
        return not (field.startswith("response") and draft.has("error"))
    if field in ("request.arguments", "response.result") and draft.kind == "tool":
        return not (field.startswith("response") and (draft.has("error") or draft.has("response.as_seen")))
    return False


def of_run(drafts: Sequence[Draft]) -> Iterable[Missing]:
    """Boundaries that must have been, and of which no event is left."""
    models = [d for d in drafts if d.kind == "model"]
    agents = [d for d in drafts if d.kind == "agent" and d.span is not None]
    tools = [d for d in drafts if d.kind in ("tool", "retrieval")]
    own = all(d.exact for d in drafts if d.span is not None)  # all of it decorated: what is not there was not called
    if agents and not models and not own:
        inner = agents[-1]
        assert inner.span is not None
        package = package_of(inner.span)
        yield Missing(
            field="model",
            cause="not_carried_by_convention" if package.content.startswith("add ") else "span_not_received",
            detail="an agent ran, and no span of a model call arrived",
            remedy=package.content if package.content.startswith("add ") else _INSTRUMENT,
        )
        if not tools:
            yield _untold("an agent ran, and no span of a model call or a tool arrived; whether tools ran cannot be seen")
    talks = next((d for d in drafts if d.conversation), None)
    if talks is not None and not models and not agents and not tools:
        detail = f"{talks.id} carried a conversation, and no span of a model call arrived"
        yield Missing(field="model", cause="not_carried_by_convention", detail=detail, remedy=_INSTRUMENT)
        yield _untold(f"{talks.id} carried a conversation; whether tools ran in it cannot be seen")
    unread = next((d for d in drafts if _looks_like_ai(d)), None) if not any(d.recognised for d in drafts) else None
    if unread is not None:
        detail = f"{unread.id} is in a convention that is not read; whether a model was called cannot be seen"
        yield Missing(field="model", cause="not_carried_by_convention", detail=detail, remedy=_UNREAD)
        yield Missing(
            field="tool",
            cause="not_carried_by_convention",
            detail=detail.replace("a model was called", "tools ran"),
            remedy=_UNREAD,
        )
    inside_of, steps = _inside(tools), Counter(d.parent for d in drafts if d.leftovers.get(_STEP_TYPE) == _STEP)
    for model in models:
        several = f"{model.id} covers several exchanges"
        if steps[model] > 1 or _covers_several(model, inside_of.get(model, ())):
            ran = "it has a span for each step" if steps[model] > 1 else "tools ran inside it that its reply did not ask for"
            detail = f"{several}: {ran}"
            yield Missing(field="model", cause="not_carried_by_convention", detail=detail, remedy=_OWN_LOOP)
            later = "the requests of its later exchanges, with the results of the tools, are not recorded"
            model.missing.append(
                Missing(field="request.messages", cause="not_carried_by_convention", detail=later, remedy=_OWN_LOOP)
            )
    calls_of = by_agent(models) if agents and not tools else {}
    for agent in agents:
        inside = calls_of.get(agent, ())
        held = any(d.has("request.messages") or d.has("response.messages") for d in inside)
        if len(inside) > 1 and not held and all(map(_mute, inside)):
            detail = f"{agent.id} called a model several times without content; tools that ran in between would not show"
            package = package_of(inside[0].span) if inside[0].span else UNKNOWN
            yield Missing(field="tool", cause="not_carried_by_convention", detail=detail, remedy=package.content)
    silent = [d for d in models if _calls_unseen(d) and not (d.exact and d.has("response.messages"))]
    if silent and not tools:
        yield Missing(
            field="tool",
            cause="span_not_received",
            detail=f"{silent[0].id} ended by calling tools; no span of a tool arrived",
            remedy="instrument the tools, or capture message content so that calls and results can be read from it",
        )


def _looks_like_ai(draft: Draft) -> bool:
    """Do the names of a span's attributes look as if it were about a model, in a convention that is not known?"""
    if sc.OPERATION in draft.leftovers:
        return False
    return any(_AI.search(name) for name in draft.leftovers if not name.startswith("otelreplay."))


def _untold(detail: str) -> Missing:
    return Missing(field="tool", cause="not_carried_by_convention", detail=detail, remedy=_INSTRUMENT)


def _inside(tools: Sequence[Draft]) -> dict[Draft, list[Draft]]:
    """The tool spans by the nearest boundary around them."""
    found: dict[Draft, list[Draft]] = {}
    for tool in tools:
        caller = next((up for up in above(tool) if up.kind != "context"), None) if tool.span is not None else None
        if caller is not None:
            found.setdefault(caller, []).append(tool)
    return found


def _covers_several(model: Draft, inside: Sequence[Draft]) -> bool:
    """Did tools run inside the call that its recorded reply does not ask for? An SDK that calls functions by itself does so."""
    held = model.fields.get("response.messages")
    if held is None or not inside:
        return False
    asked = [str(p.get("name")) for m in held for _, p in tool_calls(m)]
    return not any(names_alike(name, tool.name) for name in asked for tool in inside)


def _mute(model: Draft) -> bool:
    """Is this a provider whose finish reasons do not tell whether tools were called?"""
    return str(model.fields.get("request.provider")).startswith(("gemini", "gcp", "vertex"))


def orphans(drafts: Sequence[Draft], known: Container[str]) -> None:
    """Marks the events whose parent span never arrived."""
    for draft in drafts:
        span = draft.span if draft.parent is None else None
        if span is not None and span.parent_span_id and f"{span.trace_id}/{span.parent_span_id}" not in known:
            draft.missing.append(
                Missing(
                    field="parent",
                    cause="span_not_received",
                    detail=f"its parent span {span.parent_span_id} did not arrive",
                    remedy=LOST,
                )
            )
