"""Telephone numbers: by their international or North American form, or by what is written around any plausible digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otelreplay.redaction.detectors.base import ESCAPE, Detector, Hit

_BEFORE: Final = 56
"""How far back a word of context may stand."""
_RUN: Final = re.compile(
    rf"(?:(?<![\w.,+/:=#$€£-])|{ESCAPE}|(?<=[0-9A-Za-z\"'][:=]))(?<![0-9] )"
    r"(?:\+ ?|00)?\(?[0-9][0-9 ().\u00a0/-]{4,22}[0-9](?![\w/]|[.,:-][0-9])",
    re.ASCII,
)
_PLUS: Final = re.compile(r"\+ ?\(?[1-9][0-9 ().\u00a0-]{5,20}[0-9](?![0-9A-Za-z])", re.ASCII)
_NANP: Final = re.compile(r"(?:\+?1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[2-9][0-9]{2}[ .-][0-9]{4}")
_DATE: Final = re.compile(
    r"(?:19|20)[0-9]{2}[-/. ](?:0?[1-9]|1[0-2])[-/. ](?:0?[1-9]|[12][0-9]|3[01])\b"
    r"|(?:0?[1-9]|[12][0-9]|3[01])[-/.](?:0?[1-9]|1[0-2])[-/.](?:19|20)?[0-9]{2}$|(?:19|20)[0-9]{2} ?- ?(?:19|20)[0-9]{2}$"
)
_WORD: Final = re.compile(
    r"(?i)(?:phone|tele?fono?|telefon\w*|\btel\b|mobile|m[oó]vil|cell(?:ular)?\b|handy|\bcall(?:ing|ed)?[ :;,.!?]"
    r"|\btext(?:ing)?\b (?:me|him|her|us|them|to)?|fax|\bsms\b|whats\s?app|\bdial|\bring\b|\bcontact|\breach\b"
    r"|answer\w* (?:at|on)|messages? (?:to|on|at)|registered(?: number)?|hotline|msisdn)[^0-9+\n]{0,28}\n?[^0-9+\n]{0,8}$"
)
_AFTER: Final = re.compile(r"(?i)^[ ,\\(-]{1,3}(?:office|fax|mobile|cell|home|work|tel|phone)\b")


def phones(text: str) -> Iterator[Hit]:
    """International form, North American form, or any plausible digits after a word such as ``call``."""
    for match in (*_PLUS.finditer(text), *_RUN.finditer(text)):
        run = match[0].rstrip(" .-(/")
        digits = sum(c.isdigit() for c in run)
        if not 7 <= digits <= 15 or run.count("(") != run.count(")") or _DATE.match(run):
            continue
        start, end = match.start(), match.start() + len(run)
        if _by_form(run, digits) or _by_context(text, start, end):
            yield start, end


def _by_form(run: str, digits: int) -> bool:
    if run.startswith("+"):
        return digits >= 8
    return _NANP.fullmatch(run) is not None


def _by_context(text: str, start: int, end: int) -> bool:
    return _WORD.search(text[max(0, start - _BEFORE) : start]) is not None or _AFTER.match(text[end : end + 12]) is not None


DETECTORS = (
    Detector(
        name="phone",
        family="pii",
        kind="phone",
        gates=(r"(?:^|[^0-9A-Za-z_]|\\[nrt]|[0-9]m)[0-9](?:[0-9 ()./\x80-\xff-]|\\u00a0){4,6}[0-9]",),
        needs=(
            r"\+ ?\(?[1-9]",
            r"[2-9][0-9]{2}\)?[ .-]?[2-9][0-9]{2}[ .-][0-9]{4}",
            r"(?i)phone|telef|tel[^a-z]|mobile|m[o\xf3\xc3\\]|cell|handy|call(?:ing|ed)?[ :;,.!?]|text(?:ing)? |fax|sms|whats"
            r"|dial|ring[^a-z]|contact|reach|answer[a-z]* (?:at|on)|messages? (?:to|on|at)|registered|hotline|msisdn",
            r"(?i)[0-9][ ,\\(-]{1,3}(?:office|fax|mobile|cell|home|work|tel|phone)",
        ),
        find=phones,
    ),
)
