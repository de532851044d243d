"""One and the same thing in other clothes: encoded twice, wrapped, set with other spaces and digits, named beside its value."""

import base64
import json
from urllib.parse import quote

import pytest

from otelreplay.redaction import PseudonymKey, compile_policy, default_policy

KEY = "sk-proj-" + "Ab3dEf9hIjKlMn0pQrStUvWx" * 2
MAIL = "marie.dupont@example.org"
CARD = "4539578763621486"
IBAN = "DE89 3704 0044 0532 0130 00"


@pytest.fixture(scope="module")
def redact():
    return compile_policy(default_policy(), key=PseudonymKey(secret=b"0123456789abcdef"))


def encoded(text, times):
    return encoded(quote(text, safe=""), times - 1) if times else text


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("text", [f"to={MAIL}", "q=1&password=Juniper#310&n=2", f"k={KEY}"])
def test_percent_encoding_is_taken_off_as_often_as_it_was_put_on(text, times, redact):
    told = encoded(text, times)
    after = redact.text(told)
    for secret in (MAIL, "Juniper#310", KEY):
        assert encoded(secret, times)[:12] not in after
    assert redact.text(after) == after
    assert after[:2] == told[:2]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n  "])
@pytest.mark.parametrize("width", [64, 75, 76])
def test_base64_over_several_lines_is_read_as_one(end, width, redact):
    """Wherever the line breaks stand in it; what is put in its place is wrapped in the same way."""
    for shift in range(0, width, 7):
        coded = base64.b64encode(f"{'x' * (90 + shift)} write to {MAIL} with {KEY} {'yes ' * 30}".encode()).decode()
        lines = [coded[n : n + width] for n in range(0, len(coded), width)]
        told = f"Content-Transfer-Encoding: base64{end}{end}{end.join(lines)}{end}--end"
        after = redact.text(told)
        body = after.removeprefix(f"Content-Transfer-Encoding: base64{end}{end}").removesuffix(f"{end}--end").split(end)
        plain = base64.b64decode("".join(body)).decode()
        assert MAIL not in plain
        assert KEY not in plain
        assert plain.startswith("x" * (90 + shift) + " write to ")
        assert {width} == {len(line) for line in body[:-1]}
        assert redact.text(after) == after


def test_lines_that_hold_nothing_stay_as_they_are(redact):
    told = "log:\n" + base64.encodebytes(b"The quick brown fox jumps over the lazy dog. " * 9).decode()
    assert redact.text(told) == told


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2009", " ", "-", ".", ""])
@pytest.mark.parametrize("before", ["", "paid.", "Card: ", "\u00a0", "(", "n.\u00ba "])
def test_a_card_is_found_however_its_digits_are_set(space, before, redact):
    number = space.join(CARD[n : n + 4] for n in range(0, 16, 4))
    after = redact.text(f"{before}{number} thank you")
    assert after.startswith(f"{before}[card#")
    assert after.endswith("] thank you")


def test_full_width_digits_are_digits(redact):
    wide = "".join(chr(0xFF10 + int(digit)) for digit in CARD)
    assert redact.text(f"番号 {wide} です").startswith("番号 [card#")


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", " "])
def test_an_account_number_is_found_between_other_spaces(space, redact):
    assert redact.text(f"to {IBAN.replace(' ', space)} now").startswith("to [iban#")


@pytest.mark.parametrize("text", [f"0.{CARD}", f"12.{CARD}", f"{CARD}.5", f"1\u00a0{CARD[:4]}\u00a05787\u00a06362\u00a01487"])
def test_numbers_that_are_no_card_stay(text, redact):
    assert redact.text(text) == text


@pytest.mark.parametrize("name", ["name", "key", "header", "field"])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("shape", ["text", "inner", "value", "listed"])
def test_a_name_beside_a_value_says_what_it_is(name, swapped, shape, redact):
    """In either order, in JSON, in JSON in it, and as plain values."""
    pair = {name: "db_password", "value": "Juniper#310"}
    pair = dict(reversed(pair.items())) if swapped else pair
    text = json.dumps(pair)
    told = {"text": text, "inner": json.dumps({"a": text}), "value": pair, "listed": {"x": [pair]}}[shape]
    after = redact.text(told) if isinstance(told, str) else redact.value(told)
    assert "Juniper" not in str(after)
    assert "db_password" in str(after)


def test_a_name_that_says_nothing_leaves_its_value(redact):
    told = json.dumps({"value": "Juniper#310", "name": "plant"})
    assert redact.text(told) == told


@pytest.mark.parametrize("ending", [".jsonl", ".json.gz", ".pb", ".log"])
@pytest.mark.parametrize("name", ["password=Juniper310", "export-api_key=Zk39dJq02mXn48Lp", "token=Ab3dEf9hIjKlMn0pQrStUvWx"])
def test_a_secret_in_the_name_of_a_file_is_found_before_its_ending(name, ending, redact):
    after = redact.text(name + ending)
    assert after == name.partition("=")[0] + "=[REDACTED:secret]" + ending


@pytest.mark.parametrize("text", ["password=config.json", "key=trace.jsonl", "secret=values.yaml", "auth=login.html"])
def test_the_name_of_a_file_is_no_secret(text, redact):
    assert redact.text(text) == text
