"""What a replay came to, for people: the outcome first, then the first divergence as a compiler would show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otelreplay.canonical import dumps
from otelreplay.report.text import clip, escape, fields, plural, wrap

_OUTCOMES = {
    "as_recorded": "the program did what was recorded",
    "diverged": "the program parted from the recording",
    "missing_data": "the recording does not hold what the program needs",
    "live_call_blocked": "the program tried to go live; it was stopped",
    "ended_early": "the program ended without a result: it left by the side door, or was killed",
    "ended_otherwise": "the program went as recorded and then ended otherwise",
    "timed_out": "the program had not ended when its time was up",
}
_LISTED = 12
_BEFORE = 16
"""Characters that are shown before a difference."""


def replay_text(report: Mapping[str, Any], *, columns: int = 80) -> str:
    """The report of a replay. Recorded text in it is data: escaped, clipped, never markup."""
    outcome = str(report["outcome"])
    lines = wrap(f"{outcome}: {_OUTCOMES.get(outcome, 'see below')}", columns)
    lines += ["", *fields(_facts(report), columns=columns, indent="  ")]
    first = report.get("first_divergence")
    if first:
        lines += ["", *_divergence(first, columns)]
    others = report.get("others") or []
    if others:
        lines += [
            "",
            f"After that: {plural(len(others), 'more divergence')}",
            *_listed([_headline(o) for o in others], columns),
        ]
    lines += _blocked(report.get("blocked") or [], columns)
    lines += _section("Unused: recorded, and not asked for", report.get("unused_events"), columns)
    lines += _section("Writes of the original run: done then, not undone and not done again", report.get("writes"), columns)
    lines += _section("Not compared", report.get("unchecked"), columns)
    lines += _section("Assumed", report.get("assumed"), columns)
    lines += _section("Compared through a placeholder or a normaliser", report.get("normalised"), columns)
    lines += _section("Notes", report.get("notes"), columns)
    return "\n".join(lines) + "\n"


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    served, unused = _count(report.get("served")), _count(report.get("unused"))
    yield "served", f"{plural(served, 'call')} from the cassette" + (f", {plural(unused, 'event')} unused" if unused else "")
    yield "guard", str(report.get("guard", ""))
    yield "not here", "; ".join(map(str, report.get("guard_missing") or ()))
    code = report.get("child_exit")
    yield "program", f"ended by signal {-code}" if isinstance(code, int) and code < 0 else f"exit {code}"
    yield "left", "; ".join(f"still running at the end, and ended: {c}" for c in report.get("left_running") or ())
    yield "withheld", ", ".join(map(str, report.get("credentials_removed") or ()))


def _count(value: Any) -> int:
    return value if isinstance(value, int) else len(value) if isinstance(value, Sequence) else 0


def _divergence(found: Mapping[str, Any], columns: int) -> Iterator[str]:
    """What, where, expected against received, what agreed before, why, and what to do."""
    yield "First divergence"
    yield ""
    yield from wrap(_headline(found), columns, first="  ", rest="    ")
    place = ", ".join(str(found[name]) for name in ("where", "function") if found.get(name))
    if place:
        yield f"    --> {escape(place)}"
    if found.get("path") and _is_absent(found):
        yield from wrap(f"{found['path']} is missing: {found.get('detail') or found.get('cause')}", columns, first="    ")
    elif found.get("path"):
        yield ""
        yield from wrap(f"{found['path']} ({found.get('change') or 'changed'})", columns, first="    ")
        yield from _values(found, columns)
        yield ""
    elif found.get("detail"):
        yield from wrap(str(found["detail"]), columns, first="    ")
    yield from fields(_context(found), columns=columns, indent="    ")
    for label, name in (("accept", "accept"), ("again", "reproduce")):  # commands stay on one line, to be copied
        if found.get(name):
            yield f"    {label:<8}{escape(str(found[name]))}"


def _is_absent(found: Mapping[str, Any]) -> bool:
    """Nothing differs: the recording does not hold the answer."""
    return str(found.get("code")).endswith(".response_missing")


def _headline(found: Any, *, path: bool = False) -> str:
    if not isinstance(found, Mapping):
        return str(found)
    event = f"event {found['seq']}, " if found.get("seq") is not None else ""
    what = " ".join(str(found[name]) for name in ("boundary", "operation") if found.get(name))
    agent = f", in agent {found['agent']}" if found.get("agent") else ""
    field = f", {found['path']}" if path and found.get("path") else ""
    return f"{found.get('code')}: {event}{what}{agent}{field}"


def _values(found: Mapping[str, Any], columns: int) -> Iterator[str]:
    """Both sides under each other, from the same place on: where they are long, from shortly before they differ."""
    change, room = found.get("change"), max(columns, 40) - 16
    sides = {"expected": change != "added", "received": change != "removed"}
    shown = {name: escape(_json(found.get(name))) if there else "(not there)" for name, there in sides.items()}
    pairs = enumerate(zip(*shown.values(), strict=False)) if all(sides.values()) else ()
    same = next((n for n, (one, other) in pairs if one != other), 0)
    start = same - _BEFORE if same > _BEFORE and max(map(len, shown.values())) > room else 0
    for name, text in shown.items():
        yield f"      {name}  {clip(('…' if start else '') + text[start:], room)}"


def _context(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    last = found.get("last_agreed")
    before = plural(int(found.get("agreed") or 0), "event")
    yield "agreed", f"{before} before it, the last was event {last}" if last is not None else "nothing before it"
    yield "also", ", ".join(map(str, found.get("others") or ()))
    yield "cause", str(found.get("cause") or "")
    yield "origin", str(found.get("origin") or "")
    yield "detail", str(found.get("detail") or "") if found.get("path") and not _is_absent(found) else ""
    for near in found.get("nearest") or ():
        yield "nearest", _item(near)
    yield "next", str(found.get("remedy") or "")


def _blocked(attempts: Sequence[Mapping[str, Any]], columns: int) -> list[str]:
    if not attempts:
        return []
    lines = ["", f"Blocked: {plural(len(attempts), 'attempt')} to go live"]
    for one in attempts[:_LISTED]:
        times = f", {one['count']} times" if one.get("count", 1) > 1 else ""
        who = f" in process {one['pid']}" if one.get("by") == "seccomp" else ""
        lines += wrap(
            f"{one.get('what')} {one.get('target')}{times}, seen by {one.get('by')}{who}", columns, first="  ", rest="    "
        )
        for label in ("boundary", "where", "command"):
            if one.get(label):
                lines += [clip(f"    {label}  {escape(str(one[label]))}", columns)]
    if len(attempts) > _LISTED:
        lines.append(f"  and {len(attempts) - _LISTED} more (--json lists them all)")
    return lines


def _section(title: str, items: Any, columns: int) -> list[str]:
    if not items or not isinstance(items, Sequence) or isinstance(items, str):
        return []
    return ["", title, *_listed([_item(item) for item in items], columns)]


def _listed(texts: Sequence[str], columns: int) -> list[str]:
    lines = [line for text in texts[:_LISTED] for line in wrap(text, columns, first="  ", rest="    ")]
    return lines + ([f"  and {len(texts) - _LISTED} more (--json lists them all)"] if len(texts) > _LISTED else [])


_NAMES = ("boundary", "kind", "operation", "name")
_SAID = (*_NAMES, "seq", "field", "path", "reason", "count", "seqs")


def _item(item: Any) -> str:
    """``event 4  tool find  request.arguments: why, 3 times (events 1, 2, 4)``, of which most may not be there."""
    if not isinstance(item, Mapping):
        return f"event {item}" if isinstance(item, int) else str(item)
    seq = f"event {item['seq']}" if item.get("seq") is not None else ""
    what = " ".join(str(item[n]) for n in _NAMES if item.get(n))
    place = str(item.get("field") or item.get("path") or "")
    place += " differs" if item.get("path") else ""
    reason = "state" if "path" in item else "reason"  # a recording that is near: whether it was used
    rest = [f"{n} {_plain(v)}" for n, v in item.items() if n not in (*_SAID, reason) and v not in (None, "", [])]
    why = ", ".join(([str(item[reason])] if item.get(reason) else []) + rest)
    seqs = [n for n in item.get("seqs") or () if isinstance(n, int) and n >= 0]
    count = _count(item.get("count"))
    times = f", {plural(count, 'time')}" if count > max(len(seqs), 1) else ""
    where = f" ({'event' if len(seqs) == 1 else 'events'} {', '.join(map(str, seqs))})" if seqs else ""
    return "  ".join(part for part in (seq, what, ": ".join(part for part in (place, why) if part) + times + where) if part)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return dumps(value).decode("utf-8", "backslashreplace")
