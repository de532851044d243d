"""What two recordings taught, for people and as the file that ``--normalizers`` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.canonical import dumps
from otelreplay.report.text import clip, escape, plural, wrap

_SHOWN = 20


def learned_text(report: Mapping[str, Any], *, columns: int = 80) -> str:
    """The report of ``normalizers learn``."""
    learned, refused = report["learned"], report["not_learned"]
    if not learned and not refused:
        return "The requests of both recordings are equal: nothing has to be normalized.\n"
    lines = [f"{plural(len(learned), 'normalizer')} learned"]
    for one in learned:
        lines += ["", *wrap(f"  {escape(one['normalizer'])}  ({plural(one['count'], 'difference')})", columns)]
        lines += [clip(f"    {_pair(seen)}", columns) for seen in one["evidence"]]
    if refused:
        lines += ["", f"{plural(len(refused), 'difference')} not learned", ""]
        for seen in refused[:_SHOWN]:
            lines += [
                clip(f"  {_pair(seen) if seen['field'] else _call(seen)}", columns),
                *wrap(f"    {seen['reason']}", columns),
            ]
        if len(refused) > _SHOWN:
            lines.append(f"  and {len(refused) - _SHOWN} more; --json lists them all")
    return "\n".join(lines) + "\n"


def learned_lines(report: Mapping[str, Any]) -> str:
    """The file: one normalizer a line, with what it was learned from."""
    lines = [
        "# Learned from two recordings by `otelreplay normalizers learn`. One a line; a line that begins with # says nothing."
    ]
    for one in report["learned"]:
        lines += ["", *(f"# {_pair(seen)}" for seen in one["evidence"]), one["normalizer"]]
    return "\n".join(lines) + "\n"


def _pair(seen: Mapping[str, Any]) -> str:
    values = " / ".join(dumps(seen[side]).decode() for side in ("first", "second"))
    return escape(f"seq {seen['seq']} {seen['boundary']} {seen['operation']} {seen['field']}: {values}")


def _call(seen: Mapping[str, Any]) -> str:
    seq = seen["seq"] if seen["seq"] is not None else f"{seen['other_seq']} of the second"
    return escape(f"seq {seq} {seen['boundary']} {seen['operation']}")
