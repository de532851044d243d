"""What holds for any text: redaction settles, repeats, tells values apart and leaves the rest alone."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.redaction import PseudonymKey, find_placeholders, is_placeholder
from otelreplay.spans import Span, SpanEvent
from tests.redaction.samples import EMAIL, KEY, OTHER_KEY, PII, SECRETS, redactor

READY = redactor()
PIECES = st.one_of(
    st.sampled_from([*SECRETS.values(), *PII.values()]),
    st.sampled_from(
        [
            "password=",
            "api_key: ",
            '"token": "',
            "'",
            '"',
            "\\",
            "\\n",
            "\n",
            " ",
            "Bearer ",
            "https://u:",
            "@host/",
            "&sig=",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "%40",
            "%3D",
            "[REDACTED:secret]",
            "[card#aaaaaaaaaaaaaaaa]",
            "aaaaaaaaaaaaaaaa@email.invalid",
            "<secret>",
            "</secret>",
            "My password is ",
            "cookie: a=",
            "\x1b[94m",
            "DNI: ",
            "born on 27.10.1998",
            "\ud800",
            "\x00",
            "é",
            "=",
            "==",
        ]
    ),
    st.text(max_size=8),
    st.text(alphabet="abcABC0123456789+/=-_.", max_size=24),
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        TEXTS,
        st.binary(max_size=20),
        TEXTS.map(json.dumps),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(TEXTS, st.sampled_from(["password", "content", "id"])), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(TEXTS)
@settings(max_examples=200)
def test_redacting_what_was_redacted_changes_nothing(text):
    once = READY.text(text)
    assert READY.text(once) == once
    assert redactor().text(once) == once


@given(VALUES)
@settings(max_examples=150)
def test_redacting_a_redacted_value_changes_nothing(value):
    once = READY.value(value, "x")
    assert READY.value(once, "x") == once


@given(
    st.dictionaries(
        st.sampled_from(["a", "gen_ai.input.messages", "http.request.header.cookie", "password"]), VALUES, max_size=3
    ),
    TEXTS,
)
@settings(max_examples=80)
def test_redacting_a_redacted_span_gives_the_same_span(attributes, text):
    events = tuple(SpanEvent(name="e", attributes={"d": piece}) for piece in (text[:3], text[3:]))
    once = READY.span(Span(trace_id="a", span_id="b", name=text, attributes=attributes, events=events, status_message=text))
    assert READY.span(once) == once


@given(VALUES)
@settings(max_examples=100)
def test_the_shape_of_a_value_stays(value):
    def shape(v):
        if isinstance(v, list):
            return [shape(x) for x in v]
        if isinstance(v, dict):
            return [shape(x) for x in v.values()]
        return "leaf" if v is not None and not isinstance(v, bool) else v

    assert shape(READY.value(value, "x")) == shape(value)


@given(TEXTS)
@settings(max_examples=100)
def test_what_was_seen_before_does_not_change_the_result(text):
    """A memory of earlier texts is invisible."""
    assert redactor().text(text) == READY.text(text)


def test_a_value_that_needs_nothing_is_the_same_object():
    span = Span(trace_id="a", span_id="b", attributes={"a": {"b": ["x", 1, 2.5, None, True, b"\xff"]}, "t": '{"a": [1, 2]}'})
    assert redactor().span(span) is span


@pytest.mark.parametrize(
    "text", ['{"a":1.0,  "b" : "x\\u00e9",\n"a":2e5, "k":"%s"}', '[ "%s" ,1.50]', '{"k": "%s", "cut": [1, 2']
)
def test_json_around_a_find_stays_byte_for_byte(text):
    """White space, number spelling, doubled keys, escapes: all as they were."""
    assert READY.text(text % SECRETS["github"]) == text % "[REDACTED:secret]"


def test_the_same_text_has_the_same_pseudonym_everywhere():
    one, two = redactor(), redactor()
    assert one.text(f"to {EMAIL}") == two.text(f"to {EMAIL}")
    assert one.value({"a": EMAIL})["a"] in two.text(f"mailto:{EMAIL}")


def test_another_key_epoch_or_tenant_gives_other_pseudonyms():
    keys = [KEY, OTHER_KEY, PseudonymKey(secret=KEY.secret, epoch=2), PseudonymKey(secret=KEY.secret, tenant="b")]
    assert len({redactor(key=key).text(EMAIL) for key in keys}) == len(keys)


def test_the_tenant_of_a_policy_is_part_of_the_key():
    text = "version: 1\nname: t\ntenant: {}\nrules: [{{id: email, detector: email, action: pseudonym}}]\n"
    assert redactor(text.format("a")).text(EMAIL) != redactor(text.format("b")).text(EMAIL)


@given(st.sets(st.integers(0, 10**6), min_size=2, max_size=20))
@settings(max_examples=25)
def test_different_values_keep_different_pseudonyms(numbers):
    made = [READY.text(f"user{n}@example.org") for n in sorted(numbers)]
    assert len(set(made)) == len(numbers)
    assert all(is_placeholder(m) for m in made)


@given(st.sampled_from(sorted(SECRETS)), st.sampled_from(sorted(PII)))
@settings(max_examples=40)
def test_placeholders_name_the_rule_and_hold_nothing_of_the_text(secret, pii):
    done = READY.text(f"use {SECRETS[secret]} for SSN: {PII[pii]} now")
    found = find_placeholders(done)
    assert [f.rule for f in found][:1] == ["secret"]
    assert not any(SECRETS[secret][n : n + 8] in done for n in range(len(SECRETS[secret]) - 8))


def test_unmatched_surrogates_and_nul_pass_through():
    text = "a\ud800b\x00c"
    assert READY.text(text) == text
    assert READY.text(f"{text} {SECRETS['github']}") == f"{text} [REDACTED:secret]"
