"""From the spans and log records of a run to its events, and to what is known to be missing.

    spans, logs ─ identity ─▶ each once ─ dialects ─▶ drafts ─ tree ─▶ one draft a boundary
        ─ turns, replies, tools ─▶ what several spans tell together ─ gaps ─▶ what is absent ─ order ─▶ events

Nothing here depends on the order of arrival (I7): input is sorted by content before anything looks at it. Nothing is invented
(I4):
what did not stand in a field's own place carries an ``inferred`` mark with span, path and rule.
"""

from __future__ import annotations

from collections.abc import Iterable

from otelreplay.dialects import Interner
from otelreplay.events import Missing, Note, Recording
from otelreplay.reconstruct import decorated, definitions, gaps, order, replies, restoring, results, tools
from otelreplay.reconstruct.build import events_of
from otelreplay.reconstruct.draft import Draft
from otelreplay.reconstruct.fragments import Fragment
from otelreplay.reconstruct.joining import TraceExtent, join_traces
from otelreplay.reconstruct.observe import draft_of, mark_unread, views_of
from otelreplay.reconstruct.quoted import name_calls
from otelreplay.reconstruct.runs import run_id
from otelreplay.reconstruct.tree import link, merge
from otelreplay.reconstruct.turns import Conversation
from otelreplay.spans import Identified, LogRecord, Span, unify_logs, unify_spans

__all__ = ["Fragment", "TraceExtent", "join_traces", "reconstruct", "run_id"]


def reconstruct(spans: Iterable[Span], logs: Iterable[LogRecord] = (), *, tenant: str = "") -> Recording:
    """The recording of one run, from all its spans and log records in any order.

    Duplicates are harmless. ``tenant`` goes into the run id. Raises nothing on odd content: what cannot be read is
    kept as it is and said to be so.
    """
    identified, records = unify_spans(spans), unify_logs(logs)
    notes: list[Note] = []
    drafts, loose = _drafts(identified, records, notes)
    definitions.resolve(drafts, records)
    missing = _relate(drafts, notes)
    ordered = order.sequence(drafts, notes)
    every = [i.span for i in identified]
    senders: list[Span | LogRecord] = [*every, *records]
    if loose:
        notes.append(Note(code="logs_not_placed", message=f"{len(loose)} log records name no span and were not read"))
    return Recording(
        run_id=run_id(every or _stubs(records), tenant=tenant),
        trace_ids=tuple(sorted({s.trace_id for s in every} | {r.trace_id for r in records if r.trace_id})),
        events=events_of(ordered),
        missing=tuple(missing),
        notes=tuple(sorted(notes, key=lambda n: (n.code, n.spans, n.message))),
        resources=_resources(senders),
        scopes=tuple(sorted({f"{x.scope.name} {x.scope.version}".strip() for x in senders} - {""})),
        span_count=len(every),
        log_count=len(records),
    )


def _drafts(identified: list[Identified], records: list[LogRecord], notes: list[Note]) -> tuple[list[Draft], list[LogRecord]]:
    interner = Interner()
    views, loose = views_of(identified, records)
    drafts = [draft_of(view, interner, notes) for view in views]
    losers = {i.span.key: i.losers for i in identified if i.losers}
    for draft in drafts:
        if draft.id in losers:
            notes.append(Note(code="conflict", message="copies of this span differ; all are kept", spans=(draft.id,)))
            draft.leftovers["otelreplay.conflicts"] = [
                {"name": s.name, "end": str(s.end), "attributes": s.attributes} for s in losers[draft.id]
            ]
    known = link(drafts)
    gaps.orphans(drafts, set(known))
    merged = merge(drafts)
    notes += decorated.outside(merged)
    if not any(d.recognised for d in merged):
        for draft in merged:
            if draft.parent is None:
                mark_unread(draft)
    return merged, loose


def _relate(drafts: list[Draft], notes: list[Note]) -> list[Missing]:
    """What several spans tell together; adds the events that only others tell of, returns the run-level gaps."""
    models = [d for d in drafts if d.kind == "model"]
    tools.promote(drafts, models)
    restoring.restore(models)
    conversation = Conversation(models)
    missing = replies.complete(conversation, [d for d in drafts if d.kind == "agent"])
    tools.pair([d for d in drafts if d.kind in ("tool", "retrieval")], conversation, notes)
    drafts += tools.complete(conversation)
    name_calls(drafts)
    for draft in drafts:
        results.settle_alone(draft)
    if conversation.restored:
        for draft in conversation.models:
            held = draft.fields.get("request.messages")
            if held:
                draft.fields["request.messages"] = [conversation.restored.get(id(m), m) for m in held]
    for draft, replies_named in conversation.named.items():
        draft.fields["response.messages"] = replies_named
    notes += tools.unread(conversation)
    gaps.unchanged(drafts)
    gaps.settle(drafts)
    return [*missing, *gaps.of_run(drafts)]


def _stubs(records: list[LogRecord]) -> list[Span]:
    return [Span(trace_id=r.trace_id, span_id=r.span_id, start=r.time or r.observed_time) for r in records]


def _resources(senders: list[Span | LogRecord]) -> tuple[dict[str, object], ...]:
    """Each sender's attributes once, in order of content."""
    interner = Interner()
    found = {id(v): v for x in senders if (v := interner.value(x.resource.attributes))}
    return tuple(sorted(found.values(), key=lambda r: repr(sorted(r.items(), key=lambda kv: kv[0]))))
