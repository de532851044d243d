"""What ``convert`` says when it is done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otelreplay.inputs import NOTES
from otelreplay.pipeline.result import ConvertedRun, ConvertResult
from otelreplay.report.cleaning import Clean
from otelreplay.report.text import escape, plural, wrap
from otelreplay.spans import Rejected

_LISTED = 20


def cleaned_conversion(result: ConvertResult, clean: Clean) -> ConvertResult:
    """The same with what names places of the input cleaned."""
    rejected = tuple(Rejected(clean(item.where), clean(item.reason), item.trace_id, item.span_id) for item in result.rejected)
    return replace(result, rejected=rejected)


def conversion_json(result: ConvertResult) -> dict[str, Any]:
    """The result as one JSON object."""
    return {
        "runs": [{name: getattr(run, name) for name in ConvertedRun.__dataclass_fields__} for run in result.runs],
        "spans": result.spans,
        "logs": result.logs,
        "duplicates": result.duplicates,
        "conflicts": result.conflicts,
        "unplaced_logs": result.unplaced_logs,
        "rejected": [_refusal(item) for item in result.rejected],
        "rejected_total": result.rejected_total,
        "input_notes": dict(result.input_notes),
    }


def _refusal(item: Rejected) -> dict[str, Any]:
    ids = {"trace_id": item.trace_id, "span_id": item.span_id}
    return {"where": item.where, "reason": item.reason, **{name: found for name, found in ids.items() if found}}


def conversion_text(result: ConvertResult, *, columns: int = 80, superseded: str = "") -> str:
    """One line a run, then what was left out. ``superseded``: where older revisions lie, as a prefix of their names."""
    lines = [line for run in result.runs[:_LISTED] for line in _run(run, columns, superseded)]
    if len(result.runs) > _LISTED:
        lines.append(f"and {len(result.runs) - _LISTED} more (--json lists them all)")
    taken = f"{plural(len(result.runs), 'run')} from {plural(result.spans, 'span')} and {plural(result.logs, 'log record')}"
    asides = [
        (result.duplicates, f"{plural(result.duplicates, 'span')} came more than once, and counted once"),
        (
            result.conflicts,
            f"{plural(result.conflicts, 'span')} came again with other content: the events are flagged `conflict`",
        ),
        (result.unplaced_logs, f"{plural(result.unplaced_logs, 'log record')} without a trace id could not be placed"),
        (result.rejected_total, f"{plural(result.rejected_total, 'item')} could not be read:"),
    ]
    lines += wrap(taken, columns)
    asides[-1:-1] = [(count, f"{count}: {NOTES.get(code, code)}") for code, count in result.input_notes]
    lines += [line for count, text in asides if count for line in wrap(text, columns)]
    lines += [line for item in result.rejected[:_LISTED] for line in wrap(f"{item.where}: {item.reason}", columns, first="  ")]
    if result.rejected_total > _LISTED:
        lines.append(f"  and {result.rejected_total - _LISTED} more")
    return "\n".join(lines) + "\n"


def _run(run: ConvertedRun, columns: int, superseded: str) -> list[str]:
    gaps = f", {plural(run.missing, 'gap')}" if run.missing else ""
    lines = [
        f"{escape(run.cassette)}",
        f"  {run.verdict}, {plural(run.events, 'event')} from {plural(run.spans, 'span')}{gaps}",
    ]
    if run.outcome == "unchanged":
        lines += wrap("is there already, equal but for the time of making: not written again", columns, first="  ")
    if run.outcome == "revised" and run.superseded:
        lines += wrap(f"revision {run.revision}; the one before is now {superseded}{run.superseded}", columns, first="  ")
    return lines
