"""Plain text for terminals: recorded text made harmless, columns that fit, times and sizes that people read.

Recorded text is data. Whatever could move a cursor, hide or reorder what is shown is written as an escape (``\\x1b``,
``\\u202e``); nothing here emits colour or markup.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str) -> str:
    """``text`` on one line, with every control, format, surrogate and private-use character as a visible escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(ch) for ch in text)


def escape_lines(text: str) -> list[str]:
    """The lines of ``text``, each escaped. Only a line feed parts lines."""
    return [escape(line) for line in text.split("\n")]


def _shown(ch: str) -> str:
    if unicodedata.category(ch) not in _UNSHOWN:
        return ch
    point = ord(ch)
    return _SHORT.get(ch) or (
        f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
    )


def width(text: str) -> int:
    """Columns that escaped text takes: wide East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def clip(text: str, columns: int) -> str:
    """``text`` cut to ``columns``, the cut shown by ``…``."""
    if width(text) <= columns:
        return text
    kept, room = "", columns - 1
    for ch in text:
        room -= width(ch)
        if room < 0:
            break
        kept += ch
    return f"{kept}…" if columns > 0 else ""


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """``text`` clipped or filled to exactly ``columns``."""
    shown = clip(text, columns)
    fill = " " * (columns - width(shown))
    return fill + shown if right else shown + fill


def wrap(text: str, columns: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Escaped prose as lines of at most ``columns``; long words (paths, switches) stay whole."""
    return textwrap.wrap(
        escape(text),
        max(columns, 20),
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def fields(pairs: Iterable[tuple[str, str]], *, columns: int = 80, indent: str = "", least: int = 0) -> Iterator[str]:
    """``name   value`` lines with the values aligned and wrapped; pairs without a value are left out.

    ``least``: columns that a name takes at least.
    """
    shown = [(name, value) for name, value in pairs if value]
    label = max(least, max((len(name) for name, _ in shown), default=0) + 2)
    for name, value in shown:
        yield from wrap(value, columns, first=f"{indent}{name:<{label}}", rest=indent + " " * label)


def plural(count: int, noun: str, many: str = "") -> str:
    """``1 gap``, ``2 gaps``."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def listing(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def duration(ns: int) -> str:
    """Nanoseconds as people say them: ``850 us``, ``20 ms``, ``1.25 s``, ``2 m 03 s``, ``1 h 02 m``."""
    sign, ns = ("-" if ns < 0 else ""), abs(ns)
    if ns < 1_000_000:
        return f"{sign}{ns // 1000} us" if ns else "0 ms"
    if ns < 1_000_000_000:
        return f"{sign}{ns // 1_000_000} ms"
    if ns < 60 * 1_000_000_000:
        return f"{sign}{ns / 1e9:.2f} s"
    minutes, seconds = divmod(ns // 1_000_000_000, 60)
    return f"{sign}{minutes} m {seconds:02} s" if minutes < 60 else f"{sign}{minutes // 60} h {minutes % 60:02} m"


def moment(ns: int) -> str:
    """Nanoseconds since the epoch as RFC 3339 in UTC, all nine digits; as they are where no calendar reaches."""
    try:
        second = datetime.fromtimestamp(ns // 1_000_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{ns} ns since 1970"
    return f"{second:%Y-%m-%dT%H:%M:%S}.{ns % 1_000_000_000:09}Z"
