"""Secrets that only their key gives away: ``password=...``, ``'api_key': '...'``, ``--token ...``, "my password is ...".

Theory of operation. A search for telling words finds places; around each the whole key is read, and :mod:`keys` says what it
means. What follows must be a separator and a value. A *strong* key hides any value that is not a stand-in, a variable or
code; a *weak* one (``token``, ``key``) only what looks random. Prose ("the password is wrong") needs a value that is no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otelreplay.redaction.detectors.base import Detector, Hit
from otelreplay.redaction.detectors.shape import (
    classes,
    is_code,
    is_hex,
    is_id,
    is_password,
    is_random,
    is_reference,
    is_stand_in,
)
from otelreplay.redaction.keys import SECRET, VAGUE, VENDORS, sense, words
from otelreplay.redaction.placeholders import find_placeholders

_LEAD: Final = re.compile(
    r"(?i)pass|pwd|pasw|pswd|pw(?=[\s\"'\\]*[:=])|secret|token|api[-_ ]?key|key|auth|cred|signature|psk|sig\b|salt|sess|\bsid\b"
    r"|bearer|login|phrase|dsn|srt|jwt|otp|connection.?string|\bpin\b|cvv"
)
_NAME_LEFT: Final = re.compile(r"[A-Za-z0-9_.$@%-]*\Z")
_NAME_RIGHT: Final = re.compile(r"[A-Za-z0-9_-]*")
_WORD_BEFORE: Final = re.compile(r"[A-Za-z]{2,20}[ ]\Z")
_ASSIGN: Final = re.compile(
    r"""(?x)
    (?:\\{0,7}["'`]|&quot;|&\#39;){0,2} (?:\[[0-9]*\]|\]|\))? \s{0,8}
    (?: :=|=>|->|===?|!==?|\?=|\+=|\|\|=|=| :(?!//) | ,(?=\s*["'b\\]) | >(?!\s) )
    \s{0,8} (?:\n\s{2,12})? (?:\(\s*)? (?:[@bfru]{1,2}(?=["']))?
    """
)
_QUOTED: Final = re.compile(
    r"""(?xs) (?P<q>\\{0,7}(?:"{3}|'{3}|["'`])|&quot;|&\#39;) (?P<value>(?:(?!(?P=q)).){1,4096}) (?P=q) """
)
_OPENED: Final = re.compile(r"""(?:\\{0,7}(?:"{3}|'{3}|["'`])|&quot;|&\#39;)?""")
_BARE: Final = re.compile(r"""[^\s"'`<,;&]{3,4096}""")
_BRACKETED: Final = re.compile(
    r"\[[^\[\]\n]{0,80}\]|<[^<>\n]{0,80}>|\{\{[^\n]{0,80}?\}\}|\$\{[^\n}]{0,80}\}|\$\([^\n)]{0,80}\)"
)
_BLOCK: Final = re.compile(r"""[|>][+-]?\s*\n(?P<value>(?:[ \t]+\S[^\n]*\n?)+)""")
_PROSE: Final = re.compile(
    r"""(?ix) \s+ (?:is|was|are|to|of|as|provided|value|=|:) (?:\s+(?:now|set\s+to|changed\s+to|called|still|:))? \s* [:=]? \s*
    \\?["'`]? (?P<value>[^\s"'`<>,;]{5,512}) """
)
_OPTION: Final = re.compile(r"""\s+\\?["']?(?P<value>[^\s"'`<>|;]{3,1024})""")
_DEFINE: Final = re.compile(r"""(?:[#%]\s?define|\bsetx?)(?:\s|\\t)+\Z""")
_DEFINED: Final = re.compile(r"""(?:\s|\\t)+\\?["']?(?P<value>[^\s"'\\]{4,1024})""")
_SCHEME: Final = re.compile(r"(?i)(?:bearer|basic|token|apikey|digest|negotiate|ntlm)\s+(?=\S)")
_LOOK: Final = 256
"""Characters of a value that are looked at; a hostile text would otherwise be read once for every key in it."""
_FILE: Final = re.compile(
    r"(?P<stem>[^\s/\\]+?)(?:\.(?:jsonl?|ndjson|pb|binpb|gz|zst|zip|txt|log|csv|ya?ml|xml|html?|bin|dat|bak|otlp|trace|proto)){1,3}"
)
_PAIRS: Final = {"(": ")", "[": "]", "{": "}"}


def key_values(text: str) -> Iterator[Hit]:
    """Values after a telling key, in any of the usual notations."""
    done = -1
    made = find_placeholders(text)
    for lead in _LEAD.finditer(text):
        if lead.start() < done or any(p.start <= lead.start() < p.end for p in made):
            continue
        start, end = _key_around(text, lead)
        key = _key(text, start, end)
        hit = _value_of(text, start, end, key) if sense(key) in SECRET else None
        if hit is not None:
            done = hit[1]
            yield hit


def _key_around(text: str, lead: re.Match[str]) -> tuple[int, int]:
    at = lead.start()
    left = _NAME_LEFT.search(text, max(0, at - 64), at)
    right = _NAME_RIGHT.match(text, at)
    start, end = (left.start() if left else at), (right.end() if right else at)
    while start < end and text[start] in "-.$@%":
        start += 1
    return start, max(end, lead.end())


def _key(text: str, start: int, end: int) -> str:
    """The key; with the word before it where only both together say something ("access key")."""
    key = text[start:end]
    before = _WORD_BEFORE.search(text, max(0, start - 21), start)
    if before is not None and sense(key) == "weak" and sense(before[0] + key) == "strong":
        return before[0] + key
    return key


def wanted(key: str, value: str, *, quoted: bool) -> bool:
    """Whether ``value`` is a secret under ``key``."""
    meaning = sense(key)
    scheme = _SCHEME.match(value)
    value = value[scheme.end() :] if scheme else value
    value = value[:_LOOK] if "-----BEGIN" not in value else ""
    if len(value) < 3 or is_stand_in(value):
        return False
    if is_code(value) and (not quoted or value.endswith((")", "]"))):
        return False
    if meaning == "faint":
        return len(value) >= 32 and classes(value) >= 3 and is_random(value, 32, share=0.5) and not is_hex(value)
    if meaning == "strong":
        if quoted:
            return not (is_reference(value) and len(value) > 24) and value.count(" ") <= 6
        return is_password(value) or is_random(value, 8) or (not is_reference(value) and len(value) >= 6)
    vendor = VENDORS.search(key) is not None
    last = words(key)[-1:]
    if last and last[0] in VAGUE and not vendor:
        return is_random(value, 16, share=0.6) and not is_hex(value) and not is_id(value)
    if vendor and quoted and ((is_password(value) and len(value) >= 12) or (value.isdigit() and len(value) >= 16)):
        return True
    return is_random(value, 14 if vendor else 16)


def _value_of(text: str, start: int, end: int, key: str) -> Hit | None:
    assign = _ASSIGN.match(text, end)
    if assign is not None:
        return _assigned(text, assign.end(), key)
    if text[max(0, start - 2) : start].endswith("-"):
        option = _OPTION.match(text, end)
        if option is not None and not option["value"].startswith("-") and wanted(key, option["value"], quoted=True):
            return option.span("value")
        return None
    if _DEFINE.search(text, max(0, start - 12), start) is not None:
        defined = _DEFINED.match(text, end)
        if defined is not None and wanted(key, defined["value"], quoted=True):
            return defined.span("value")
    prose = _PROSE.match(text, end)
    if prose is not None:
        value = prose["value"].rstrip(".?!):")
        if (
            not is_stand_in(value)
            and not is_code(value)
            and (is_password(value) if sense(key) == "strong" else is_random(value, 12))
        ):
            return prose.start("value"), prose.start("value") + len(value)
    return None


def _assigned(text: str, at: int, key: str) -> Hit | None:
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        if not wanted(key, quoted["value"], quoted=True):
            return None
        scheme = _SCHEME.match(quoted["value"])
        return quoted.start("value") + (scheme.end() if scheme else 0), quoted.end("value")
    block = _BLOCK.match(text, at)
    if block is not None and sense(key) == "strong" and "-----BEGIN" not in block[0]:
        return block.span("value")
    opened = _OPENED.match(text, at)
    at = opened.end() if opened else at
    if _BRACKETED.match(text, at) is not None:
        return None
    bare = _BARE.match(text, at)
    if bare is None:
        return None
    value = _closed(bare[0])
    named = _FILE.fullmatch(value)
    if named is not None:  # of a file that is named after it
        stem = named["stem"]
        return (at, at + len(stem)) if (is_password(stem) or is_random(stem, 8)) and wanted(key, stem, quoted=False) else None
    return (at, at + len(value)) if wanted(key, value, quoted=False) else None


def _closed(value: str) -> str:
    """Without what closes something that was opened before the value, or ends its sentence."""
    while value and (
        value[-1] in ".:\\|" or (value[-1] in ")]}" and not any(o in value for o, c in _PAIRS.items() if c == value[-1]))
    ):
        value = value[:-1]
    return value


_LONG: Final = r"(?:pass|pwd|pasw|pswd|secret|token|key|auth|cred|signature|sess|bearer|login|phrase|[cx]srf|contrase)"
_SHORT: Final = r"(?:connection.?string|sig|salt|sid|psk|dsn|srt|jwt|otp|pin|cv[vc]|pw)"
_QUOTES: Final = r"(?:[\"'`\\)\]\[0-9]|&quot;|&#39;)*(?:\s|\\[nrt])*"
_SEPARATOR: Final = r"(?:[:=>]|[!?+|]=|,(?:\s|\\[nrt])*[\"'b\\])"
_NAMED: Final = r"\"(?:name|key|header|field)\\*\"(?:\s|\\[nrt])*:(?:\s|\\[nrt])*\\*\""
DETECTORS = (
    Detector(
        name="key_value",
        family="secrets",
        kind="secret",
        gates=(
            rf"(?i){_LONG}[a-z0-9_-]*{_QUOTES}{_SEPARATOR}",
            rf"(?i){_SHORT}[0-9_-]*{_QUOTES}{_SEPARATOR}",
            rf"(?i)(?:{_LONG}[a-z0-9_-]*|{_SHORT})(?:\s|\\[nrt])+(?:is|was|are|to|of|as|provided|value)[^a-z0-9]",
            rf"(?i)-[a-z-]*(?:{_LONG}|{_SHORT})[a-z-]*(?:\s|\\[nrt])",
            rf"(?i){_NAMED}[a-z0-9_. -]*(?:{_LONG}|{_SHORT})",
            rf"(?i)(?:define|setx?)(?:\s|\\t)+[a-z0-9_]*(?:{_LONG}|{_SHORT})",
        ),
        find=key_values,
    ),
)
