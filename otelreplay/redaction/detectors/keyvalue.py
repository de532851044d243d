"""Secrets that only their key gives away: ``password=...``, ``'api_key': '...'``, ``--token ...``, ``<secret>...``, "my password is ...".

Theory of operation. A search for the telling words finds places; around each the whole key is read, and :mod:`keys` says what it
means. What follows must be a separator and a value. A *strong* key hides any value that is not a stand-in, a variable or code; a
*weak* one (``token``, ``key``) only what looks random. Prose ("the password is wrong") needs a value that is no word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otelreplay.redaction.detectors.base import Detector, Hit
from otelreplay.redaction.detectors.shape import is_code, is_password, is_random, is_reference, is_stand_in
from otelreplay.redaction.keys import VENDORS, sense

_LEAD: Final = re.compile(
    r"(?i)pass|pwd|pasw|pswd|\bpw\b|pw:|secret|token|api[-_ ]?key|key|auth|cred|cookie|signature|psk|sig\b|salt|session|\bsid\b|bearer|login|phrase|dsn|srt|jwt|otp|"
    r"identified|connection.?string|\bpin\b|cvv"
)
_NAME_LEFT: Final = re.compile(r"[A-Za-z0-9_.$@%-]*\Z")
_NAME_RIGHT: Final = re.compile(r"[A-Za-z0-9_-]*")
_SPACED: Final = re.compile(r"(?:(?<=[a-z] )|(?<=^))?")
_ASSIGN: Final = re.compile(
    r"""(?x)
    (?:\\?["'`]|&quot;|&\#39;){0,2} (?:\]|\))? \s{0,8}
    (?: :=|=>|->|===?|!==?|\?=|\+=|\|\|=|=|: (?!//) | , (?=\s*["'b\\]) | > (?!\s) )
    \s{0,8} (?:\n\s{2,12})? (?:\(\s*)? (?:[@bfru]{1,2}(?=["']))?
    """
)
_QUOTED: Final = re.compile(
    r"""(?xs) (?P<q>\\{0,7}(?:"{3}|'{3}|["'`])|&quot;|&\#39;) (?P<value>(?:(?!(?P=q)).){1,4096}) (?P=q) """
)
_BARE: Final = re.compile(r"""[^\s"'`<>,;&|\\)\]}]{3,4096}""")
_YAML: Final = re.compile(r"""[^\s"'`<>{}\[\]][^\n"'`<>{}\[\]]{2,200}""")
_PROSE: Final = re.compile(
    r"""(?ix) \s+ (?:is|was|are|to|of|as|provided|value|=|:)(?:\s+(?:now|set\s+to|changed\s+to|called|still|:))? \s* [:=]? \s* (?P<q>\\?["'`]?) (?P<value>[^\s"'`<>,;]{5,512}) """
)
_OPTION: Final = re.compile(r"""(?x) \s+ (?P<q>\\?["']?) (?P<value>[^\s"'`<>|;]{3,1024}) """)
_XML: Final = re.compile(r"""<(?P<name>[A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>(?P<value>[^<>]{3,4096})</""")
_MULTILINE: Final = re.compile(r"""[|>][+-]?\s*\n(?P<value>(?:[ \t]+\S[^\n]*\n?)+)""")


def _key_around(text: str, at: int) -> tuple[int, int]:
    left = _NAME_LEFT.search(text, max(0, at - 64), at)
    right = _NAME_RIGHT.match(text, at)
    start, end = (left.start() if left else at), (right.end() if right else at)
    while start < end and text[start] in "-.$@%":
        start += 1
    return start, end


def _wanted(key: str, value: str, *, quoted: bool) -> bool:
    """Whether ``value`` is a secret under ``key``."""
    meaning = sense(key)
    if meaning not in ("strong", "weak") or len(value) < 3 or is_stand_in(value):
        return False
    if not quoted and is_code(value):
        return False
    if meaning == "strong":
        if quoted:
            return not (is_code(value) and value.endswith((")", "]"))) and not (is_reference(value) and len(value) > 24)
        return (
            is_password(value)
            or is_random(value, 8)
            or (not is_reference(value) and len(value) >= 6)
            or (len(value) >= 20 and not is_reference(value))
        )
    return is_random(value, 14 if VENDORS.search(key) else 16) or (
        quoted and bool(VENDORS.search(key)) and is_password(value) and len(value) >= 12
    )


def key_values(text: str) -> Iterator[Hit]:
    """Values after a telling key, in any of the usual notations."""
    seen = -1
    for lead in _LEAD.finditer(text):
        if lead.start() < seen:
            continue
        start, end = _key_around(text, lead.start())
        if end < lead.end():
            end = lead.end()
        key = text[start:end]
        if not sense(key):
            # "api key", "auth token": the key may be of two words
            continue
        hit = _value_of(text, start, end, key)
        if hit is not None:
            seen = hit[1]
            yield hit


def _value_of(text: str, start: int, end: int, key: str) -> Hit | None:
    assign = _ASSIGN.match(text, end)
    if assign is not None:
        return _assigned(text, assign.end(), key)
    if text[max(0, start - 2) : start].endswith("-"):
        option = _OPTION.match(text, end)
        if (
            option is not None
            and not option["value"].startswith("-")
            and _wanted(key, option["value"], quoted=True)
            and not is_code(option["value"])
        ):
            return option.span("value")
        return None
    prose = _PROSE.match(text, end)
    if prose is not None:
        value = prose["value"].rstrip(".?!)")
        if not is_stand_in(value) and (is_password(value) if sense(key) == "strong" else is_random(value, 12)):
            return prose.start("value"), prose.start("value") + len(value)
    return None


def _assigned(text: str, at: int, key: str) -> Hit | None:
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        return quoted.span("value") if _wanted(key, quoted["value"], quoted=True) else None
    block = _MULTILINE.match(text, at)
    if block is not None and sense(key) == "strong":
        return block.span("value")
    bare = _BARE.match(text, at)
    if bare is None:
        return None
    value = bare[0].rstrip(".:" if not bare[0].endswith("==") else "")
    return (bare.start(), bare.start() + len(value)) if _wanted(key, value, quoted=False) else None


def xml_values(text: str) -> Iterator[Hit]:
    """``<password>...</password>``."""
    for match in _XML.finditer(text):
        if _wanted(match["name"], match["value"], quoted=True):
            yield match.span("value")


_SHELL: Final = re.compile(
    r"""(?x) (?:\bcurl\b[^\n|]{0,300}?\s(?:-u|--user|--proxy-user)[\s=]+["']?[^\s:"'$]{1,64}:(?P<a>[^\s"'@$]{3,128})
      | \b(?:sshpass)\s+-p\s*["']?(?P<b>[^\s"']{3,128}) | \b(?:mysql|mysqldump|mariadb)\b[^\n|]{0,200}?\s-p(?P<c>[^\s"']{4,128})
      | (?i:identified\s+by|login\s+password|with\s+password|encrypted\s+password)\s+["']?(?P<d>[^\s"';]{4,128})
      | ["'](?P<e>[^"'\s]{4,128})["']\s*(?:===?|!==?)\s*(?:\w+[._])*(?:password|passwd|pwd|secret|api_?key|private_key|token|my_password\w*)\b )"""
)


def commands(text: str) -> Iterator[Hit]:
    """Passwords in command lines, SQL and comparisons."""
    for match in _SHELL.finditer(text):
        group = str(match.lastgroup)
        value = match[group]
        if not is_stand_in(value) and not is_code(value) and (is_password(value) or is_random(value, 8)):
            yield match.span(group)


_WORDS = r"(?:pass|pwd|pasw|pswd|secret|token|key|auth|cred|cookie|signature|psk|sig|salt|session|sid|bearer|login|phrase|dsn|srt|jwt|otp|string|pin|cvv)"
DETECTORS = (
    Detector(
        name="key_value", family="secrets", kind="secret",
        gates=(rf"(?i){_WORDS}[A-Za-z0-9_-]{{0,40}}[^A-Za-z0-9]{{1,24}}[A-Za-z0-9!-~]", r"(?i)pw[\"'\\]{0,4}\s?[:=]"),
        find=key_values,
    ),
    Detector(name="xml_value", family="secrets", kind="secret", gates=(rf"(?i){_WORDS}[A-Za-z0-9_.:-]{{0,40}}[^<>]{{0,64}}>[^<>\s]",), find=xml_values),
    Detector(
        name="command_password", family="secrets", kind="secret",
        gates=(r"-u|--user|--proxy-user", r"sshpass|mysql|mariadb", r"(?i)identified\s+by|password\s", r"[\"']\s*[!=]=="),
        find=commands,
    ),
)  # fmt: skip
