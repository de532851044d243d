"""Views of a text with an encoding taken off, and the way back.

A view is decoded text with, for every character, the place in the original where it began. What a detector finds in the view is
cut out of the original by these places, so that everything around it stays byte-identical.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbf\"'/\\]))")
_SIMPLE: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_OTHER: Final = re.compile(r"[+/_-]")
_STANDARD: Final = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_URL: Final = re.compile(r"[A-Za-z0-9_-]{16,}={0,2}")
_TO_STANDARD: Final = str.maketrans("-_", "+/")
_TEXTUAL: Final = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]*")


class View(msgspec.Struct, frozen=True):
    """Decoded text; ``at[i]`` is where character ``i`` begins in the original, ``at[len]`` its end."""

    text: str
    at: list[int]


def _build(text: str, matches: Iterator[tuple[int, int, str]]) -> View | None:
    parts: list[str] = []
    at: list[int] = []
    done = 0
    for start, end, plain in matches:
        parts.append(text[done:start])
        at.extend(range(done, start))
        parts.append(plain)
        at.extend([start] * len(plain))
        done = end
    if not parts:
        return None
    parts.append(text[done:])
    at.extend(range(done, len(text) + 1))
    return View("".join(parts), at)


def percent(text: str) -> View | None:
    """``%41`` decoded; None where there is none, or none that is valid."""

    def found() -> Iterator[tuple[int, int, str]]:
        for m in _PERCENT.finditer(text):
            raw = bytes.fromhex(m[0].replace("%", ""))
            if raw.isascii():
                for n, byte in enumerate(raw):
                    yield m.start() + 3 * n, m.start() + 3 * n + 3, chr(byte)
            else:
                yield m.start(), m.end(), raw.decode("utf-8", "replace")

    return _build(text, found())


def escapes(text: str) -> View | None:
    r"""``\u0041``, ``\x41``, ``\"`` and their kin decoded; None where there are none."""

    def found() -> Iterator[tuple[int, int, str]]:
        for m in _ESCAPE.finditer(text):
            code = m[1] or m[2]
            yield m.start(), m.end(), chr(int(code, 16)) if code else _SIMPLE.get(m[3], m[3])

    return _build(text, found())


VIEWS: Final[tuple[Callable[[str], View | None], ...]] = (percent, escapes)


def base64_runs(text: str) -> Iterator[tuple[int, int, str, Callable[[str], str]]]:
    """(start, end, plain text, how to encode it again) of every stretch that is text in base64.

    Base64 of text has capitals (one chance in thousands that 16 characters have none); ids often do not, and are left alone.
    A run of the joint alphabet is tried whole, then between the characters that only the other alphabet has (a path before
    it, a dash).
    """
    for m in _RUN.finditer(text):
        run = m[0]
        if run == run.lower():
            continue
        plain = _decode(run)
        if plain is not None:
            yield m.start(), m.end(), plain, _encoder(run)
            continue
        if _OTHER.search(run) is None:
            continue
        for part in (*_STANDARD.finditer(run), *_URL.finditer(run)):
            plain = _decode(part[0]) if len(part[0]) < len(run) else None
            if plain is not None:
                yield m.start() + part.start(), m.start() + part.end(), plain, _encoder(part[0])


def _decode(run: str) -> str | None:
    core = run.rstrip("=")
    if len(core) % 4 == 1:
        return None
    try:
        plain = binascii.a2b_base64(core.translate(_TO_STANDARD) + "===="[: -len(core) % 4]).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return plain if plain.isprintable() or _TEXTUAL.fullmatch(plain) else None


def _encoder(run: str) -> Callable[[str], str]:
    """The same alphabet and the same padding habit."""
    url = "-" in run or "_" in run
    padded = run.endswith("=") or (len(run) % 4 == 0)

    def encode(plain: str) -> str:
        raw = plain.encode("utf-8", "surrogatepass")
        coded = (base64.urlsafe_b64encode(raw) if url else base64.b64encode(raw)).decode("ascii")
        return coded if padded else coded.rstrip("=")

    return encode
