"""What ``grade`` prints: a table over files, and the boundaries of one file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otelreplay.report.grading import STATES, BoundaryGrade, FieldGrade, FileGrade, Grades, RunGrade
from otelreplay.report.text import escape, pad, plural, width, wrap

_LISTED = 200
_SIDES = ("request", "response")
_LEGEND = (
    "grade: the share of content fields that are recorded or inferred; an assumed one counts half, one that is held in part "
    "half of its own. -: not owed, and nothing is said of it"
)


def grades_json(found: Grades) -> dict[str, Any]:
    """Everything as one JSON object; ``grade`` is null where there is no content field."""
    return {"grade": _rounded(found.grade), "files": [_file_json(file) for file in found.files]}


def _file_json(file: FileGrade) -> dict[str, Any]:
    if file.problem:
        return {"file": file.name, "problem": file.problem}
    return {"file": file.name, "refused": file.refused, "runs": [_run_json(run) for run in file.runs]}


def _run_json(run: RunGrade) -> dict[str, Any]:
    fields = run.fields
    return {
        "run_id": run.run_id,
        "grade": _rounded(run.grade),
        "verdict": run.verdict,
        "fields": {state: fields[state] for state in STATES},
        "missing": [{"field": name, "cause": cause} for name, cause in run.missing],
        "boundaries": [
            {
                "seq": boundary.seq,
                "kind": boundary.kind,
                "name": boundary.name,
                "fields": [_field_json(each) for each in boundary.fields],
            }
            for boundary in run.boundaries
        ],
    }


def _field_json(each: FieldGrade) -> dict[str, Any]:
    return {
        "field": each.field,
        "state": each.state,
        "in_part": each.in_part,
        "rules": list(each.rules),
        "causes": list(each.causes),
    }


def _rounded(grade: float | None) -> float | None:
    return None if grade is None else round(grade, 4)


def grades_text(found: Grades, *, columns: int = 80) -> str:
    """The table, and the boundaries of each run where one file was asked for."""
    rows = [row for file in found.files for row in _rows(file)]
    if not rows:
        return "no files here\n"
    label = min(max(4, *(width(row[0]) for row in rows)), columns - _TABLE)
    lines = [f"{pad('file', label)}  grade  {'events':>6}  {'rec':>5}  {'inf':>4}  {'asm':>4}  {'abs':>5}"]
    lines += [f"{pad(_tail(name, label), label)}  {rest}" for name, rest in rows]
    if len(found.runs) > 1:
        lines.append(f"{pad('all', label)}  {_percent(found.grade)}")
    problems = [line for file in found.files if file.problem for line in _problem(file, columns)]
    lines += ["", *problems] if problems else []
    for run in () if found.folder else found.runs:
        lines += ["", *_boundaries(run, columns, named=len(found.runs) > 1)]
    return "\n".join([*lines, "", *wrap(_LEGEND, columns)]) + "\n"


_TABLE = 45
"""Columns that the numbers of a row take."""


def _rows(file: FileGrade) -> Iterator[tuple[str, str]]:
    name = escape(file.name)
    if file.problem:
        yield name, "    -"
    for number, run in enumerate(file.runs):
        counts = run.fields
        numbers = [
            f"{len(run.boundaries):>6}",
            f"{counts['recorded']:>5}",
            f"{counts['inferred']:>4}",
            f"{counts['assumed']:>4}",
        ]
        shown = name if not number else "  and " + run.run_id[:12]
        yield shown, "  ".join([_percent(run.grade), *numbers, f"{counts['absent'] + 2 * len(run.missing):>5}"])


def _tail(name: str, columns: int) -> str:
    """A path that is too long without its beginning: files of one folder differ at their ends."""
    while width(name) > columns:
        name = "…" + name[2:]
    return name


def _percent(grade: float | None) -> str:
    """Rounded down, so that only what is whole is 100 %."""
    return "    -" if grade is None else f"{int(grade * 100):>3} %"


def _problem(file: FileGrade, columns: int) -> list[str]:
    return wrap(f"{file.name}: {file.problem}", columns, rest="  ")


def _boundaries(run: RunGrade, columns: int, *, named: bool) -> Iterator[str]:
    """A line a boundary, and one for each field of which there is more to say."""
    if named:
        yield f"run {run.run_id}"
    shown = run.boundaries[:_LISTED]
    label = min(max((width(_label(each)) for each in shown), default=0), columns - 26)
    yield f"seq  {pad('boundary', label)}  {'request':<9}  response"
    for boundary in shown:
        states = [_states(boundary, side) for side in _SIDES]
        yield f"{boundary.seq:>3}  {pad(_label(boundary), label)}  {states[0]:<9}  {states[1]}".rstrip()
        for each in boundary.fields:
            if each.rules or each.causes:
                yield from wrap(
                    f"{each.field}: {', '.join((*each.rules, *each.causes))}", columns, first="       ", rest="         "
                )
    if len(run.boundaries) > _LISTED:
        yield f"and {len(run.boundaries) - _LISTED} more (--json lists them all)"
    for name, cause in run.missing:
        yield from wrap(f"of the run: {name}: {cause}, counted as {plural(2, 'absent field')}", columns, rest="  ")


def _label(boundary: BoundaryGrade) -> str:
    return f"{boundary.kind}  {escape(boundary.name)}"


def _states(boundary: BoundaryGrade, side: str) -> str:
    """The state of a side in a word, with ``~`` for what is held in part."""
    fields = boundary.side(side)
    return ", ".join(f"{each.state}{'~' if each.in_part else ''}" for each in fields) or "-"
