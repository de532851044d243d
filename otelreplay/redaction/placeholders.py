"""Placeholders: what stands where a policy took text away. They name the rule, never the text.

Grammar (``RULE`` is a rule id: lower-case letters, digits, ``_``, ``.``, ``-``; ``B32`` is ``a-z2-7``):

    mask       [REDACTED:RULE]
    drop       [DROPPED:RULE]            where something must stand: inside a text, as an item of a list
    truncate   ...[TRUNCATED:RULE]       after the text that was kept
    hash       [RULE#sha256:32 hex]      keyed; the same text gives the same hash under one key and epoch
    pseudonym  [RULE#16 B32]             keyed; the same text gives the same pseudonym under one key and epoch
               16 B32@RULE.invalid       format-keeping, for e-mail addresses (``_`` and ``.`` of the rule become ``-``)

None of them holds a character that JSON, XML attribute text, a URL's path or a Python literal would need to escape, so that
one can be written into any of these without changing what surrounds it. ``.invalid`` is reserved (RFC 6761), so no address of
a person can look like the e-mail form.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

RULE_ID: Final = r"[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?"
"""What a rule may be called."""

PLACEHOLDER: Final = re.compile(
    rf"\[(?:(?P<made>REDACTED|DROPPED|TRUNCATED):(?P<rule>{RULE_ID})"
    rf"|(?P<keyed>{RULE_ID})#(?:sha256:(?P<hash>[0-9a-f]{{32}})|(?P<pseudonym>[a-z2-7]{{16}})))\]"
    rf"|(?<![a-zA-Z0-9._%+-])(?P<local>[a-z2-7]{{16}})@(?P<mail>{RULE_ID})\.invalid(?![a-zA-Z0-9-]|\.[a-zA-Z])"
)
"""Finds placeholders in a text."""

_MADE: Final = ("[REDACTED:", "[DROPPED:", "[TRUNCATED:")
_KEYED: Final = re.compile(r"\[[a-z0-9][a-z0-9_.-]*#")
_ACTIONS: Final = {"REDACTED": "mask", "DROPPED": "drop", "TRUNCATED": "truncate"}


class Placeholder(msgspec.Struct, frozen=True, order=True):
    """One placeholder of a recording: a typed hole at replay."""

    text: str
    """The placeholder as it stands."""
    rule: str
    kind: str
    """What a fresh value must be to fit the hole: ``email``, ``phone``, ``secret``, ... ``any`` where the rule does not say."""
    detector: str = ""
    """Detector or group that the rule selects; empty for a rule by path, attribute or registered secret."""


class Found(msgspec.Struct, frozen=True):
    """A placeholder seen in a text."""

    start: int
    end: int
    text: str
    rule: str
    action: str


def mail_label(rule: str) -> str:
    """The host label that stands for a rule in the e-mail form."""
    return rule.replace("_", "-").replace(".", "-")


def may_hold_placeholder(text: str) -> bool:
    """Whether something in ``text`` begins or ends like a placeholder: a quick question before :func:`find_placeholders`."""
    if any(made in text for made in _MADE) or ".invalid" in text:
        return True
    return "#" in text and _KEYED.search(text) is not None


def find_placeholders(text: str) -> list[Found]:
    """Every placeholder in ``text``, left to right."""
    if "[" not in text and ".invalid" not in text:
        return []
    return [_found(m) for m in PLACEHOLDER.finditer(text)]


def is_placeholder(text: str) -> bool:
    """Whether all of ``text`` is one placeholder."""
    return PLACEHOLDER.fullmatch(text) is not None


def _found(m: re.Match[str]) -> Found:
    if m["made"]:
        rule, action = m["rule"], _ACTIONS[m["made"]]
    elif m["keyed"]:
        rule, action = m["keyed"], "hash" if m["hash"] else "pseudonym"
    else:
        rule, action = m["mail"], "pseudonym"
    return Found(m.start(), m.end(), m[0], rule, action)
