"""RFC 8785 bytes, held against the package rfc8785 and against the examples of the RFC."""

import struct

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.canonical import decode, digest, digest_value, encode, jcs
from otelreplay.canonical.writing import number_text, write_plain, write_rough
from tests.canonical.payloads import instances, json_values, values

ascii_keys = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner, max_size=4),
)


def without_minus_zero(value):
    """The oracle writes 0 for it; here it is a typed value."""
    if isinstance(value, dict):
        return {key: without_minus_zero(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_minus_zero(item) for item in value]
    return 0.0 if isinstance(value, float) and value == 0 else value


@given(json_values)
def test_the_bytes_are_those_of_the_oracle(value):
    value = without_minus_zero(value)
    assert jcs(value) == rfc8785.dumps(value)


@given(ascii_keys)
def test_the_fast_writer_writes_what_the_careful_one_does(value):
    assert write_plain(value) == write_rough(value) == rfc8785.dumps(value)


def test_every_control_character_is_escaped_alike():
    text = "".join(map(chr, range(0x2100)))
    assert jcs({text: text}) == rfc8785.dumps({text: text})
    assert jcs(text) == rfc8785.dumps(text)


def test_keys_are_sorted_by_utf16_code_units():
    """A character beyond the BMP comes before U+E000, unlike in UTF-8."""
    assert jcs({"\ue000": 1, "\U0001f600": 2, "é": 3, "z": 4, "": 5}) == '{"":5,"z":4,"é":3,"\U0001f600":2,"\ue000":1}'.encode()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_as_ecmascript_does(number):
    assert number_text(number).encode() == rfc8785.dumps(number)
    assert float(number_text(number)) == number


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("8000000000000000", "0"),
        ("4010000000000000", "4"),
    ],
)
def test_the_examples_of_the_rfc(bits, text):
    """RFC 8785, appendix B."""
    assert number_text(struct.unpack(">d", bytes.fromhex(bits))[0]) == text


def turned(value):
    """The same value with every dict in reverse order."""
    if isinstance(value, dict):
        return {key: turned(item) for key, item in reversed(value.items())}
    return type(value)(map(turned, value)) if isinstance(value, list | tuple) else value


@given(values)
def test_the_order_of_keys_does_not_matter(value):
    assert jcs(value) == jcs(turned(value))


@given(instances | values)
def test_a_value_and_what_comes_back_have_the_same_bytes(value):
    assert jcs(decode(encode(value))) == jcs(value)


def test_different_values_have_different_bytes():
    looks = [
        0,
        -0.0,
        "0",
        b"0",
        (0,),
        [0],
        {0},
        frozenset({0}),
        {"0": 0},
        {0: 0},
        None,
        "null",
        float("nan"),
        True,
        "\ud83e",
        "\\ud83e",
    ]
    assert len({jcs(value) for value in looks}) == len(looks)
    assert jcs(4) == jcs(4.0) == b"4"


def test_digests_name_their_algorithm():
    assert digest(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_value({"b": 1, "a": 2.0}) == digest(b'{"a":2,"b":1}')
