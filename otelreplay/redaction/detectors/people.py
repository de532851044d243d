"""Numbers that mean a person only by what is written around them: telephone, national and tax ids, passports, birth dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from otelreplay.redaction.detectors.base import Detector, Hit
from otelreplay.redaction.detectors.checksums import codice_fiscale, luhn

_BEFORE: Final = 56
"""How far back a word of context may stand."""

_RUN: Final = re.compile(
    r"(?<![\w.,+/:=#$€£-])(?<![0-9] )(?:\+ ?|00)?\(?[0-9][0-9 ().\u00a0/-]{4,22}[0-9](?![\w/]|[.,:-][0-9])", re.ASCII
)
_RUN_PLUS: Final = re.compile(r"\+ ?\(?[1-9][0-9 ().\u00a0-]{5,20}[0-9](?![0-9A-Za-z])", re.ASCII)
_NANP: Final = re.compile(r"(?:\+?1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[2-9][0-9]{2}[ .-][0-9]{4}")
_DATE: Final = re.compile(
    r"(?:19|20)[0-9]{2}[-/. ](?:0?[1-9]|1[0-2])[-/. ](?:0?[1-9]|[12][0-9]|3[01])\b|(?:0?[1-9]|[12][0-9]|3[01])[-/.](?:0?[1-9]|1[0-2])[-/.](?:19|20)?[0-9]{2}$|(?:19|20)[0-9]{2} ?- ?(?:19|20)[0-9]{2}$"
)
_PHONE_WORD: Final = re.compile(
    r"(?i)(?:phone|tele?fono?|telefon\w*|\btel\b|mobile|m[oó]vil|cell(?:ular)?\b|handy|\bcall(?:ing|ed)?[ :;,.!?]|\btext(?:ing)?\b (?:me|him|her|us|them|to)?|please text|fax|\bsms\b"
    r"|whats\s?app|\bdial|\bring\b|\bcontact|\breach\b|answer\w* (?:at|on)|messages? (?:to|on|at)|registered(?: number)?|hotline)[^0-9+\n]{0,28}\n?[^0-9+\n]{0,8}$"
)
_PHONE_AFTER: Final = re.compile(r"(?i)^[ ,\\(-]{1,3}(?:office|fax|mobile|cell|home|work|tel|phone)\b")

_NAMES: Final = (
    r"SSN|ITIN|AHV|AVS|AADHAAR|Aadhaar|PPSN?|TFN|ABN|ACN|DNI|NIF|NIE|CIF|PNR|HETU|BSN|CPF|CNPJ|PESEL|REGON|NIP|NINO|NHS|SIN|CURP|RFC|NIR|INSEE|RRN|NRIC|FIN|UEN|PAN|TCKN|TNIN"
    r"|CNP|EGN|JMBG|OIB|CPR|FNR|RC|RUT|RUN|CF|VNR|SVNR|NN|NISS|MYNUMBER|MyNumber|EIN|VAT|KVNR|CNIC|KTP|NIK|BVN|NIN|IC|PIN|AFM|AMKA|EGN|PIC|CUIL|CUIT"
)
_PHRASES: Final = (
    r"social[ _-](?:security|insurance)|national[ _-](?:id|identity|identification|insurance)|personal[ _-](?:id|identity|identification)(?: code)?|identity (?:card|code|number)"
    r"|company identity code|tax(?:payer)?[ _-](?:id|identification|file)|steuer-?(?:id|nummer|identifikationsnummer)|personnummer|organisationsnummer|samordningsnummer"
    r"|codice fiscale|partita iva|passport|pasaporte|passeport|reisepass|passaporto|driv(?:er'?s?|ing)[ _-]licen[sc]e|(?:my|his|her|their|your) licen[sc]e|führerschein|medicare|health (?:card|insurance)"
)
_LINK: Final = r"(?:[\"'\\]{0,4}\s{0,2}(?:(?:numbers?|num\.?|no\.?|nr\.?|nummer|id|code|card|is|was|es|ist|lautet|#)\b[:.]?\s{0,2}){0,3}[:=#]?\s{0,2}[\"'\\(]{0,4})"
_VALUE: Final = r"(?P<value>[A-Za-z]{0,5}[0-9][A-Za-z0-9]*(?:[ ./-][A-Za-z0-9]*[0-9][A-Za-z0-9]*){0,5})"
_NAMED: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?P<short>(?:{_NAMES}))(?![A-Za-z0-9])|(?P<phrase>(?i:{_PHRASES}))){_LINK}{_VALUE}(?![A-Za-z0-9])"
)
_PLAIN_ID: Final = re.compile(
    rf"(?<![A-Za-z0-9_-])(?P<who>[A-Za-z]*)[ ]?\bID(?: number)?(?: is)?[:=]? ?(?P<value>[0-9]{{9}}|[0-9]{{13}})(?![0-9A-Za-z-])"
)
_THINGS: Final = frozenset(
    "order session request user trace run span task job item product ticket invoice tracking message event node process transaction".split()
)
_PAN: Final = re.compile(r"[A-Z]{5}[0-9]{4}[A-Z]")
_SSN: Final = re.compile(r"(?<![0-9A-Za-z-])(?!000|666)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9A-Za-z-])")
_LETTERED: Final = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{6}[0-9LMNPQRSTUV]{2}[ABCDEHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z](?![A-Za-z0-9])"
)
_BIRTH: Final = re.compile(
    r"(?i)(?:\bborn(?: on)?|\bd\.?o\.?b\.?\b|date[ _-]of[ _-]birth|birth[ _-]?(?:date|day)|geburtsdatum|n[ée]e? le)[\"'\\]{0,4}\s{0,2}(?:is|was|on|[:=])?\s{0,2}[\"'\\]{0,4}"
    r"(?P<value>[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,4}|[0-9]{1,2} [A-Za-z]{3,9},? [0-9]{4}|[A-Za-z]{3,9} [0-9]{1,2},? [0-9]{4})(?![0-9])"
)
_GEO: Final = re.compile(
    r"(?i)(?:lat(?:itude)?\s?[/,]\s?lon(?:g|gitude)?|coordinates?|location|geo|gps|position)[\"'\\]{0,4}\s{0,2}(?:is|at|[:=])?\s{0,2}[\"'\\(\[]{0,4}"
    r"(?P<value>-?[0-9]{1,2}\.[0-9]{3,}\s?,\s?-?[0-9]{1,3}\.[0-9]{3,})"
)


def phones(text: str) -> Iterator[Hit]:
    """International form, North American form, or any plausible digits after a word such as ``call``."""
    for match in (*_RUN_PLUS.finditer(text), *_RUN.finditer(text)):
        run = match[0].rstrip(" .-(/")
        digits = sum(c.isdigit() for c in run)
        if not 7 <= digits <= 15 or run.count("(") != run.count(")") or _DATE.match(run):
            continue
        start, end = match.start(), match.start() + len(run)
        if _is_phone(run, digits) or _phone_context(text, start, end):
            yield start, end


def _is_phone(run: str, digits: int) -> bool:
    if run.startswith("+"):
        return digits >= 8
    return _NANP.fullmatch(run) is not None


def _phone_context(text: str, start: int, end: int) -> bool:
    return (
        _PHONE_WORD.search(text[max(0, start - _BEFORE) : start]) is not None
        or _PHONE_AFTER.match(text[end : end + 12]) is not None
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
        if match["who"].lower() not in _THINGS and luhn(match["value"]):
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
        name="phone",
        family="pii",
        kind="phone",
        gates=(r"(?:^|[^0-9A-Za-z_]|\\[nrt])[0-9](?:[0-9 ()./\x80-\xff-]|\\u00a0){4,6}[0-9]",),
        needs=(
            r"\+ ?\(?[1-9]",
            r"[2-9][0-9]{2}\)?[ .-]?[2-9][0-9]{2}[ .-][0-9]{4}",
            r"(?i)phone|telef|tel[^a-z]|mobile|m[o\xf3\xc3\\]|cell|handy|call(?:ing|ed)?[ :;,.!?]|text(?:ing)? |fax|sms|whats|dial|ring[^a-z]|contact|reach|answer[a-z]* (?:at|on)|messages? (?:to|on|at)|registered|hotline|msisdn",
            r"(?i)[0-9][ ,\\(-]{1,3}(?:office|fax|mobile|cell|home|work|tel|phone)",
        ),
        find=phones,
    ),
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
            r"(?i)social[ _-](?:security|insurance)|national[ _-]i|personal[ _-]i|identity c|identity number|tax(?:payer)?[ _-](?:id|file)"
            r"|steuer-?(?:id|nummer)|(?:person|organisations|samordnings)nummer|codice fiscale|partita iva|pas(?:sport|aporte|seport|saporto)|reisepass"
            r"|licen[cs]e|hrerschein|medicare|health (?:card|insurance)",
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
    Detector(name="coordinates", family="pii", kind="coordinates", gates=(r"[0-9]\.[0-9]+\s?,\s?-?[0-9]+\.[0-9]",), find=places),
)
