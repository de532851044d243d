"""Credentials inside URLs and connection strings: ``user:password@host`` and signed query values."""

from __future__ import annotations

import re
from typing import Final

from otelreplay.redaction.detectors.base import by_pattern
from otelreplay.redaction.detectors.shape import is_code, is_password, is_random, is_stand_in

_SIGNED: Final = (
    r"X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|X-Goog-Signature|X-Goog-Credential|sig|signature|Signature|AWSAccessKeyId|Key-Pair-Id|Policy"
    r"|hmac|hash|sign|access_token|refresh_token|id_token|auth_token|token|code|client_secret|api[-_]?key|key|secret|password|pwd|pass|auth|session|sid|jwt|st|hdnea|_signature"
)
_ALWAYS: Final = frozenset(
    "x-amz-signature x-amz-credential x-amz-security-token x-goog-signature x-goog-credential sig signature".split()
)


def _password_ok(match: re.Match[str]) -> bool:
    value = match["secret"]
    return not is_stand_in(value) and not is_code(value) and not value.startswith(("//", "<", "${", "{{"))


def _query_ok(match: re.Match[str]) -> bool:
    value, name = match["secret"], match["name"].lower()
    if is_stand_in(value):
        return False
    if name in _ALWAYS:
        return len(value) >= 6
    return is_random(value, 8) or is_password(value)


DETECTORS = (
    by_pattern(
        "url_password", "secrets", "secret",
        gate=r":\\?/\\?/[^\s/@\"'<>:]{0,64}:[^\s\"'<>]{1,96}@",
        exact=r"[A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/(?P<user>[^\s/@\"'<>:\\]{0,64}):(?P<secret>[^\s\"'<>@]{1,96}(?:@[^\s\"'<>@/:]{0,40}(?=@))?)@(?=[A-Za-z0-9_.\[{$<%-])",
        group="secret", check=_password_ok,
    ),
    by_pattern(
        "url_token", "secrets", "secret",
        gate=r":\\?/\\?/[A-Za-z0-9_-]{20,64}@",
        exact=r"[A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/(?P<secret>[A-Za-z0-9_-]{20,64})@(?=[A-Za-z0-9])",
        group="secret", check=lambda m: is_random(m["secret"], 16),
    ),
    by_pattern(
        "signed_query", "secrets", "secret",
        gate=rf"(?i)(?:[?&;]|%3[fF]|%26|&amp;|\\u0026|[a-z0-9-])(?:{_SIGNED})(?:=|%3[dD])[^\s&]",
        exact=rf"(?i)(?:[?&;#]|%3f|%26|&amp;|\\u0026)(?P<name>(?:{_SIGNED}))(?:=|%3d)(?P<secret>[^\s&\"'<>#\\;)\]}},`]+)",
        group="secret", check=_query_ok,
    ),
)  # fmt: skip
