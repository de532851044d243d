"""E-mail addresses, bank and card numbers, wallets, coordinates: what carries its own check or shape."""

from __future__ import annotations

import re
from typing import Final

from otelreplay.redaction.detectors.base import ESCAPE, LEFT, RIGHT, by_pattern
from otelreplay.redaction.detectors.checksums import base58check, luhn, mod97

_SPACES: Final = "\u00a0\u2000-\u200a\u202f"
"""Spaces that a typesetter puts between groups of digits; a gate sees their UTF-8."""
_SPACED: Final = r"(?:\xc2\xa0|\xe2\x80[\x80-\x8a\xaf])"
_WIDE: Final = r"\xef\xbc[\x90-\x99]"
_DIGITS: Final = {0xFF10 + n: str(n) for n in range(10)}

IBAN_LENGTHS: Final = {
    code: length
    for length, codes in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for code in codes.split()
}
"""Length by country, from the IBAN registry."""

CARD: Final = re.compile(
    r"4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[689][0-9])[0-9]{11}|3(?:0[0-59]|[689][0-9])[0-9]{13}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}(?:[0-9]{3})?|35(?:2[89]|[3-8][0-9])[0-9]{12}"
    r"|(?:50[0-9]{2}|5[6-8][0-9]{2}|6[0-9]{3})[0-9]{9,15}|2131[0-9]{11}|1800[0-9]{11}"
)
"""The number ranges of the large card schemes, by their published issuer prefixes and lengths."""


def is_card(digits: str) -> bool:
    """A number of a known scheme that passes the Luhn check, and is not one digit over and over."""
    return CARD.fullmatch(digits) is not None and luhn(digits) and len(set(digits)) > 1


def is_iban(text: str) -> bool:
    """Country, length and check digits agree."""
    return IBAN_LENGTHS.get(text[:2]) == len(text) and mod97(text)


def _iban_ok(match: re.Match[str]) -> bool:
    return is_iban(re.sub(r"[\s-]", "", match["value"]).upper())


def _card_ok(match: re.Match[str]) -> bool:
    return is_card(re.sub(rf"[ .{_SPACES}-]", "", match["value"]))


def _narrow(text: str) -> str:
    """Full-width digits as plain ones, place for place."""
    return text if text.isascii() else text.translate(_DIGITS)


_USERINFO: Final = re.compile(r"://[^\s/@]*\Z")
"""What stands before an ``@`` here is a user and password, not a mailbox."""


_VERSION: Final = re.compile(r"v?[0-9]+\.")
"""What stands after the @ in the name of a release, as ``package@1.0.beta-2``."""


def _mail_ok(match: re.Match[str]) -> bool:
    local, host = match["local"], match["host"]
    if _USERINFO.search(match.string, max(0, match.start() - 80), match.start()) is not None:
        return False
    if local in ("git", "hg", "svn") and match.string[match.end() : match.end() + 1] == ":":
        return False
    if match.string[match.end() : match.end() + 1] == "-" and _VERSION.match(host) is not None:
        return False
    return (
        ".." not in local
        and not local.endswith(".")
        and not host.lower().endswith((".png", ".jpg", ".svg", ".gif", ".js", ".css", ".invalid"))
    )


def _iban_exact() -> str:
    """One alternative a length: RE backtracking would otherwise stop at a longer run that fails its check."""
    sizes = sorted(set(IBAN_LENGTHS.values()))
    by_size = {n: "|".join(sorted(c for c, m in IBAN_LENGTHS.items() if m == n)) for n in sizes}
    parts = (rf"(?:{codes})[0-9]{{2}}(?:[ {_SPACES}-]?[A-Z0-9]){{{n - 4}}}" for n, codes in by_size.items())
    return LEFT + "(?P<value>" + "|".join(parts) + ")" + RIGHT


DETECTORS = (
    by_pattern(
        "email",
        "pii",
        "email",
        gate=r"[A-Za-z0-9_%+'*!#$&/=?^`{|}~-](?:@|%40)[A-Za-z0-9\[-]",
        exact=r"(?<![A-Za-z0-9._%+-])(?P<local>[A-Za-z0-9_+][A-Za-z0-9._+'~-]{0,255})@(?P<host>(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,22}[A-Za-z])(?:(?![A-Za-z0-9-])|(?=-(?![A-Za-z])))",
        check=_mail_ok,
    ),
    by_pattern(
        "credit_card",
        "pii",
        "credit_card",
        gate=(r"[0-9]{4}[ .-]?[0-9]{4}[0-9 .-]{2,3}[0-9]", rf"[0-9]{{4}}{_SPACED}[0-9]{{4}}", rf"(?:{_WIDE}){{4}}"),
        exact=rf"(?:(?<![0-9A-Za-z])(?<![0-9]\.)|{ESCAPE})(?<![0-9][ .{_SPACES}-])"
        rf"(?P<value>[1-6][0-9]{{3}}(?P<sep>[ .{_SPACES}-]?)[0-9]{{4,6}}(?:(?P=sep)[0-9]{{2,6}}){{0,3}})"
        rf"(?![0-9A-Za-z])(?![ .{_SPACES}-][0-9])",
        group="value",
        check=_card_ok,
        seen=_narrow,
    ),
    by_pattern(
        "iban",
        "pii",
        "iban",
        gate=(r"[A-Z]{2}[0-9]{2}[ -]?[A-Z0-9]{4}[ -]?[A-Z0-9]{3}", rf"[A-Z]{{2}}[0-9]{{2}}{_SPACED}[A-Z0-9]{{4}}"),
        exact=_iban_exact(),
        group="value",
        check=_iban_ok,
    ),
    by_pattern(
        "crypto_wallet",
        "pii",
        "crypto_wallet",
        gate=(r"[1-9A-HJ-NP-Za-km-z]{26}", r"bc1[a-z0-9]{16}"),
        exact=LEFT + r"(?P<value>[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[ac-hj-np-z02-9]{25,62})" + RIGHT,
        group="value",
        check=lambda m: m["value"].startswith("bc1") or base58check(m["value"]),
    ),
)
