"""Every dialect keeps the rules of the shipped suite, on odd input as on good."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.dialects import DIALECTS, Dialect, SpanView, attribute_fields
from otelreplay.spans import LogRecord, Span, SpanEvent
from otelreplay.testing.dialects import ODD_VALUES, check_dialect, hostile_views

OTHERS = {
    "openinference.span.kind",
    "input.value",
    "output.value",
    "input.mime_type",
    "llm.input_messages.0.message",
    "llm.input_messages.0.message.content",
    "llm.output_messages.0.message.tool_calls.0.tool_call",
    "llm.tools.0",
    "llm.openai.messages",
    "llm.openai.choices",
    "langsmith.span.kind",
    "genkit:type",
    "genkit:metadata:subtype",
    "genkit:input",
    "genkit:output",
    "spring.ai.kind",
    "mastra.span.type",
    "langwatch.span.type",
    "langwatch.input",
    "langwatch.output",
    "braintrust.span_attributes",
    "braintrust.input_json",
    "braintrust.output_json",
    "braintrust.metadata",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gcp.vertex.agent.llm_request",
    "traceloop.span.kind",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "function.args",
    "function.kwargs",
    "tool.name",
    "tool.args",
    "tool.output",
    "span.type",
    "tool_input",
    "gen_ai.tool.call_id",
}
NAMES = st.sampled_from(
    sorted({*attribute_fields(), *OTHERS, "gen_ai.operation.name", "mcp.method.name", "gen_ai.tool.name", "x"})
)
LEAVES = (
    st.none()
    | st.sampled_from(
        [
            "LLM",
            "TOOL",
            "AGENT",
            "RETRIEVER",
            "EMBEDDING",
            "CHAIN",
            "generation",
            "tool",
            "CHAT_MODEL",
            "ai.toolCall",
            "x.doStream",
            "llm",
            "llm_request",
            "tool_call",
            '{"generations": [[{"message": {"type": "ai", "content": "x", "tool_calls": [1, {}]}}]]}',
            '{"messages": [[{"type": "tool", "data": {"content": 1, "tool_call_id": 2}}]]}',
            '{"output": {"type": "tool", "data": {"content": 1, "tool_call_id": 2}}}',
            '{"tool_name": "x", "arguments": 1}',
            "[{'role': 1}]",
            "ResponseFunctionToolCall(name='x', arguments=1)",
        ]
    )
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=4)
    | st.sampled_from(ODD_VALUES)
)
VALUES = st.recursive(
    LEAVES,
    lambda v: (
        st.lists(v, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "parts", "content", "type", "id", "name", "arguments", "message", "tool_calls"]),
            v,
            max_size=4,
        )
    ),
    max_leaves=8,
)
ATTRIBUTES = st.dictionaries(NAMES, VALUES, max_size=6)
RECORD_NAMES = st.sampled_from(
    ["gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.choice", "gen_ai.client.inference.operation.details", "x"]
)
LOGS = st.lists(
    st.builds(LogRecord, event_name=RECORD_NAMES, body=VALUES, attributes=ATTRIBUTES, time=st.integers(0, 3)), max_size=3
)
EVENTS = st.lists(st.builds(SpanEvent, name=RECORD_NAMES | st.just("exception"), attributes=ATTRIBUTES), max_size=2).map(tuple)
SPANS = st.builds(
    Span,
    trace_id=st.just("a" * 32),
    span_id=st.just("b" * 16),
    attributes=ATTRIBUTES,
    events=EVENTS,
    status_code=st.integers(0, 2),
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
def test_a_dialect_conforms_on_odd_values_everywhere(dialect):
    for view in hostile_views():
        check_dialect(dialect, view)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
@given(span=SPANS, logs=LOGS)
def test_a_dialect_conforms_on_any_span(dialect, span, logs):
    check_dialect(dialect, SpanView(span=span, logs=tuple(logs)))


def test_dialects_have_different_names():
    names = [d.name for d in DIALECTS]
    assert len(set(names)) == len(names)
    assert all(isinstance(d, Dialect) for d in DIALECTS)


def test_the_suite_notices_a_dialect_that_calls_a_given_field_missing():
    from otelreplay.dialects import Reading
    from otelreplay.events import Missing

    class Liar:
        name = "liar"
        attribute_fields = {}

        def read(self, view, intern, /):
            gap = Missing(field="request.arguments", cause="truncated")
            return Reading(dialect="liar", kind="tool", name="t", fields={"request.arguments": 1}, gaps=(gap,))

    with pytest.raises(AssertionError, match="given and called missing"):
        check_dialect(Liar(), SpanView(span=Span(trace_id="a" * 32, span_id="b" * 16)))
