"""A gate that misses what its detector finds is a leak: nothing after it would run."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.redaction.detectors import ALL, BY_NAME
from otelreplay.redaction.gates import Gates, gates_of
from otelreplay.redaction.keys import _PII, _STRONG, _STRONG_PAIRS, _WEAK, sense
from tests.redaction.samples import B62, PII, SECRETS, redactor

GATES = gates_of(tuple(BY_NAME))
BY_EXACT = [d for d in ALL if d.exact and d.name != "iban"]  # an IBAN with valid check digits is not drawn by chance
CONTEXT = (
    "password=%s",
    "My password is %s ok",
    '"api_key": "%s"',
    "--token %s",
    "DB_PASS: %s",
    "<secret>%s</secret>",
    "Bearer %s",
    "%s",
    "curl -u admin:%s x",
    "identified by '%s'",
    'if ("%s" == password)',
    "https://u:%s@host/",
    "https://h/?sig=%s&a=1",
    "cookie: a=%s",
    "call me at %s",
    "DNI: %s",
    "born on %s",
    "passport number %s",
    "lat/lon %s",
    "IBAN %s",
    "tel: %s",
    "#define token %s",
    "%s office",
)
VALUE = (
    "Qv7#mK2!rT9x",
    B62[:40],
    *SECRETS.values(),
    *PII.values(),
    "27.10.1998",
    "X06222719",
    "-50.681541, -16.632128",
    "0121 496 0123",
    "(415) 555-2671",
    "78051120-X",
    "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
    "RSSMRA85T10A562S",
)


def encoded(text):
    yield text
    yield "\n" + text
    yield json.dumps({"a": "\n" + text})
    yield json.dumps({"a": json.dumps(["x\t" + text])})
    yield json.dumps({"a": json.dumps({"b": json.dumps(text)})})


@pytest.mark.parametrize("context", CONTEXT)
def test_whenever_a_detector_finds_something_its_gate_is_open(context):
    """In the text itself and in JSON up to three times around it."""
    found = 0
    for value in VALUE:
        text = context % value
        for detector in ALL:
            if any(s < e for s, e in detector.find(text)):
                found += 1
                for form in encoded(text):
                    assert detector.name in GATES.open(form), (detector.name, form)
    assert found > 0


@pytest.mark.parametrize("detector", BY_EXACT, ids=lambda d: d.name)
def test_the_gate_of_a_pattern_opens_for_all_that_it_matches(detector):
    @given(st.from_regex(detector.exact[0], fullmatch=False))
    @settings(max_examples=8)
    def check(text):
        if any(s < e for s, e in detector.find(text)):
            assert detector.name in GATES.open(text)
            assert detector.name in GATES.open(json.dumps("\n" + text, ensure_ascii=False))

    check()


@pytest.mark.parametrize("space", ["", " ", "\t", "\n", "\r", "\x0b", "\x0c"], ids=repr)
def test_white_space_before_the_colon_keeps_the_gate_of_a_jwk_open(space):
    text = f'"kty":"oct","k"{space}:{space}"WrMwEzzZjXCeFG0nOzMRHU1aQ"'
    (detector,) = [d for d in ALL if d.name == "jwk_key"]
    assert any(True for _ in detector.find(text))
    for form in (text, json.dumps(text), json.dumps(text, ensure_ascii=False), json.dumps(json.dumps(text))):
        assert "jwk_key" in GATES.open(form)


def test_no_gate_begins_with_a_word_boundary():
    """In escaped text a letter of the escape stands before the word."""
    assert [g for d in ALL for g in (*d.gates, *d.needs) if g.startswith((r"\b", r"(?i)\b"))] == []


@pytest.mark.parametrize("word", sorted({*_STRONG, *_WEAK, *(w for _, single, _ in _PII for w in single)}))
def test_every_word_of_the_vocabulary_of_keys_opens_a_gate(word):
    """JSON is only walked when a gate opens, so a key that means something must open one."""
    value = {
        "email": "a@b.example.org",
        "iban": PII["iban"],
        "credit_card": PII["card"],
        "coordinates": "-50.681541, -16.632128",
        "phone": "0121 496 0123",
    }
    text = json.dumps({word: value.get(sense(word), "Qv7mK2rT9xW0021970")})
    assert GATES.open(text) - {"%base64"}, word


@pytest.mark.parametrize("pair", sorted(_STRONG_PAIRS))
def test_every_pair_of_the_vocabulary_opens_the_gate_of_key_values(pair):
    assert "key_value" in GATES.open(json.dumps({"_".join(pair): "x"}))


def test_a_set_that_fails_opens_every_gate():
    """RE2 reports "out of memory" and "nothing found" alike; the canary tells them apart."""

    class Failed:
        def Match(self, data):  # noqa: N802
            return None

    gates = Gates(("email", "jwt"))
    assert gates.open("nothing here") == frozenset()
    for one in gates._sets:
        one._set = Failed()
    assert {"email", "jwt"} <= gates.open("nothing here")


def test_random_text_opens_no_gate_that_costs_a_search_too_often():
    """Not a promise of speed, but a gate that opens for everything would be none."""
    draw = random.Random(7)
    words = [
        "the",
        "order",
        "of",
        "your",
        "last",
        "parcel",
        "was",
        "sent",
        "on",
        "time",
        "and",
        "is",
        "due",
        "at",
        "noon",
        "while",
        "we",
        "wait",
        "for",
        "an",
        "answer",
        "from",
        "them",
    ]
    texts = [" ".join(draw.choice(words) for _ in range(60)) for _ in range(50)]
    assert sum(bool(GATES.open(t)) for t in texts) < 5
    assert all(redactor().text(t) is t for t in texts)
