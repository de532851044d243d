"""Secrets in names of attributes, however many or long those are, and in lists of pairs."""

import json
import random
import time

import pytest

from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
from otelreplay.spans import Span

MAIL = "jane.doe@corp-mail.com"


@pytest.fixture(scope="module")
def default():
    return compile_policy(default_policy(), key=PseudonymKey(secret=b"0123456789abcdef"))


def span(attributes):
    return Span(trace_id="1" * 32, span_id="1" * 16, attributes=attributes)


def test_an_address_at_the_end_of_a_long_name_is_found(default):
    """The name before it counts as its first part, and that may be longer than an address has."""
    name = "llm.input_messages.0.message.tool_calls.0.tool_call.function.arguments." + MAIL
    assert MAIL not in repr(default.span(span({name: "x", name + ".content": "y"})))


@pytest.mark.parametrize("shape", [json.dumps, lambda value: value, lambda value: json.dumps(json.dumps(value))])
def test_a_list_of_pairs_is_read_as_names_and_values(default, shape):
    headers = [["x-api-key", "hunter2hunter2"], ["accept", "text/html"]]
    shown = repr(default.span(span({"input.value": shape({"headers": headers})})).attributes)
    assert "hunter2" not in shown
    assert "text/html" in shown


def test_a_list_of_words_is_no_pair(default):
    schema = {"required": ["password", "username"], "order": ["token", "query", "limit"]}
    given = span({"tools": json.dumps(schema), "native": [["secret", "santa", "party"]]})
    assert default.span(given) == given


def test_many_names_that_become_one_cost_in_proportion(default):
    letters = random.Random(1)

    def seconds(count):
        names = ["sk-proj-" + "".join(letters.choices("abcdefghjkmnpqrstuvwxyzABCDEFGH23456789", k=48)) for _ in range(count)]
        began = time.perf_counter()
        found = default.span(span(dict.fromkeys(names, 1)))
        assert len(found.attributes) == count
        assert "sk-proj" not in repr(found)
        return time.perf_counter() - began

    seconds(100)
    assert seconds(8000) < 8 * seconds(2000) + 0.5
