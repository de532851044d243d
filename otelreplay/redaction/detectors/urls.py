"""Credentials inside URLs: ``user:password@host``, signed query values, tokens as a step of the path."""

from __future__ import annotations

import re
from typing import Final

from otelreplay.redaction.detectors.base import by_pattern
from otelreplay.redaction.detectors.shape import is_code, is_password, is_random, is_stand_in

_SIGNED: Final = (
    r"X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|X-Goog-Signature|X-Goog-Credential|sig|signature|AWSAccessKeyId|Key-Pair-Id"
    r"|Policy|hmac|hash|sign|access_token|refresh_token|id_token|auth_token|token|code|client_secret|api[-_]?key|key|secret|password|pwd"
    r"|pass|auth|session|sid|jwt|st|hdnea|_signature|credential"
)
_ALWAYS: Final = frozenset(
    ("x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential", "sig", "signature")
)
_SLASHES: Final = r":\\?/\\?/"
_GATE_SLASHES: Final = r":\\*/\\*/"
"""In JSON in JSON a slash may carry any number of backslashes."""
_AND: Final = r"(?:[?&;]|%3[fF]|%26|&amp;|\\u0026"


def _password_ok(match: re.Match[str]) -> bool:
    value = match["secret"]
    return not is_stand_in(value) and not is_code(value)


def _query_ok(match: re.Match[str]) -> bool:
    value, name = match["secret"], match["name"].lower()
    if is_stand_in(value):
        return False
    if name in _ALWAYS:
        return len(value) >= 6
    return is_random(value, 8) or is_password(value)


DETECTORS = (
    by_pattern(
        "url_password",
        "secrets",
        "secret",
        gate=rf"{_GATE_SLASHES}[^\s/@\"'<>:]*:[^\s\"'<>/]+@",
        exact=rf"(?<![A-Za-z0-9+.])[A-Za-z][A-Za-z0-9+.-]{{0,24}}{_SLASHES}[^\s/@\"'<>:\\]{{0,64}}:"
        r"(?P<secret>[^\s\"'<>@/]{1,96}(?:@[^\s\"'<>@/:]{0,40}(?=@))?)@(?=[A-Za-z0-9_.\[{$<%-])",
        group="secret",
        check=_password_ok,
    ),
    by_pattern(
        "url_token",
        "secrets",
        "secret",
        gate=rf"{_GATE_SLASHES}[A-Za-z0-9_-]+@",
        exact=rf"(?<![A-Za-z0-9+.])[A-Za-z][A-Za-z0-9+.-]{{0,24}}{_SLASHES}(?P<secret>[A-Za-z0-9_-]{{20,64}})@(?=[A-Za-z0-9])",
        group="secret",
        check=lambda m: is_random(m["secret"], 16),
    ),
    by_pattern(
        "signed_query",
        "secrets",
        "secret",
        gate=rf"(?i)(?:{_SIGNED})(?:=|%3d)[^\s&]",
        exact=rf"(?i){_AND}|#)(?P<name>(?:{_SIGNED}))(?:=|%3d)(?P<secret>[^\s&\"'<>#\\;)\]}},`]+)",
        group="secret",
        check=_query_ok,
    ),
    by_pattern(
        "path_token",
        "secrets",
        "secret",
        gate=r"/(?i:token|key|secret|reset|verify|verification|invite|confirm)\\*/[A-Za-z0-9_-]",
        exact=r"/(?i:token|key|secret|reset|verify|verification|invite|confirm)\\?/(?P<secret>[A-Za-z0-9_-]{20,256})(?![A-Za-z0-9_-])",
        group="secret",
        check=lambda m: is_random(m["secret"], 20),
    ),
)
