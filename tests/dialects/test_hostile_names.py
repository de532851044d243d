"""Attributes that spell out nested values in their names: whatever the names are, nothing raises or grows out of line."""

import sys

import pytest

from otelreplay.dialects import DIALECTS, Interner, SpanView
from otelreplay.dialects.flattened import nested
from otelreplay.reconstruct import reconstruct
from otelreplay.spans import Span
from otelreplay.testing.dialects import check_dialect

PREFIXES = ("gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages.", "llm.tools.")
MARKS = {"openinference.span.kind": "LLM", "gen_ai.operation.name": "chat"}


def span(attributes):
    return Span(trace_id="1" * 32, span_id="1" * 16, name="x", start=1, end=2, attributes={**MARKS, **attributes})


@pytest.mark.parametrize(
    "rest", ["." * 5000, ".".join("0" * 5000), "0." + ".".join("a" * 5000), "999999999.role", "9" * 30 + ".role"]
)
@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_name_of_any_depth_and_number_is_read(prefix, rest):
    found = span({prefix + rest: "x", prefix + "0.role": "user"})
    for dialect in DIALECTS:
        check_dialect(dialect, SpanView(span=found, logs=(), limit=0))
    assert reconstruct([found]).span_count == 1


def test_what_is_too_deep_is_kept_under_the_rest_of_its_name():
    value = nested({"p." + "a." * 100 + "b": 1}, "p.")
    for _ in range(64):
        value = value["a"]
    assert value == {"a." * 36 + "b": 1}


def steps_of(work):
    """How many lines of Python were run, and how often a function was called, C functions included."""
    count = 0

    def traced(frame, event, _argument):
        nonlocal count
        count += 1
        return traced

    def profiled(_frame, event, _argument):
        nonlocal count
        count += event == "c_call"

    before, before_profile = sys.gettrace(), sys.getprofile()
    sys.settrace(traced)
    sys.setprofile(profiled)
    try:
        work()
    finally:
        sys.setprofile(before_profile)
        sys.settrace(before)
    return count


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("rest", ["{}.content", "{}.message.content", "0.message.tool_calls.{}.tool_call.function.name"])
def test_many_spelled_out_values_cost_in_proportion(prefix, rest):
    """Counted in calls and steps of Python, not in seconds: eight times the values take about eight times the steps."""

    def steps(count):
        view = SpanView(span=span({prefix + rest.format(n): "v" for n in range(count)}), logs=(), limit=0)
        return steps_of(lambda: [dialect.read(view, Interner()) for dialect in DIALECTS])

    assert steps(1600) < 12 * steps(200)
