"""The timeline of a run: its events as a tree, in order, with what took how long and what to be careful about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from otelreplay.events import Event, expand
from otelreplay.report.text import duration, escape, pad, plural, width

_LEGEND = {
    "missing": "missing: not in the telemetry; `otelreplay report` says why",
    "inferred": "inferred: read from another span; `show --event SEQ` says which",
    "redacted": "redacted: replaced or removed by the policy",
}


def timeline_text(events: Sequence[Event], *, columns: int = 80) -> str:
    """One line an event: seq, tree, kind, name, start after the first, duration, tokens in and out, marks."""
    origin = began(events)
    rows = [
        (str(event.seq), f"{lead}{event.kind}  {escape(event.name)}", *_times(event, origin), _tokens(event), _marks(event))
        for event, lead in zip(events, _leads(events), strict=True)
    ]
    header = ("seq", "event", "start", "took", "tokens", "marks")
    sizes = [max(width(row[n]) for row in [header, *rows]) for n in range(len(header))]
    spare = columns - sum(sizes) - 2 * (len(sizes) - 1)
    if spare < 0:
        sizes[1] = max(sizes[1] + spare, 24)
    lines = [_line(header, sizes), *(_line(row, sizes) for row in rows)]
    notes = [text for mark, text in _LEGEND.items() if any(mark in row[-1] for row in rows)]
    return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"


def timeline_json(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The same, as values: times in nanoseconds as decimal text, counts of marks."""
    return [
        {
            "seq": event.seq,
            "id": event.id,
            "parent": event.parent,
            "after": event.after,
            "kind": event.kind,
            "name": event.name,
            "start": event.start,
            "end": event.end,
            "usage": (event.response or {}).get("usage"),
            "error": event.error is not None,
            "missing": len(event.missing),
            "inferred": len(event.inferred),
            "redactions": len(event.redactions),
        }
        for event in map(expand, events)
    ]


def began(events: Iterable[Event]) -> int:
    """The earliest start, in nanoseconds; 0 if no event has one."""
    return min((int(event.start) for event in events if event.start), default=0)


def _leads(events: Sequence[Event]) -> list[str]:
    """What stands before each event to draw the tree: its depth, and whether a sibling follows."""
    by_seq = {event.seq: event for event in events}
    last = {event.parent: event.seq for event in events}
    leads: dict[int, str] = {}
    below: dict[int | None, str] = {None: ""}
    for event in events:
        parent = event.parent if event.parent in by_seq and event.parent in below else None
        more = last.get(event.parent) != event.seq
        inside = below[parent]
        leads[event.seq] = "" if parent is None else inside + ("├ " if more else "└ ")
        below[event.seq] = "" if parent is None else inside + ("│ " if more else "  ")
    return [leads[event.seq] for event in events]


def _times(event: Event, origin: int) -> tuple[str, str]:
    start, end = int(event.start or 0), int(event.end or 0)
    return (duration(start - origin) if start else "-", duration(end - start) if start and end else "-")


def _tokens(event: Event) -> str:
    usage = (event.response or {}).get("usage")
    if not isinstance(usage, dict):
        return ""
    counts = [usage.get("input_tokens"), usage.get("output_tokens")]
    return " > ".join(map(_count, counts)) if any(n is not None for n in counts) else ""


def _count(n: object) -> str:
    """A number of tokens; what is none, or none that anybody counted to, is not written out."""
    return str(n) if isinstance(n, (int, float)) and abs(n) < 10**15 else "?"


def _marks(event: Event) -> str:
    event = expand(event)
    found = [("error", event.error), ("missing", event.missing), ("inferred", event.inferred), ("redacted", event.redactions)]
    return ", ".join(name if name == "error" else f"{len(marks)} {name}" for name, marks in found if marks)  # type: ignore[arg-type]


def _line(row: Sequence[str], sizes: Sequence[int]) -> str:
    right = {0, 2, 3, 4}
    return "  ".join(pad(cell, size, right=n in right) for n, (cell, size) in enumerate(zip(row, sizes, strict=True))).rstrip()


def headline(events: Sequence[Event]) -> str:
    """``2 model calls, 1 tool call, 1 agent, 3.20 s``."""
    counts: dict[str, int] = {}
    for event in events:
        counts[event.kind] = counts.get(event.kind, 0) + 1
    calls = {"model", "tool", "embeddings", "retrieval"}
    said = [
        plural(n, f"{kind} call" if kind in calls else f"{kind} event")
        for kind, n in sorted(counts.items(), key=lambda kv: kv[0] not in calls)
    ]
    ends = [int(event.end) for event in events if event.end]
    return ", ".join([*said, *([duration(max(ends) - began(events))] if ends and began(events) else [])])
