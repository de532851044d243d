"""The replays of a folder for people: the failures by group, each with what tells it and one to reproduce it with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otelreplay.report.text import clip, escape, fields, moment, plural, wrap

_LISTED = 8


def many_text(report: Mapping[str, Any], *, columns: int = 80) -> str:
    """The report of all."""
    replayed, passed = int(report["replayed"]), int(report["passed"])
    groups: Sequence[Mapping[str, Any]] = report["groups"]
    said = f"{plural(replayed, 'replay')}: {passed} as recorded, {replayed - passed} not"
    lines = [said + (f", in {plural(len(groups), 'group')}" if groups else "")]
    for number, group in enumerate(groups, 1):
        lines += ["", *_group(number, group, columns)]
    return "\n".join(lines) + "\n"


def _group(number: int, group: Mapping[str, Any], columns: int) -> Iterator[str]:
    what = " ".join(str(group[name]) for name in ("boundary", "operation") if group[name])
    place = f", {group['path']}" if group["path"] else ""
    where = f": {what}" if what else ""
    yield from wrap(f"{number}. {group['code']}{where}{place} ({plural(group['count'], 'run')})", columns, rest="   ")
    yield from fields(_facts(group), columns=columns, indent="   ")
    for label, text in (("first", group["representative"]), ("again", group["reproduce"])):
        if text:
            yield f"   {label:<10}{escape(str(text))}"


def _facts(group: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    first = group["first_divergence"] or {}
    yield "cause", str(first.get("cause") or "")
    yield "detail", str(first.get("detail") or group["problem"] or "")
    yield "only here", _features(group["telling"])
    rest = {name: [v for v in values if v not in group["telling"].get(name, ())] for name, values in group["common"].items()}
    yield "in common", _features({name: values for name, values in rest.items() if values})
    if group["began"]:
        start, end = (moment(int(at))[:19] for at in group["began"])
        alone = ", and no passing run then" if group["alone_in_time"] else ""
        yield "began", (start if start == end else f"{start} to {end}") + alone
    names = [str(name) for name in group["cassettes"]]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    yield "runs", ", ".join(names[:_LISTED]) + more


def _features(found: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{name} {clip(', '.join(map(str, values)), 120)}" for name, values in found.items())


def check_text(found: Mapping[str, Any], *, columns: int = 80) -> str:
    """What a self-check came to."""
    head = f"Self-check: {plural(int(found['replays']), 'replay')} under other hash seeds, time zones, locales and schedules"
    lines = wrap(f"{head}, {'all ended alike' if found['steady'] else 'and they ended differently'}", columns)
    for one in found["unsteady"]:
        setting = ", ".join(f"{name} {value}" for name, value in one["setting"].items()) or "the same settings again"
        event = f"event {one['seq']} " if one["seq"] is not None else ""
        place = ": ".join(part for part in (f"{event}{one['path']}".strip(), str(one["detail"])) if part)
        lines += wrap(f"under {setting} the {one['what']} differs: {place}", columns, first="  ", rest="    ")
    lines += [line for text in found["not_varied"] for line in wrap(f"not varied: {text}", columns, first="  ", rest="    ")]
    return "\n".join(lines) + "\n"
