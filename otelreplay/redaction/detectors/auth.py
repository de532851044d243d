"""What HTTP headers and command lines carry: bearer and basic credentials, cookies, JSON web tokens, private key blocks."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from otelreplay.redaction.detectors.base import LEFT, Detector, Hit, by_pattern
from otelreplay.redaction.detectors.shape import is_code, is_password, is_random, is_stand_in

_COOKIE: Final = re.compile(
    r"""(?ix) (?: (?:set-)?cookie2?\\{0,3}["']?\s*(?:[:=,]|=>)\s* | \s(?:-b|--cookie)[\s=]+ ) (?:[bB]?\\{0,3}["'])?
    (?P<pairs>[^\n"'\\<>]+)""",
    re.ASCII,
)
_PAIR: Final = re.compile(r"(?P<name>[A-Za-z0-9_.$-]+)=(?P<value>[^;,\s]+)")
_PLAIN_COOKIES: Final = re.compile(
    r"(?i)path|domain|expires|max-age|samesite|lang|language|locale|theme|timezone|tz|currency|country|consent|version|secure|httponly"
    r"|priority|partitioned|_ga|_gid|_gat|cookie_consent|dark_mode|sidebar"
)
"""Attributes of a cookie, and cookies that identify nobody's session."""
_PEM: Final = re.compile(
    r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<body>.*?)"
    r"(?:-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z|(?=-----BEGIN))",
    re.DOTALL,
)
_PUTTY: Final = re.compile(r"Private-Lines: ?[0-9]+\\?[rn\n](?P<body>[A-Za-z0-9+/=\s\\]+)")


def _bearer_ok(match: re.Match[str]) -> bool:
    value = match["secret"]
    return (
        len(value) >= 6
        and not is_stand_in(value)
        and not is_code(value)
        and (is_random(value, 8) or is_password(value) or len(value) >= 24)
    )


def _basic_ok(match: re.Match[str]) -> bool:
    value = match["secret"]
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain or is_random(value, 12)


def cookies(text: str) -> Iterator[Hit]:
    """The values of cookies; a language or a theme is no secret."""
    for header in _COOKIE.finditer(text):
        base = header.start("pairs")
        for pair in _PAIR.finditer(header["pairs"]):
            value = pair["value"]
            if not _PLAIN_COOKIES.fullmatch(pair["name"]) and len(value) >= 4 and not is_stand_in(value) and not is_code(value):
                yield base + pair.start("value"), base + pair.end("value")


def cookie_values(text: str) -> Iterator[Hit]:
    """What a whole ``Cookie`` header holds; a value without a name is the cookie."""
    found = list(cookies(f"cookie: {text}"))
    yield from ((start - 8, end - 8) for start, end in found)
    if not found and is_random(text.strip(), 12):
        yield 0, len(text)


def private_keys(text: str) -> Iterator[Hit]:
    """The lines between the markers of a private key; to the end of the text where the block is cut off."""
    for match in (*_PEM.finditer(text), *_PUTTY.finditer(text)):
        body = match["body"]
        start = match.start("body") + _padding(body)
        end = match.end("body") - _padding(body[::-1])
        if end - start >= 12 and re.search(r"[A-Za-z0-9+/=]{12}", body):
            yield start, end


def _padding(body: str) -> int:
    return len(body) - len(body.lstrip())


DETECTORS = (
    by_pattern(
        "jwt",
        "secrets",
        "secret",
        gate=r"eyJ[A-Za-z0-9_-]",
        exact=LEFT
        + r"ey[A-Za-z0-9_=-]{12,}\.ey[A-Za-z0-9_=-]{6,}(?:\.[A-Za-z0-9_=+/-]*)?(?:\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)?",
        check=lambda m: m[0].startswith("eyJ"),
    ),
    by_pattern(
        "jwe",
        "secrets",
        "secret",
        gate=r"eyJ[A-Za-z0-9_-]",
        exact=LEFT + r"eyJ[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    by_pattern(
        "bearer_token",
        "secrets",
        "secret",
        gate=(r"[Bb][Ee][Aa][Rr][Ee][Rr][ +:%]", r"(?i)authorization[\"'\\]*\s?[:=]"),
        exact=r"(?:(?i:bearer)(?:\s+|%20|\+|: ?)|(?i:authorization)\\?[\"']?\s?[:=]\s?\\?[\"']?[A-Za-z][A-Za-z0-9-]{2,24}\s+)"
        r"(?:token\s*=\s*)?\\?[\"']?(?P<secret>[A-Za-z0-9_.~+/=:-]{6,})",
        group="secret",
        check=_bearer_ok,
    ),
    by_pattern("ntlm_token", "secrets", "secret", gate=r"TlRM[A-Za-z0-9+/]", exact=LEFT + r"TlRM[A-Za-z0-9+/]{24,}={0,2}"),
    by_pattern(
        "legacy_grafana_key",
        "secrets",
        "secret",
        gate=r"eyJr[A-Za-z0-9+/]",
        exact=LEFT + r"eyJr[A-Za-z0-9+/]{60,400}={0,2}(?![A-Za-z0-9+/.])",
    ),
    by_pattern(
        "mysql_password_hash",
        "secrets",
        "secret",
        gate=r"\*[0-9A-F]{4}",
        exact=r"(?P<secret>\*[0-9A-F]{40})(?![0-9A-Za-z])",
        group="secret",
    ),
    by_pattern(
        "jwk_key",
        "secrets",
        "secret",
        gate=r"[\"'](?:[kdpq]|d[pq]|qi)\\*[\"'](?:[\s\x0b]|\\+(?:[nrtf]|u[0-9A-Fa-f]{4}))?:",
        exact=r"[\"'](?:k|d|p|q|dp|dq|qi)\\?[\"']\s?:\s?\\?[\"'](?P<secret>[A-Za-z0-9_-]{20,})\\?[\"']",
        group="secret",
        check=lambda m: is_random(m["secret"], 20),
    ),
    by_pattern(
        "basic_auth",
        "secrets",
        "secret",
        gate=r"[Bb][Aa][Ss][Ii][Cc][ +%]",
        exact=r"(?i:basic)(?:\s+|%20|\+)(?P<secret>[A-Za-z0-9+/_-]{8,}={0,2})",
        group="secret",
        check=_basic_ok,
    ),
    Detector(
        name="cookie",
        family="secrets",
        kind="secret",
        gates=(r"(?i)cookies?2?[\"'\\]*(?:\s|\\[nrt])*[:=,-]", r"(?i)(?:\s|\\[nrt])(?:-b|--cookie)[\s=]"),
        find=cookies,
    ),
    Detector(name="private_key", family="secrets", kind="secret", gates=(r"PRIVATE KEY", r"Private-Lines:"), find=private_keys),
)
