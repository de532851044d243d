"""How the tables of tokens become detectors: a fixed prefix, then characters of one class."""

from __future__ import annotations

import re

from otelreplay.redaction.detectors.base import LEFT, RIGHT, Detector, by_pattern
from otelreplay.redaction.detectors.shape import is_random, is_stand_in

WORD = r"[A-Za-z0-9]"
URLSAFE = r"[A-Za-z0-9_-]"
BASE64 = r"[A-Za-z0-9+/]"
HEX = r"[0-9a-f]"


def token(
    name: str,
    prefix: str,
    body: str,
    least: int,
    most: int | None = None,
    *,
    tail: str = "",
    sure: bool = False,
    gate: str = "",
) -> Detector:
    """A credential that begins with ``prefix`` (a pattern without groups).

    ``gate`` is given where the prefix does not begin with fixed characters. ``sure``: the prefix is telling enough that the
    rest need not look random (some real tokens are lower-case letters only).
    """

    def check(match: re.Match[str]) -> bool:
        rest = match["body"]
        return sure or is_random(rest, min(least, 10)) or (len(rest) >= 32 and not is_stand_in(rest))

    return by_pattern(
        name,
        "secrets",
        "secret",
        gate=gate or prefix + body,
        exact=f"{LEFT}(?P<secret>{prefix}(?P<body>{body}{{{least},{'' if most is None else most}}}){tail}(?<!\\.)){RIGHT}",
        group="secret",
        check=check,
    )


def shaped(name: str, gate: str | tuple[str, ...], exact: str, *, group: int | str = 0, random: bool = False) -> Detector:
    """A credential with a shape of its own; ``exact`` comes without its boundaries."""

    def check(match: re.Match[str]) -> bool:
        return is_random(match[group])

    return by_pattern(
        name,
        "secrets",
        "secret",
        gate=gate,
        exact=LEFT + exact + r"(?<!\.)" + RIGHT,
        group=group,
        check=check if random else None,
    )
