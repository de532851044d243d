"""Numbers that mean a person only by what is written around them: national and tax ids, passports, birth dates, places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otelreplay.redaction.detectors.base import ESCAPE, LEFT, Detector, Hit
from otelreplay.redaction.detectors.checksums import codice_fiscale, luhn

_NAMES: Final = (
    r"SSN|ITIN|AHV|AVS|AADHAAR|Aadhaar|PPSN?|TFN|ABN|ACN|DNI|NIF|NIE|CIF|PNR|HETU|BSN|CPF|CNPJ|PESEL|REGON|NIP|NINO|NHS|SIN|CURP|RFC"
    r"|NIR|INSEE|RRN|NRIC|FIN|UEN|PAN|TCKN|TNIN|CNP|EGN|JMBG|OIB|CPR|FNR|RC|RUT|RUN|CF|VNR|SVNR|NN|NISS|MYNUMBER|MyNumber|EIN|VAT|KVNR"
    r"|CNIC|KTP|NIK|BVN|NIN|IC|PIN|AFM|AMKA|PIC|CUIL|CUIT"
)
"""Short names of schemes, in capitals as they are written."""
_PHRASES: Final = (
    r"social[ _-](?:security|insurance)|national[ _-](?:id|identity|identification|insurance)"
    r"|personal[ _-](?:id|identity|identification)(?: code)?|identity (?:card|code|number)|company identity code"
    r"|tax(?:payer)?[ _-](?:id|identification|file)|steuer-?(?:id|nummer|identifikationsnummer)"
    r"|personnummer|organisationsnummer|samordningsnummer|codice fiscale|partita iva"
    r"|passport|pasaporte|passeport|reisepass|passaporto|driv(?:er'?s?|ing)[ _-]licen[sc]e|(?:my|his|her|their|your) licen[sc]e"
    r"|führerschein|medicare|health (?:card|insurance)|ssn|nationalid|itin|aadhaar|cpf|bsn|nino|taxid|dni|pesel|nric"
)
_LINK: Final = (
    r"(?:[\"'\\]{0,4}\s{0,2}(?:(?:numbers?|num\.?|no\.?|nr\.?|nummer|id|code|card|is|was|es|ist|lautet|#)\b[:.]?\s{0,2}){0,3}"
    r"[:=#]?\s{0,2}[\"'\\(]{0,4})"
)
_VALUE: Final = r"(?P<value>[A-Za-z]{0,5}[0-9][A-Za-z0-9]{0,24}(?:[ ./-][A-Za-z0-9]{0,12}[0-9][A-Za-z0-9]{0,12}){0,5})"
_NAMED: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?P<short>(?:{_NAMES}))(?![A-Za-z0-9])|(?P<phrase>(?i:{_PHRASES}))){_LINK}{_VALUE}(?![A-Za-z0-9])"
)
_PLAIN_ID: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?P<who>[A-Za-z]{0,24})[ ]?\bID(?: number)?(?: is)?[:=]? ?(?P<value>[0-9]{9}|[0-9]{13})(?![0-9A-Za-z-])"
)
_THINGS: Final = re.compile(
    r"(?i)order|session|request|user|trace|run|span|task|job|item|product|ticket|invoice|tracking|message|event|node|process|transaction"
)
_PAN: Final = re.compile(r"[A-Z]{5}[0-9]{4}[A-Z]")
_SSN: Final = re.compile(
    rf"(?:(?<![0-9A-Za-z-])|{ESCAPE})" r"(?!000|666)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9A-Za-z-])"
)
_LETTERED: Final = re.compile(
    LEFT + r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[ABCDEHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]"
    r"(?![A-Za-z0-9])"
)
_BIRTH: Final = re.compile(
    r"(?i)(?:\bborn(?: on)?|\bd\.?o\.?b\.?\b|date[ _-]of[ _-]birth|birth[ _-]?(?:date|day)|geburtsdatum|n[ée]e? le)"
    r"[\"'\\]{0,4}\s{0,2}(?:is|was|on|[:=])?\s{0,2}[\"'\\]{0,4}(?P<value>[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,4}"
    r"|[0-9]{1,2} [A-Za-z]{3,9},? [0-9]{4}|[A-Za-z]{3,9} [0-9]{1,2},? [0-9]{4})(?![0-9])"
)
_GEO: Final = re.compile(
    r"(?i)(?:lat(?:itude)?\s?[/,]\s?lon(?:g|gitude)?|coordinates?|location|geo|gps|position)[\"'\\]{0,4}\s{0,2}(?:is|at|[:=])?"
    r"\s{0,2}[\"'\\(\[]{0,4}(?P<value>-?[0-9]{1,2}\.[0-9]{3,}\s?,\s?-?[0-9]{1,3}\.[0-9]{3,})"
)


def national_ids(text: str) -> Iterator[Hit]:
    """A number after the name of a scheme; the separated form of a US number and a lettered Italian code stand alone."""
    for match in _NAMED.finditer(text):
        value = match["value"]
        digits = sum(c.isdigit() for c in value)
        if (
            digits <= 16
            and len(value) <= 24
            and (digits >= 7 or (digits >= 5 and (match["phrase"] is not None or value[:1].isalpha())) or _PAN.fullmatch(value))
        ):
            yield match.span("value")
    for match in _PLAIN_ID.finditer(text):
        if not _THINGS.fullmatch(match["who"]) and luhn(match["value"]):
            yield match.span("value")
    for match in _SSN.finditer(text):
        yield match.span()
    for match in _LETTERED.finditer(text):
        if codice_fiscale(match[0]):
            yield match.span()


def births(text: str) -> Iterator[Hit]:
    """A date after ``born`` or ``DOB``."""
    for match in _BIRTH.finditer(text):
        yield match.span("value")


def places(text: str) -> Iterator[Hit]:
    """A pair of coordinates after a word that says so."""
    for match in _GEO.finditer(text):
        yield match.span("value")


DETECTORS = (
    Detector(
        name="national_id",
        family="pii",
        kind="national_id",
        gates=(
            rf"(?:{_NAMES})[^A-Za-z0-9]",
            r"(?i)(?:ssn|national_?id|itin|aadhaar|cpf|bsn|nino|tax_?id|dni|pesel|nric)[\"'\\]+\s*:",
            r"ID(?: number)?(?: is)?[:=]? ?[0-9]{9}",
            r"[0-9]{3}-[0-9]{2}-[0-9]{4}",
            r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[A-Z]",
            r"(?i)social[ _-](?:security|insurance)|national[ _-]i|personal[ _-]i|identity c|identity number",
            r"(?i)tax(?:payer)?[ _-](?:id|file)|steuer-?(?:id|nummer)|(?:person|organisations|samordnings)nummer",
            r"(?i)codice fiscale|partita iva",
            r"(?i)reisepass|licen[cs]e|pas(?:sport|aporte|seport|saporto)|hrerschein|medicare|health (?:card|insurance)",
        ),
        needs=(r"[0-9][ ./-]?[0-9]", r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[A-Z]"),
        find=national_ids,
    ),
    Detector(
        name="birth_date",
        family="pii",
        kind="date",
        gates=(r"(?i)born|d\.?o\.?b|birth|geburt|n(?:e|\xe9|\xc3\xa9|\\u00e9)e? le",),
        needs=(r"[0-9]{4}|[0-9][-/. ][0-9]",),
        find=births,
    ),
    Detector(
        name="coordinates", family="pii", kind="coordinates", gates=(r"[0-9]\.[0-9]+\s?,\s?-?[0-9]+\.[0-9]",), find=places
    ),
)
