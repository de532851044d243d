"""Two values beside each other, reduced to where they differ: for a terminal of any width, and for none.

    recorded                      │ this run
      You are the order desk.     │   You are the order desk.
    ~ …26-12-01. Use the tools.   │ ~ …26-12-01. Use the tools wisely.
                                  │ + Never pay twice.
      … 12 lines that are the same

Marks: ``~`` another line, ``-`` only recorded, ``+`` only now. A long line is cut around what differs. Where two lines differ
in blanks alone, blanks are shown as ``·`` and tabs as ``→``. Recorded text is data: every line is escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from otelreplay.replay.alignment import aligned
from otelreplay.report.text import clip, escape, pad, width

CONTEXT: Final = 2
"""Lines that are shown before and after what differs."""
MOST: Final = 40
"""Rows that are shown."""
_BEFORE: Final = 12
"""Columns that are shown before a difference in a long line."""
_CUT: Final = re.compile(r"\.\.\. \([0-9]+ characters\)$")
_LEAST: Final = 20
_PIECES: Final = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a mark, and a line of either side where there is one."""

    mark: str
    old: str | None
    new: str | None


def is_long(was: Any, now: Any) -> bool:
    """Whether two values want lines of their own."""
    return any(isinstance(v, dict | list) or (isinstance(v, str) and "\n" in v.rstrip("\n")) for v in (was, now))


def text_of(value: Any) -> str:
    """A value as a report prints it: texts that were made of a container when it was cut as they are, others as JSON."""
    if isinstance(value, str) and value[:1] in ("{", "[") and _CUT.search(value):
        return value
    return json.dumps(value, ensure_ascii=False, default=repr)


def stacked(was: str, now: str, *, columns: int, labels: tuple[str, str] = ("expected", "received")) -> list[str]:
    """Two short values under each other, with marks under what differs."""
    room = max(columns, _LEAST) - len(labels[0]) - 2
    was, now = _visible(was, now)
    start, _ = _apart(was, now)
    cut = start - _BEFORE if start > _BEFORE and max(width(was), width(now)) > room else 0
    shown = [clip(("…" if cut else "") + text[cut:], room) for text in (was, now)]
    at = width(("…" if cut else "") + now[cut:start])
    long = width(now[start : _apart(was, now)[1]])
    lines = [f"{label}  {text}" for label, text in zip(labels, shown, strict=True)]
    if long and at < room and was.strip('"') and (start > 1 or long < width(now) - 2):
        lines.append(" " * (len(labels[0]) + 2 + at) + "^" * min(long, room - at))
    return lines


def beside(was: Any, now: Any, *, columns: int, both: tuple[bool, bool] = (True, True)) -> list[str]:
    """Two values beside each other. ``both``: which of them are there at all."""
    old, new = (_lines(v) if there else [] for v, there in zip((was, now), both, strict=True))
    half = max((columns - 3) // 2, _LEAST)
    out = [f"{pad('recorded', half)} │ this run"]
    rows = list(_near_changes(list(_rows(old, new))))
    for row in rows[:MOST]:
        if isinstance(row, int):
            out.append(f"  … {row} line{'s' if row != 1 else ''} that {'are' if row != 1 else 'is'} the same")
            continue
        out += [f"{pad(left, half)} │ {right}".rstrip() for left, right in _cells(row, half - 2)]
    if len(rows) > MOST:
        out.append(f"  … {len(rows) - MOST} rows more (--json has all that was kept)")
    return out


def _cells(row: Row, room: int) -> list[tuple[str, str]]:
    """Left and right of a row: a line that has no other side is wrapped, any other is cut."""
    if row.old is None:
        return [("", text) for text in _wrapped("+", row.new or "", room)]
    if row.new is None:
        return [(text, "") for text in _wrapped("-", row.old, room)]
    if row.mark == " ":
        shown = clip(escape(row.old), room)
        return [(f"  {shown}", f"  {shown}")]
    old, new = _visible(escape(row.old), escape(row.new))
    start, _ = _apart(old, new)
    cut = start - _BEFORE if start > _BEFORE and max(width(old), width(new)) > room else 0
    left, right = (clip(("…" if cut else "") + text[cut:], room) for text in (old, new))
    return [(f"~ {left}", f"~ {right}")]


def _wrapped(mark: str, line: str, room: int) -> list[str]:
    """A line in up to three pieces of this width."""
    rest, out = _trailing(escape(line)), list[str]()
    while len(out) < _PIECES - 1 and width(rest) > room:
        piece = clip(rest, room + 1)[:-1]  # without the ellipsis
        out.append(piece)
        rest = rest[len(piece) :].lstrip(" ")
    out.append(clip(rest, room))
    return [f"{mark if n == 0 else ' '} {piece}" for n, piece in enumerate(out)]


def _lines(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split("\n")
    return json.dumps(value, ensure_ascii=False, indent=2, default=repr).split("\n")


def _rows(old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """All lines of both sides in order."""
    words = [[frozenset(line.split()) for line in side] for side in (old, new)]

    def like(i: int, j: int) -> float:
        a, b = words[0][i], words[1][j]
        return len(a & b) / (len(a | b) or 1)

    matches = aligned(old, new, like)
    pairs = {m.old for m in matches if m.old is not None and m.new is not None and not m.moved}
    gone = {m.old for m in matches if m.old is not None} - pairs
    come = {m.new for m in matches if m.new is not None and (m.old is None or m.moved)}
    i = j = 0
    while i < len(old) or j < len(new):
        if i in gone or j == len(new):
            yield Row("-", old[i], None)
            i += 1
        elif j in come or i == len(old):
            yield Row("+", None, new[j])
            j += 1
        else:
            yield Row("~" if i in pairs else " ", old[i], new[j])
            i, j = i + 1, j + 1


def _near_changes(rows: Sequence[Row]) -> Iterator[Row | int]:
    """The rows around changes; of others how many there are."""
    near = [False] * len(rows)
    for n, row in enumerate(rows):
        if row.mark != " ":
            for m in range(max(n - CONTEXT, 0), min(n + CONTEXT + 1, len(rows))):
                near[m] = True
    skipped = 0
    for row, shown in zip(rows, near, strict=True):
        if not shown:
            skipped += 1
            continue
        if skipped:
            yield skipped
        skipped = 0
        yield row
    if skipped:
        yield skipped


def _apart(was: str, now: str) -> tuple[int, int]:
    """From where, and up to where in the second, two texts differ."""
    lead = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    most = min(len(was), len(now)) - lead
    tail = next((n for n in range(most) if was[-1 - n] != now[-1 - n]), most)
    return lead, len(now) - tail


def _visible(was: str, now: str) -> tuple[str, str]:
    """Both with their blanks shown where nothing else differs; the escapes of tabs and line ends count as blanks."""
    if was != now and _solid(was) == _solid(now):
        return was.replace(" ", "·").replace("\\t", "→"), now.replace(" ", "·").replace("\\t", "→")
    return _trailing(was), _trailing(now)


def _solid(text: str) -> str:
    return re.sub(r"(?:\s|\\t|\\r|\\n)+", "", text)


def _trailing(text: str) -> str:
    """Blanks at the end of a line made visible."""
    kept = text.rstrip(" ")
    return kept + "·" * (len(text) - len(kept))
