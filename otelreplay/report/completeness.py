"""The missing-data report: what a cassette does not hold, why, and which switch would have recorded it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from otelreplay.events import Completeness, Event, Missing, Note
from otelreplay.report.text import escape, fields, pad, plural, width, wrap

_VERDICTS = {
    "full": "every boundary has its request and its response",
    "partial": "some of what crossed the boundaries is not in the telemetry",
    "structure_only": "the telemetry holds the structure of the run and none of its content",
}
_LISTED = 12


def completeness_json(
    found: Completeness, *, events: Sequence[Event], notes: Iterable[Note] = (), about: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The report as one JSON object. ``about``: what to say of the cassette itself, put first.

    ``missing`` holds the gaps that no event can hold, ``gaps`` those of events; both have field, cause, detail and remedy.
    """
    names = {event.seq: event for event in events}
    return {
        **(about or {}),
        "verdict": found.verdict,
        "events": found.events,
        "by_kind": found.by_kind,
        "fields": {"recorded": found.recorded, "inferred": found.inferred, "absent": found.absent},
        "redactions": found.redactions,
        "missing": [gap.model_dump() for gap in found.missing],
        "gaps": [{"seq": seq, "kind": names[seq].kind, "name": names[seq].name, **gap.model_dump()} for seq, gap in found.gaps],
        "notes": [{"code": note.code, "message": note.message, "spans": list(note.spans)} for note in notes],
    }


def completeness_text(
    found: Completeness,
    *,
    events: Sequence[Event],
    notes: Iterable[Note] = (),
    about: Iterable[tuple[str, str]] = (),
    columns: int = 80,
) -> str:
    """The report for people: the verdict first, then every gap with what would close it."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.by_kind.items())
    guessed = f", {found.inferred} of these inferred" if found.inferred and found.verdict == "full" else ""
    lines = [*wrap(f"{found.verdict}: {_VERDICTS[found.verdict]}{guessed}", columns), ""]
    lines += fields(
        [
            *about,
            ("events", f"{found.events} ({kinds})" if kinds else "0"),
            ("content", f"{found.recorded} recorded, {found.inferred} inferred, {found.absent} absent"),
            ("gaps", str(len(found.gaps) + len(found.missing))),
            ("redacted", plural(found.redactions, "place") if found.redactions else ""),
        ],
        columns=columns,
        indent="  ",
    )
    if found.missing:
        lines += ["", "Missing from the run"]
        for cause, gaps in _grouped((None, gap) for gap in found.missing):
            lines += ["", f"  {cause}", *_group([("", gap) for _, gap in gaps], columns)]
    if found.gaps:
        names = {event.seq: f"{event.seq}  {event.kind}  {escape(event.name)}" for event in events}
        lines += ["", "Missing from events"]
        for cause, gaps in _grouped(found.gaps):
            lines += ["", f"  {cause}", *_group([(names[seq or 0], gap) for seq, gap in gaps], columns)]
    shown = [line for note in notes for line in wrap(f"{note.code}: {note.message}", columns, first="  ", rest="    ")]
    lines += ["", "Notes", *shown] if shown else []
    return "\n".join(lines) + "\n"


_Gaps = list[tuple[int | None, Missing]]


def _grouped(gaps: Iterable[tuple[int | None, Missing]]) -> Iterator[tuple[str, _Gaps]]:
    """Gaps that have cause and remedy in common stand together, in the order of their first."""
    groups: dict[tuple[str, str], _Gaps] = {}
    for seq, gap in gaps:
        groups.setdefault((gap.cause, gap.remedy), []).append((seq, gap))
    for (cause, _), members in groups.items():
        yield cause, members


def _group(gaps: Sequence[tuple[str, Missing]], columns: int) -> Iterator[str]:
    """The members of one group: a line each, with its detail unless all have the same one, and the remedy once."""
    same = len({gap.detail for _, gap in gaps}) == 1
    if same and gaps[0][1].detail:
        yield from wrap(gaps[0][1].detail, columns, first="    ")
    label = min(max(width(who) for who, _ in gaps), columns // 2)
    for who, gap in gaps[:_LISTED]:
        yield f"    {pad(who, label)}  {escape(gap.field)}" if label else f"    {escape(gap.field)}"
        if not same and gap.detail:
            yield from wrap(gap.detail, columns, first="      ")
    if len(gaps) > _LISTED:
        yield f"    and {len(gaps) - _LISTED} more (--json lists them all)"
    if gaps[0][1].remedy:
        yield from wrap(f"Remedy: {gaps[0][1].remedy}", columns, first="    ", rest="      ")
