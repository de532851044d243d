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
_VIEWED: Final = 3
_WRAPPED: Final = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{32,100}(?P<end>\r?\n[ \t]*)(?=[A-Za-z0-9+/])")
_LAST: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}(?![A-Za-z0-9+/=_-])")
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


def taken_off(text: str, view_of: Callable[[str], View | None]) -> Iterator[View]:
    """The views with one layer of an encoding taken off, with two, with three: ``%2540`` is ``@``."""
    whole: View | None = None
    for _ in range(_VIEWED):
        view = view_of(text)
        if view is None or view.text == text:
            return
        whole = view if whole is None else View(view.text, [whole.at[place] for place in view.at])
        yield whole
        text = view.text


def base64_runs(text: str) -> Iterator[tuple[int, int, str, Callable[[str], str]]]:
    """(start, end, plain text, how to encode it again) of every stretch that is text in base64.

    Base64 of text has capitals (one chance in thousands that 16 characters have none); ids often do not, and are left alone.
    A run of the joint alphabet is tried whole, then between the characters that only the other alphabet has (a path before
    it, a dash). Lines of one length and a last one that is no longer, as e-mail wraps base64, are tried joined,
    and not line by line then: a placeholder that lies over two lines is none in either.
    """
    wrapped = list(_wrapped_runs(text)) if "\n" in text else []
    if not wrapped:
        yield from _runs(text)
        return
    apart = [run for run in _runs(text) if not any(start <= run[0] < end for start, end, _, _ in wrapped)]
    yield from sorted([*wrapped, *apart], key=lambda run: run[0])


def _wrapped_runs(text: str) -> Iterator[tuple[int, int, str, Callable[[str], str]]]:
    at = 0
    while (first := _WRAPPED.search(text, at)) is not None:
        end, width = first["end"], first.start("end") - first.start()
        lines, at, more = [text[first.start() : first.start("end")]], first.end(), first.end()
        while (last := _LAST.match(text, more)) is not None and 0 < len(last[0]) <= width:
            lines.append(last[0])
            at = last.end()
            more = at + len(end)
            if len(last[0]) < width or not text.startswith(end, at):
                break
        plain = _decode("".join(lines)) if len(lines) > 1 else None
        if plain is not None:
            yield first.start(), at, plain, _wrapping(_encoder("".join(lines)), width, end)


def _wrapping(encode: Callable[[str], str], width: int, end: str) -> Callable[[str], str]:
    def wrapped(plain: str) -> str:
        coded = encode(plain)
        return end.join(coded[n : n + width] for n in range(0, len(coded), width))

    return wrapped


def _runs(text: str) -> Iterator[tuple[int, int, str, Callable[[str], str]]]:
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
        raw = _raw(core)
    except (binascii.Error, ValueError):
        return None
    codec, plain = _text(raw)
    return plain if codec else None


def _raw(core: str) -> bytes:
    return binascii.a2b_base64(core.translate(_TO_STANDARD) + "===="[: -len(core) % 4])


def _text(raw: bytes) -> tuple[str, str]:
    """(codec, text) of bytes that are text; nothing of others."""
    for codec in (*wide_codecs(raw), "utf-8"):
        try:
            plain = raw.decode(codec)
        except ValueError:
            continue
        wide = codec != "utf-8"
        if (plain.isprintable() or _TEXTUAL.fullmatch(plain)) and (
            not wide or sum(c.isascii() for c in plain) * 2 >= len(plain)
        ):
            return codec, plain
    return "", ""


def wide_codecs(raw: bytes) -> tuple[str, ...]:
    """Those in which bytes with so many zeros may be text; the one with a mark at its start only where that is there."""
    if not raw or raw.count(0) * 3 < len(raw):
        return ()
    if raw.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return ("utf-32",)
    return ("utf-16",) if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-16-le", "utf-16-be")


def _encoder(run: str) -> Callable[[str], str]:
    """The same alphabet and the same padding habit."""
    url = "-" in run or "_" in run
    padded = run.endswith("=") or (len(run) % 4 == 0)
    codec = _text(_raw(run.rstrip("=")))[0] or "utf-8"

    def encode(plain: str) -> str:
        raw = plain.encode(codec, "surrogatepass")
        coded = (base64.urlsafe_b64encode(raw) if url else base64.b64encode(raw)).decode("ascii")
        return coded if padded else coded.rstrip("=")

    return encode
