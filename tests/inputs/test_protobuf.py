"""What is particular to the protobuf forms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from otelreplay.inputs import Tally, records, wire
from otelreplay.inputs.forms import protobuf as form
from otelreplay.inputs.signals import signal_of_record
from otelreplay.spans.model import Resource, Scope
from tests.inputs import otlp
from tests.inputs.otlp import read


def traces(*spans):
    """TracesData with these messages in one group."""
    data = trace_pb2.TracesData()
    data.resource_spans.add().scope_spans.add().spans.extend(spans)
    return data.SerializeToString()


def span(number=1, **fields):
    return trace_pb2.Span(**{"trace_id": b"t" * 16, "span_id": number.to_bytes(8, "big"), "start_time_unix_nano": 1} | fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"trace_id": b"0af7651916cd43dd8448eb211c80319c"},
            "trace id has 32 bytes (hex text instead of raw bytes?), 16 are required",
        ),
        ({"span_id": b"00f067aa0ba902b7"}, "span id has 16 bytes (hex text instead of raw bytes?), 8 are required"),
        ({"trace_id": b"abc"}, "trace id has 3 bytes, 16 are required"),
        ({"trace_id": b""}, "trace id is missing"),
        ({"span_id": bytes(8)}, "span id is all zero"),
        ({"parent_span_id": b"abc"}, "parent span id has 3 bytes, 8 are required"),
    ],
)
def test_a_span_with_bad_ids_is_refused_and_its_neighbours_are_kept(fields, expected):
    batch = read(traces(span(1), span(2, **fields), span(3)))
    assert [1, 3] == [int(found.span_id, 16) for found in batch.spans]
    (refused,) = batch.rejected
    assert expected == refused.reason
    assert "span 1" in refused.where
    assert refused.trace_id == ("74" * 16 if "trace_id" not in fields else "")
    assert refused.span_id == (f"{2:016x}" if "span_id" not in fields else "")


def test_a_parent_of_zeros_means_that_there_is_none():
    assert read(traces(span(parent_span_id=bytes(8)))).spans[0].parent_span_id == ""


def test_links_that_point_nowhere_are_left_out_and_counted():
    tally = Tally()
    message = span()
    message.links.add(trace_id=b"x")
    message.links.add(trace_id=b"t" * 16, span_id=b"s" * 8)
    assert len(read(traces(message), tally=tally).spans[0].links) == 1
    assert tally.notes["invalid_links"] == 1


def test_text_that_is_not_utf8_is_replaced_visibly_and_costs_nothing_else():
    tally = Tally()
    data = traces(span(1), span(2, name="caf?!"), span(3)).replace(b"?", b"\xe9")
    batch = read(data, tally=tally)
    assert ["", "caf�!", ""] == [found.name for found in batch.spans]
    assert (1, ()) == (tally.notes["invalid_utf8"], batch.rejected)


def test_a_lone_surrogate_in_bytes_survives():
    assert read(traces(span(name="a???")).replace(b"???", b"\xed\xa0\xbe")).spans[0].name == "a\ud83e"


def test_of_two_attributes_with_one_key_the_last_is_kept_and_counted():
    tally = Tally()
    pairs = [KeyValue(key="a", value=AnyValue(int_value=number)) for number in (1, 2)]
    assert read(traces(span(attributes=pairs)), tally=tally).spans[0].attributes == {"a": 2}
    assert tally.notes["duplicate_attribute_keys"] == 1


def test_an_index_into_a_string_table_is_read_as_empty_and_counted():
    tally = Tally()
    pairs = [KeyValue(key="a", value=AnyValue(string_value_strindex=3))]
    assert read(traces(span(attributes=pairs)), tally=tally).spans[0].attributes == {"a": None}
    assert tally.notes["profiling_strings"] == 1


@pytest.mark.parametrize(("depth", "kept"), [(40, True), (90, True), (101, False), (3000, False)])
def test_a_value_deeper_than_the_library_reads_is_kept_up_to_the_limit(depth, kept):
    value = AnyValue(int_value=1).SerializeToString()
    for _ in range(depth - 1):
        inner = wire.header(1, len(value)) + value
        value = wire.header(5, len(inner)) + inner
    pair = wire.header(1, 1) + b"k" + wire.header(2, len(value)) + value
    deep = span(2).SerializeToString() + wire.header(9, len(pair)) + pair
    group = wire.header(2, len(first := span(1).SerializeToString())) + first + wire.header(2, len(deep)) + deep
    element = wire.header(2, len(group)) + group
    batch = read(wire.header(1, len(element)) + element)
    assert ([1, 2] if kept else [1]) == [int(found.span_id, 16) for found in batch.spans]
    assert (0 if kept else 1) == len(batch.rejected)
    assert all(("74" * 16, f"{2:016x}") == (refused.trace_id, refused.span_id) for refused in batch.rejected)


@settings(max_examples=100)
@given(found=otlp.spans())
def test_the_careful_way_reads_a_span_as_the_library_does(found):
    tally = Tally()
    again = records.span(
        wire.record(otlp.pb_span(found).SerializeToString(), wire.SPAN, tally), found.resource, found.scope, tally
    )
    assert otlp.same(found) == otlp.same(again)


@settings(max_examples=100)
@given(found=otlp.logs())
def test_the_careful_way_reads_a_log_record_as_the_library_does(found):
    tally = Tally()
    again = records.log(
        wire.record(otlp.pb_log(found).SerializeToString(), wire.LOG, tally), found.resource, found.scope, tally
    )
    assert otlp.same(found) == otlp.same(again)


@settings(max_examples=60)
@given(spans=st.lists(otlp.spans(), min_size=1, max_size=3), logs=st.lists(otlp.logs(), max_size=2))
def test_one_bad_text_changes_nothing_but_itself(spans, logs):
    """The library refuses the whole message then; what is read by hand must be the same."""
    bad = otlp.pb_element(spans[0])
    bad.scope_spans[0].spans.append(span(9, name="?!?!?!"))
    data = trace_pb2.TracesData(resource_spans=[bad, *(otlp.pb_element(each) for each in spans[1:])]).SerializeToString()
    batch = read(data.replace(b"?!?!?!", b"\xff!?!?!") + otlp.logs_data(logs))
    assert otlp.same((*batch.spans[:1], *batch.spans[2:])) == otlp.same(tuple(spans))
    assert otlp.same(batch.logs) == otlp.same(tuple(logs))
    assert batch.spans[1].name == "�!?!?!"


def test_signals_are_told_apart_by_their_records():
    tally = Tally()
    log = otlp.LogRecord(body="x", trace_id=otlp.TRACE, span_id="00f067aa0ba902b7")
    frames = otlp.fixed(
        otlp.metrics_data("http.server.time", "a"), traces(span()), otlp.logs_data([log]), otlp.metrics_data("b")
    )
    batch = read(frames, tally=tally)
    assert (1, 1, 3, ()) == (len(batch.spans), len(batch.logs), tally.notes["metrics_skipped"], batch.rejected)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (trace_pb2.Span(trace_id=b"t" * 16, span_id=b"s" * 8, name="n"), "traces"),
        (trace_pb2.Span(trace_id=b"t" * 32, span_id=b"s" * 16, name="n"), "traces"),
        (trace_pb2.Span(name="n", end_time_unix_nano=5), "traces"),
        (logs_pb2.LogRecord(body=AnyValue(string_value="x")), "logs"),
        (logs_pb2.LogRecord(trace_id=b"t" * 16, event_name="e"), "logs"),
        (logs_pb2.LogRecord(time_unix_nano=5), "logs"),
        (logs_pb2.LogRecord(severity_number=9), "logs"),
        (logs_pb2.LogRecord(), None),
        (metrics_pb2.Metric(name="n" * 16, description="d" * 8, gauge={"data_points": [{"as_int": 1}]}), "metrics"),
        (metrics_pb2.Metric(name="n" * 16, description="d" * 8, sum={"data_points": [{"as_int": 1}]}), "metrics"),
        (metrics_pb2.Metric(name="n" * 16, description="d" * 8, summary={"data_points": [{"count": 1}]}), "metrics"),
        (
            metrics_pb2.Metric(
                name="n", histogram={"data_points": [{"count": 1}], "aggregation_temporality": "AGGREGATION_TEMPORALITY_DELTA"}
            ),
            "metrics",
        ),
        (metrics_pb2.Metric(name="n", exponential_histogram={"data_points": [{"count": 1}]}), "metrics"),
        (trace_pb2.Span(trace_id=b"t" * 16, attributes=[KeyValue(key="k", value=AnyValue(bool_value=True))]), "traces"),
    ],
)
def test_a_record_tells_its_signal_by_its_fields(record, expected):
    data = record.SerializeToString()
    assert expected == signal_of_record(data, 0, len(data))


@settings(max_examples=40)
@given(spans=st.lists(otlp.spans(), min_size=1, max_size=5))
def test_a_large_element_is_read_in_slices_with_the_same_result(spans):
    """One ResourceSpans that is too large to be decoded whole; limits are lowered to make it so."""
    element = otlp.pb_element(spans[0])
    for each in spans[1:]:
        element.scope_spans.extend(otlp.pb_element(each).scope_spans)
    element.scope_spans[0].spans.append(otlp.pb_span(spans[-1]))
    data = trace_pb2.TracesData(resource_spans=[element]).SerializeToString()
    whole = read(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(form, "_WHOLE", 40)
        patch.setattr(form, "_SLICE", 100)
        sliced = read(data)
    assert sliced.rejected == ()
    assert otlp.same(without_urls(whole)) == otlp.same(without_urls(sliced))


def without_urls(batch):
    """Spans without schema URLs: one that follows its spans is not applied to slices (and counted)."""
    return tuple(
        type(each)(
            *(getattr(each, name) for name in each.__struct_fields__[:17]),
            each.resource,
            Scope(each.scope.name, each.scope.version, each.scope.attributes),
        )
        for each in batch.spans
    )


def test_a_record_beyond_the_limit_is_passed_over(monkeypatch):
    monkeypatch.setattr(form, "_WHOLE", 40)
    batch = read(traces(span(1), span(2, name="x" * 500), span(3)), max_record=300)
    assert [1, 3] == [int(found.span_id, 16) for found in batch.spans]
    assert "larger than 300 bytes" in batch.rejected[0].reason


def test_a_schema_url_after_sliced_records_is_counted(monkeypatch):
    monkeypatch.setattr(form, "_WHOLE", 40)
    data = trace_pb2.TracesData()
    group = data.resource_spans.add(schema_url="https://u").scope_spans.add(schema_url="https://v")
    group.spans.append(span(1, name="x" * 50))
    tally = Tally()
    found = read(data.SerializeToString(), tally=tally).spans[0]
    assert ("", Resource()) == (found.scope.schema_url, found.resource)
    assert tally.notes["schema_url_after_records"] == 2
