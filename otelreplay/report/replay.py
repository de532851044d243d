"""What a replay came to, for people: the outcome first, then the first divergence as a compiler would show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otelreplay.canonical import dumps
from otelreplay.report.headline import headline
from otelreplay.report.side_by_side import beside, is_long, stacked, text_of
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
_LABEL = 10
_SHOWN = 3
"""Fields of the first divergence that are shown with both sides."""
_ABOUT_UNUSED = ("events_unused", "missing_call", "tool_not_registered", None)


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
            *_listed([headline(o, path=True) for o in others], columns),
        ]
    lines += _blocked(report.get("blocked") or [], columns)
    if not first or first.get("kind") in _ABOUT_UNUSED:  # elsewhere it is only what a stopped program did not come to
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
    yield from wrap(headline(found), columns, first="  ", rest="    ")
    place = ", in ".join(str(found[name]) for name in ("where", "function") if found.get(name))
    if place and found.get("kind") == "missing_call":
        place += ", which is where it went on"
    if place:
        yield from wrap(place, columns, first="    --> ", rest="        ")
    if found.get("detail") and not (found.get("path") and not _is_absent(found)):
        yield from wrap(_sentence(found), columns, first="    ")
    for one in _differences(found):
        yield ""
        yield from wrap(_changed(one), columns, first="    ")
        yield from (f"      {line}" for line in _values(one, columns - 6))
    if found.get("path") and not _is_absent(found):
        yield ""
    yield from fields(_context(found), columns=columns, indent="    ", least=_LABEL)
    if found.get("reproduce"):  # a command stays on one line, to be copied
        yield f"    {'again':<{_LABEL}}{escape(str(found['reproduce']))}"


def _sentence(found: Mapping[str, Any]) -> str:
    detail = str(found.get("detail"))
    return f"{found['path']} is missing: {detail}" if found.get("path") and _is_absent(found) else detail


def _is_absent(found: Mapping[str, Any]) -> bool:
    """Nothing differs: the recording does not hold the answer."""
    return str(found.get("code")).endswith(".response_missing")


def _differences(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What differs, the first of it first; a few of them."""
    if _is_absent(found):
        return []
    held = [one for one in found.get("differences") or () if isinstance(one, Mapping)]
    return held[:_SHOWN] or ([found] if found.get("path") else [])


def _changed(one: Mapping[str, Any]) -> str:
    change = one.get("change") or "changed"
    to = f" to {one['received_path']}" if change == "moved" and one.get("received_path") else ""
    here = f", now {one['received_path']}" if change != "moved" and one.get("received_path") else ""
    return f"{one.get('path')}{here} ({change}{to})"


def _values(one: Mapping[str, Any], columns: int) -> list[str]:
    """Both sides: short ones under each other, from the same place on; long ones beside each other, by line."""
    change = one.get("change")
    there = (change != "added", change != "removed")
    if change == "moved":
        return [clip(escape(text_of(one.get("received"))), columns)]
    if is_long(one.get("expected"), one.get("received")) and all(there):
        return beside(one.get("expected"), one.get("received"), columns=columns)
    if not all(there):
        value = escape(text_of(one.get("received" if there[1] else "expected")))
        shown = [clip(value, columns - 10) if side else "(not there)" for side in there]
        return [f"expected  {shown[0]}", f"received  {shown[1]}"]
    return stacked(*(escape(text_of(one.get(side))) for side in ("expected", "received")), columns=columns)


def _context(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    last = found.get("last_agreed")
    before = plural(int(found.get("agreed") or 0), "event")
    yield "agreed", f"{before} before it, the last was event {last}" if last is not None else "nothing before it"
    rest = list(map(str, found.get("others") or ()))[max(len(_differences(found)) - 1, 0) :]
    yield "also", ", ".join(rest)
    yield "cause", str(found.get("cause") or "")
    yield "origin", str(found.get("origin") or "")
    yield "recorded", " in ".join(str(found[n]) for n in ("recorded_where", "recorded_function") if found.get(n))
    yield "detail", str(found.get("detail") or "") if found.get("path") and not _is_absent(found) else ""
    for near in found.get("nearest") or ():
        yield "nearest", _item(near)
    yield "next", str(found.get("remedy") or "")
    yield "accept", str(found.get("accept") or "")
    yield "page", str(found.get("page") or "")


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
    return ["", *wrap(title, columns), *_listed([_item(item) for item in items], columns)]


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
