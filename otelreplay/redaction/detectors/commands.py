"""Passwords in command lines, SQL, comparisons and markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otelreplay.redaction.detectors.base import Detector, Hit
from otelreplay.redaction.detectors.keyvalue import wanted
from otelreplay.redaction.detectors.shape import is_code, is_password, is_random, is_stand_in

_COMMAND: Final = re.compile(
    r"""(?x) \b(?:curl|wget|http|https)\b[^\n|]{0,300}?\s(?:-u|--user|--proxy-user)[\s=]+
        \\?["']?[^\s:"'$]{1,64}:(?P<a>[^\s"']{3,128})
      | \bsshpass\s+-p\s*\\?["']?(?P<b>[^\s"'\\]{3,128})
      | \b(?:mysql|mysqldump|mariadb)\b[^\n|]{0,200}?\s-p(?P<c>[^\s"']{4,128})
      | \b(?:sqlcmd|bcp)\b[^\n|]{0,200}?\s-P\s*\\?["']?(?P<d>[^\s"'\\]{4,128})
      | (?i:identified\s+by|login\s+password|with\s+password|encrypted\s+password|convertto-securestring)\s+
        \\?["']?(?P<e>[^\s"'\\;]{4,128})
    """
)
_COMPARED: Final = re.compile(
    r"""(?x) ["'](?P<value>[^"'\s]{4,128})["']\s*(?:===?|!==?)\s*(?:\w+[._])*
    (?i:\w*password|\w*passwd|\w*pwd|\w*secret|\w*api_?key|\w*private_key|\w*token)\b"""
)
_XML: Final = re.compile(r"""<(?P<name>[A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>(?P<value>[^<>]{3,4096})</""")


def commands(text: str) -> Iterator[Hit]:
    """Passwords given on a command line or in SQL."""
    for match in _COMMAND.finditer(text):
        group = str(match.lastgroup)
        value = match[group]
        if not is_stand_in(value) and not is_code(value) and (is_password(value) or is_random(value, 8)):
            yield match.span(group)


def comparisons(text: str) -> Iterator[Hit]:
    """``if ("..." == password)``."""
    for match in _COMPARED.finditer(text):
        value = match["value"]
        if not is_stand_in(value) and (is_password(value) or is_random(value, 8)):
            yield match.span("value")


def elements(text: str) -> Iterator[Hit]:
    """``<password>...</password>``."""
    for match in _XML.finditer(text):
        if wanted(match["name"], match["value"], quoted=True):
            yield match.span("value")


DETECTORS = (
    Detector(
        name="command_password",
        family="secrets",
        kind="secret",
        gates=(
            r"(?:-u|--user|--proxy-user)[\s\\=]",
            r"sshpass|mysql|mariadb|sqlcmd|bcp",
            r"(?i)identified(?:\s|\\[nrt])|(?:login|with|encrypted)(?:\s|\\[nrt])+password|securestring",
        ),
        find=commands,
    ),
    Detector(
        name="compared_secret",
        family="secrets",
        kind="secret",
        gates=(r"(?i)[\"'](?:\s|\\[nrt])*[!=]==?(?:\s|\\[nrt])*[a-z0-9_.]*(?:pass|pwd|secret|key|token)",),
        find=comparisons,
    ),
    Detector(
        name="xml_value",
        family="secrets",
        kind="secret",
        gates=(
            r"(?i)<[a-z0-9_.:-]*(?:pass|pwd|secret|token|key|auth|cred|sig|salt|sess|sid|jwt|dsn|pin|cvv|otp|psk|api|srt|login|phrase)",
        ),
        find=elements,
    ),
)
