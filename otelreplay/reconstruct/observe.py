"""Spans and log records → one draft a span, by asking every dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from otelreplay import semconv as sc
from otelreplay.dialects import DIALECTS, Dialect, Interner, Reading, SpanView, is_broken
from otelreplay.dialects.packages import LOST
from otelreplay.events import Inferred, Missing, Note
from otelreplay.reconstruct.astray import placed
from otelreplay.reconstruct.draft import Draft
from otelreplay.reconstruct.glued import without_glued_calls
from otelreplay.reconstruct.logged import told_by_logs
from otelreplay.spans import Identified, LogRecord, Span

_STRUCTURE = frozenset({"request", "response"})


def views_of(spans: Sequence[Identified], logs: Iterable[LogRecord]) -> tuple[list[SpanView], list[LogRecord]]:
    """Each span with its log records; records of a span that never arrived get a stub; (views, records of no span)."""
    own: dict[str, list[LogRecord]] = {}
    loose: list[LogRecord] = []
    told, logs = told_by_logs(list(logs), spans)
    for record in logs:
        if record.trace_id and record.span_id:
            own.setdefault(f"{record.trace_id}/{record.span_id}", []).append(record)
        else:
            loose.append(record)
    limit = length_limit(i.span for i in spans)
    if own:
        own = placed(own, spans)
        views = [SpanView(span=i.span, logs=tuple(own.pop(i.span.key, ())), limit=limit) for i in spans]
    else:
        views = [SpanView(span=i.span, limit=limit) for i in spans]
    views += told
    for records in own.values():
        views.append(SpanView(span=_stub(records), logs=tuple(records), received=False, limit=limit))
    return views, loose


def _stub(records: Sequence[LogRecord]) -> Span:
    first, last = records[0], records[-1]
    return Span(
        trace_id=first.trace_id,
        span_id=first.span_id,
        start=first.time or first.observed_time,
        end=last.time or last.observed_time,
        resource=first.resource,
        scope=first.scope,
    )


def length_limit(spans: Iterable[Span]) -> int:
    """The length at which values were cut, 0 if there is no sign of it. No counter tells of such a cut.

    A limit cuts every longer text, so it can only be the length of the longest ones. It shows where a text of that length is
    JSON that breaks off, or where several different texts have just that length.
    """
    longest, found = 0, list[str]()  # not a set yet: to hash every long text would cost more than all of this
    for span in spans:
        known = span.lengths
        for holder in (span.attributes, *(e.attributes for e in span.events)) if span.events else (span.attributes,):
            for name, value in holder.items():
                if isinstance(value, str):
                    length = known.get(name, len(value)) if known else len(value)
                    if length > longest:
                        longest, found = length, [value]
                    elif length == longest:
                        found.append(value)
    different = set(found)
    return longest if len(different) > 2 or any(map(is_broken, different)) else 0


def draft_of(view: SpanView, intern: Interner, notes: list[Note], dialects: Sequence[Dialect] = DIALECTS) -> Draft:
    """What all dialects together say of one span; a span that none of them knows keeps its structure."""
    readings = _readings(view, intern, dialects)
    span, key = view.span, view.span.key
    draft = Draft(id=key, kind="context", name=span.name or "span", span=span, spans=[key], start=span.start, end=span.end)
    draft.recognised = bool(readings)
    used = readings
    if readings:
        main = next((r for r in readings if r.kind != "context"), readings[0])
        draft.kind, draft.name = main.kind, main.name
        used = [r for r in readings if r.kind == main.kind]
    for reading in used:
        _fill(draft, reading, notes)
        draft.exact |= reading.exact
        draft.alternatives |= reading.alternatives
        draft.maybe_empty |= reading.maybe_empty
        draft.told_afterwards |= reading.told_afterwards
        draft.drops_text |= reading.drops_text_beside_calls
        draft.drops_calls |= reading.drops_calls
        draft.conversation |= reading.conversation
        draft.as_tool = draft.as_tool or reading.as_tool
    if draft.kind == "model" and not draft.exact:
        without_glued_calls(draft)
    draft.leftovers = _leftovers(view, used, draft.name)
    _unread(draft, view)
    return draft


def _readings(view: SpanView, intern: Interner, dialects: Sequence[Dialect]) -> list[Reading]:
    """What each dialect says, first come first; one that has read nothing but what another has read adds nothing."""
    out: list[Reading] = []
    read: set[str] = set()
    for dialect in dialects:
        reading = dialect.read(view, intern)
        if reading is not None and reading.no_boundary:
            return [reading]
        if reading is not None and not (reading.taken and reading.taken <= read):
            out.append(reading)
            read |= reading.taken
            if reading.exact:
                break
    return out


def _fill(draft: Draft, reading: Reading, notes: list[Note]) -> None:
    for name, value in reading.fields.items():
        if name not in draft.fields:
            draft.fields[name] = value
            draft.gaps.pop(name, None)
        elif draft.fields[name] != value and name in ("request.messages", "response.messages", "response.result"):
            notes.append(
                Note(
                    code="conflict",
                    message=f"{name} differs between two places of one span; the first in order of precedence is kept",
                    spans=(draft.id,),
                )
            )
    for gap in reading.gaps:
        draft.explain(gap)
    for name in reading.not_sent:
        draft.gaps.pop(name, None)
    if reading.marks:
        draft.missing += [m for m in reading.marks if isinstance(m, Missing)]
        draft.inferred += [m for m in reading.marks if isinstance(m, Inferred)]
    draft.texts.update(reading.texts)


def _leftovers(view: SpanView, readings: Sequence[Reading], name: str) -> dict[str, Any]:
    """Everything of the span that no field took, with the package: what a package carries is judged by it."""
    span = view.span
    left = span.attributes.keys() - frozenset[str]().union(*(r.taken for r in readings))
    out: dict[str, Any] = {name: span.attributes[name] for name in sorted(left)}
    events = _left_events(view, readings) if span.events else []
    if events:
        out["otelreplay.events"] = events
    if span.scope.name:
        out["otelreplay.scope"] = f"{span.scope.name} {span.scope.version}".rstrip()
    if span.links:
        links = [
            {"span": f"{k.trace_id}/{k.span_id}", **({"attributes": k.attributes} if k.attributes else {})} for k in span.links
        ]
        out["otelreplay.links"] = sorted(links, key=lambda k: str(k["span"]))
    if span.status_message and span.status_code != sc.STATUS_ERROR:
        out["otelreplay.status_message"] = span.status_message
    if span.trace_state:
        out["otelreplay.trace_state"] = span.trace_state
    if view.logs and not any(r.took_logs for r in readings):
        out["otelreplay.logs"] = [{"name": r.name, "body": r.body, "attributes": r.attributes} for r in view.logs]
    if span.name and not (span.name.endswith(name) and len(span.name.split()) <= 1 + len(name.split())):
        out["otelreplay.span_name"] = span.name
    return out


def _left_events(view: SpanView, readings: Sequence[Reading]) -> list[dict[str, Any]]:
    took = {e for r in readings for e in r.took_events}
    return [
        {"name": e.name, "time": str(e.time), "attributes": e.attributes}
        for e in sorted(view.span.events, key=lambda e: (e.time, e.name))
        if e.name not in took
        or (e.name == sc.EXCEPTION_EVENT and e.attributes.keys() - {sc.EXCEPTION_TYPE, sc.EXCEPTION_MESSAGE})
    ]


def _unread(draft: Draft, view: SpanView) -> None:
    """Marks that hold whatever the dialect: a span that never ended, one that never came, one that nobody could read."""
    span = view.span
    if not view.received:
        draft.missing.append(
            Missing(
                field="span", cause="span_not_received", detail=f"only log records of span {span.span_id} arrived", remedy=LOST
            )
        )
    elif not span.end:
        draft.missing.append(
            Missing(
                field="end",
                cause="never_ended",
                detail="the span has no end time: the process was stopped, or the span never closed",
                remedy="flush the tracer provider before the process ends",
            )
        )
    if span.dropped_events_count:
        n = span.dropped_events_count
        draft.missing.append(
            Missing(
                field="attributes",
                cause="attributes_dropped",
                detail=f"the SDK dropped {n} span events",
                remedy="raise OTEL_SPAN_EVENT_COUNT_LIMIT",
            )
        )


def mark_unread(draft: Draft) -> None:
    """Says of a span in a convention that nobody reads that its content was not read."""
    for name in sorted(_STRUCTURE):
        draft.missing.append(
            Missing(
                field=name,
                cause="not_carried_by_convention",
                detail="no convention known to this version is used on this span; its attributes are kept as they are",
                remedy="see docs/dialects.md for the conventions that are read",
            )
        )
