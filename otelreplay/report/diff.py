"""Two recordings for people: the first difference as a replay would show it, then both on one timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otelreplay.canonical import dumps
from otelreplay.report.text import clip, escape, fields, pad, plural, wrap

_SIGNS = {"equal": " ", "changed": "~", "answer": "=", "added": "+", "removed": "-", "order": "^"}
_WORDS = {
    "changed": "request differs",
    "answer": "answer differs",
    "added": "only in the second",
    "removed": "only in the first",
    "order": "in another order",
}
_LISTED = 12
_SHOWN = 60
"""Rows from which equal ones that stand together are counted, not listed."""


def diff_text(report: Mapping[str, Any], *, columns: int = 80, every: bool = False) -> str:
    """The report of a comparison."""
    rows: Sequence[Mapping[str, Any]] = report["timeline"]
    counts = report["counts"]
    said = [f"{counts[state]} {word}" for state, word in _WORDS.items() if counts[state]]
    equal = plural(counts["equal"], "event") + " equal"
    lines = wrap(f"{report['outcome']}: {', '.join([equal, *said])}", columns)
    lines += ["", *fields(_facts(report), columns=columns, indent="  ")]
    first = report.get("first_divergence")
    if first:
        lines += ["", "First difference", "", *_difference(first, columns)]
    if report["outcome"] != "equal" or every:
        lines += ["", "Timeline (first, second)", *_timeline(rows, columns, every=every)]
    for title, name in (
        ("Not compared", "unchecked"),
        ("Assumed", "assumed"),
        ("Compared through a placeholder, or a value that each run made for itself", "normalised"),
        ("Notes", "notes"),
    ):
        lines += _section(title, report.get(name) or (), columns)
    return "\n".join(lines) + "\n"


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for side in ("first", "second"):
        held = report[side]
        revision = f", revision {held['revision']}" if held["revision"] > 1 else ""
        yield side, f"{held['cassette']} (run {held['run_id']}{revision}, {plural(held['events'], 'event')})"


def _timeline(rows: Sequence[Mapping[str, Any]], columns: int, *, every: bool) -> Iterator[str]:
    long, skipped = len(rows) > _SHOWN and not every, 0
    for row in rows:
        if long and row["state"] == "equal":
            skipped += 1
            continue
        if skipped:
            yield f"          ... {plural(skipped, 'equal event')}"
            skipped = 0
        yield from _row(row, columns)
    if skipped:
        yield f"          ... {plural(skipped, 'equal event')}"


def _row(row: Mapping[str, Any], columns: int) -> Iterator[str]:
    state = str(row["state"])
    numbers = "  ".join(pad("" if row[side] is None else str(row[side]), 4, right=True) for side in ("first", "second"))
    what = " ".join(escape(str(row[name])) for name in ("boundary", "operation") if row[name])
    yield pad(f"{_SIGNS.get(state, '?')} {numbers}  {what}", columns).rstrip()
    for found in row["differences"]:
        kind = "answer" if found["kind"] == "answer_changed" else _WORDS.get(state, "differs")
        path = f": {found['path']}" if found.get("path") else ""
        follows = f" (follows from event {found['follows']})" if found.get("follows") is not None else ""
        yield from wrap(f"{kind}{path}{follows}", columns, first=" " * 14, rest=" " * 16)


def _difference(found: Mapping[str, Any], columns: int) -> Iterator[str]:
    """What, where, one against the other, and why."""
    places = [
        f"event {found[name]} of the {side}" for name, side in (("seq", "first"), ("other_seq", "second")) if _is(found, name)
    ]
    what = " ".join(str(found[name]) for name in ("boundary", "operation") if found.get(name))
    agent = f", in agent {found['agent']}" if found.get("agent") else ""
    yield from wrap(f"{found['code']}: {' and '.join(places)}, {what}{agent}", columns, first="  ", rest="    ")
    if found.get("path"):
        yield from wrap(f"{found['path']} ({found.get('change') or 'changed'})", columns, first="    ")
        gone = {"first": found.get("change") == "added", "second": found.get("change") == "removed"}
        for side, name in (("first", "expected"), ("second", "received")):
            text = "(not there)" if gone[side] else escape(_json(found.get(name)))
            yield clip(f"      {side:<8}{text}", max(columns, 40))
    last = found.get("last_agreed")
    facts = [
        (
            "agreed",
            f"{plural(int(found.get('agreed') or 0), 'event')} before it, the last was event {last}"
            if last is not None
            else "",
        ),
        ("also", ", ".join(map(str, found.get("others") or ()))),
        ("cause", str(found.get("cause") or "")),
        ("detail", str(found.get("detail") or "")),
    ]
    yield from fields(facts, columns=columns, indent="    ")


def _is(found: Mapping[str, Any], name: str) -> bool:
    return found.get(name) is not None


def _section(title: str, items: Sequence[Any], columns: int) -> list[str]:
    lines = ["", title] if items else []
    for item in items[:_LISTED]:
        lines += wrap(_item(item), columns, first="  ", rest="    ")
    return lines + ([f"  and {len(items) - _LISTED} more (--json lists them all)"] if len(items) > _LISTED else [])


def _item(item: Any) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    what = " ".join(str(item[name]) for name in ("boundary", "operation", "field") if item.get(name))
    why = ", ".join(str(item[name]) for name in ("rule", "reason") if item.get(name))
    seqs = [n for n in item.get("seqs") or () if isinstance(n, int) and n >= 0]
    where = f" (events {', '.join(map(str, seqs))})" if seqs else ""
    return ": ".join(part for part in (what, why) if part) + where


def _json(value: Any) -> str:
    return dumps(value).decode("utf-8", "backslashreplace")
