"""OTLP JSON as the specification writes it, and as it is found."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.inputs import Tally
from tests.inputs import otlp
from tests.inputs.otlp import TRACE, dump, minimal, plain_spans, read

BIG = 9007199254740993
"""2^53 + 1: the first integer that a double cannot hold."""


def one(span, **extra):
    """The span that a document with this one gives."""
    batch = read(dump(plain_spans(span, **extra)))
    assert batch.rejected == ()
    return batch.spans[0]


def value(written):
    """What an attribute with this AnyValue holds; the plain and the careful way agree."""
    span = minimal(attributes=[{"key": "k", "value": written}])
    plain, careful = one(span).attributes["k"], one(span, odd="\ud800").attributes["k"]
    assert otlp.same(plain) == otlp.same(careful)
    return plain


def reason(span, **extra):
    """Why this span, between two good ones, is refused; the good ones are there."""
    batch = read(dump(plain_spans(minimal(1), span, minimal(3), **extra)))
    assert ["0000000000000001", "0000000000000003"] == [found.span_id for found in batch.spans]
    (refused,) = batch.rejected
    assert "spans[1]" in refused.where
    return refused.reason


def test_ids_are_the_same_in_any_case():
    span = one(minimal(traceId=TRACE.upper(), spanId="00F067AA0BA902B7", parentSpanId="00F067Aa0Ba902B8"))
    assert (TRACE, "00f067aa0ba902b7", "00f067aa0ba902b8") == (span.trace_id, span.span_id, span.parent_span_id)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"traceId": "CvdlGRbNQ92ESOshHIAxnA=="}, "trace id is base64"),
        ({"traceId": "CvdlGRbNQ92ESOshHIAxnA"}, "trace id is base64"),
        ({"spanId": "APBnqguQK3c="}, "span id is base64"),
        ({"spanId": "APBnqguQK3c"}, "span id is base64"),
        ({"parentSpanId": "APBnqguQK3c="}, "parent span id is base64"),
        ({"traceId": TRACE[:-1]}, "trace id has 31 characters, 32 hex digits are required"),
        ({"traceId": "x" * 32}, "trace id holds something else than hex digits"),
        ({"traceId": "ab " * 10 + "ab"}, "trace id holds something else than hex digits"),
        ({"traceId": "0" * 32}, "trace id is all zero"),
        ({"spanId": "0" * 16}, "span id is all zero"),
        ({"traceId": ""}, "trace id is missing"),
        ({"spanId": None}, "span id is missing"),
        ({"spanId": 7}, "span id is not text"),
        ({"startTimeUnixNano": "-1"}, "the start time is out of range"),
        ({"startTimeUnixNano": str(2**64)}, "the start time is out of range"),
        ({"endTimeUnixNano": "2026-01-01T00:00:00Z"}, "the end time is not an integer"),
        ({"endTimeUnixNano": True}, "the end time is not an integer"),
        ({"kind": 2**40}, "span kind is out of range"),
        ({"name": 5}, "the name is not text"),
        ({"attributes": {"a": "b"}}, "an attribute list is not a list"),
        ({"attributes": ["a"]}, "an attribute is not an object"),
        ({"attributes": [{"key": 1}]}, "an attribute's key is not text"),
        ({"attributes": [{"key": "a", "value": "b"}]}, "a value is not an object"),
        ({"attributes": [{"key": "a", "value": {"intValue": "x"}}]}, "an intValue is not an integer"),
        ({"attributes": [{"key": "a", "value": {"intValue": str(2**63)}}]}, "an intValue is out of range"),
        ({"attributes": [{"key": "a", "value": {"doubleValue": "x"}}]}, "a doubleValue is not a number"),
        ({"attributes": [{"key": "a", "value": {"doubleValue": False}}]}, "a doubleValue is not a number"),
        ({"attributes": [{"key": "a", "value": {"boolValue": 1}}]}, "a boolValue is neither true nor false"),
        ({"attributes": [{"key": "a", "value": {"bytesValue": "*"}}]}, "a bytesValue is not base64"),
        ({"attributes": [{"key": "a", "value": {"stringValue": 1}}]}, "a stringValue is not text"),
        ({"droppedAttributesCount": -1}, "a dropped count is out of range"),
    ],
)
def test_a_bad_span_is_refused_and_its_neighbours_are_kept(fields, expected):
    assert reason(minimal(2, **fields)).startswith(expected)
    assert reason(minimal(2, **fields), odd="\ud800").startswith(expected)


@pytest.mark.parametrize("span", [5, "text", [1]])
def test_a_span_that_is_no_object_is_refused(span):
    assert reason(span) == "a span is not an object"


def test_twenty_good_spans_survive_one_that_is_impossible():
    spans = [minimal(number, traceId=f"{number:032x}") for number in range(1, 22)]
    spans[7]["startTimeUnixNano"] = "never"
    batch = read(dump(plain_spans(*spans)))
    assert len(batch.spans) == 20
    assert "(span 0000000000000008)" in batch.rejected[0].where
    assert (f"{8:032x}", f"{8:016x}") == (batch.rejected[0].trace_id, batch.rejected[0].span_id)


def test_a_refusal_never_quotes_the_input():
    secret = "sk-live-4242"
    for fields in ({"traceId": secret}, {"startTimeUnixNano": secret}, {"spanId": secret}, {"kind": secret, "name": [secret]}):
        batch = read(dump(plain_spans(minimal(2, **fields))))
        assert len(batch.rejected) == 1
        assert secret not in f"{batch.rejected}"


@pytest.mark.parametrize("fault", [{"startTimeUnixNano": "never"}, {"body": [[]] * 2}, {"a": "DEEP"}, {"a": 1e400}])
def test_a_refused_record_says_whose_it_was_where_that_can_be_read(fault):
    """Also one that is nested too deeply to be decoded, whatever ids stand inside it."""
    inner = {"traceId": "ee" * 16, "spanId": "ee" * 8}
    record = {"z": inner, "traceId": TRACE, "spanId": f"{7:016x}", "timeUnixNano": "never", **fault}
    for document in (plain_spans(record), {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}):
        if "startTimeUnixNano" not in fault or "resourceLogs" in document:
            record["startTimeUnixNano"] = "never"
        (refused,) = read(dump(document).replace(b'"DEEP"', b"[" * 3000 + b"]" * 3000)).rejected
        assert (TRACE, f"{7:016x}") == (refused.trace_id, refused.span_id)


def test_an_id_that_is_none_is_not_given_out_with_a_refusal():
    (refused,) = read(dump(plain_spans(minimal(2, traceId="secret")))).rejected
    assert ("", f"{2:016x}") == (refused.trace_id, refused.span_id)


@pytest.mark.parametrize("written", [BIG, str(BIG), -BIG, str(-BIG), 2**63 - 1, str(-(2**63)), 25, "25", 0, "0"])
def test_integers_are_exact_as_number_and_as_text(written):
    assert int(written) == value({"intValue": written})


def test_an_integer_written_with_a_fraction_of_zero_is_one():
    assert otlp.same(25) == otlp.same(value({"intValue": 25.0}))


@pytest.mark.parametrize("written", [str(BIG), BIG])
def test_times_are_exact_as_number_and_as_text(written):
    span = one(minimal(startTimeUnixNano=written, endTimeUnixNano=written, events=[{"timeUnixNano": written}]))
    assert (BIG, BIG, BIG) == (span.start, span.end, span.events[0].time)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("NaN", math.nan),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        (1.5, 1.5),
        (4, 4.0),
        (4.0, 4.0),
        ("4", 4.0),
        (-0.0, -0.0),
    ],
)
def test_doubles_of_every_kind_are_kept(written, expected):
    assert otlp.same(expected) == otlp.same(value({"doubleValue": written}))


def test_a_double_written_as_minus_zero_keeps_its_sign():
    for extra in (b"", b',"odd":"\\ud800"'):
        text = dump(plain_spans(minimal(attributes=[{"key": "k", "value": {"doubleValue": 77}}]))).replace(b"77", b"-0")
        span = read(text[:-1] + extra + b"}").spans[0]
        assert otlp.same(-0.0) == otlp.same(span.attributes["k"])


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"-Infinity"])
def test_a_bare_nan_as_careless_writers_put_it_is_kept(literal):
    text = dump(plain_spans(minimal(attributes=[{"key": "k", "value": {"doubleValue": 77}}]))).replace(b"77", literal)
    assert otlp.same(float(literal)) == otlp.same(read(text).spans[0].attributes["k"])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({}, None),
        (None, None),
        ({"stringValue": None}, None),
        ({"stringValue": ""}, ""),
        ({"unknownValue": 1}, None),
        ({"bytesValue": "-_8="}, b"\xfb\xff"),
        ({"bytesValue": "+/8"}, b"\xfb\xff"),
        ({"bytesValue": ""}, b""),
        ({"arrayValue": {}}, []),
        ({"arrayValue": {"values": [{}, {"intValue": 1}, {"stringValue": "a"}]}}, [None, 1, "a"]),
        ({"kvlistValue": {}}, {}),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": False}}, {"key": "b"}]}}, {"a": False, "b": None}),
    ],
)
def test_every_kind_of_value_is_read(written, expected):
    assert otlp.same(expected) == otlp.same(value(written))


def test_a_key_value_without_value_is_none():
    assert one(minimal(attributes=[{"key": "k"}])).attributes == {"k": None}


def test_a_span_with_only_the_required_fields_is_kept():
    """C5: no kind, no name, no times."""
    span = one(minimal())
    assert (0, "", 0, 0, {}, "", 0) == (
        span.kind,
        span.name,
        span.start,
        span.end,
        span.attributes,
        span.parent_span_id,
        span.status_code,
    )


@pytest.mark.parametrize("end", [{}, {"endTimeUnixNano": "0"}, {"endTimeUnixNano": 0}, {"endTimeUnixNano": None}])
def test_a_span_that_never_ended_has_no_end_and_no_status(end):
    """C11: it must not look like one that ended well."""
    span = one(minimal(startTimeUnixNano="5", **end))
    assert (5, 0, 0) == (span.start, span.end, span.status_code)


def test_null_is_unset_everywhere():
    fields = (
        "parentSpanId traceState flags name kind startTimeUnixNano endTimeUnixNano attributes droppedAttributesCount events"
        " droppedEventsCount links droppedLinksCount status"
    )
    assert otlp.same(one(minimal())) == otlp.same(one(minimal(**dict.fromkeys(fields.split()))))
    assert read(b'{"resourceSpans": null, "resourceLogs": null}').spans == ()
    assert read(b'{"resourceSpans": [{"resource": null, "scopeSpans": null}]}').rejected == ()


def test_unknown_fields_are_ignored():
    assert otlp.same(one(minimal())) == otlp.same(one(minimal(later={"a": [1]}), alsoLater=1))


@pytest.mark.parametrize("parent", ["0000000000000000", "", None])
def test_a_parent_of_zeros_means_that_there_is_none(parent):
    assert one(minimal(parentSpanId=parent)).parent_span_id == ""


def test_enum_names_are_understood_and_counted():
    tally = Tally()
    span = minimal(kind="SPAN_KIND_CLIENT", status={"code": "STATUS_CODE_ERROR", "message": "m"})
    log = {"observedTimeUnixNano": "1", "severityNumber": "SEVERITY_NUMBER_WARN2"}
    document = plain_spans(span, minimal(2, kind="INTERNAL"), minimal(3, kind="SPAN_KIND_LATER"))
    batch = read(dump({**document, "resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]}), tally=tally)
    assert [3, 1, 0] == [found.kind for found in batch.spans]
    assert (2, "m", 14) == (batch.spans[0].status_code, batch.spans[0].status_message, batch.logs[0].severity_number)
    assert (4, 1) == (tally.notes["enum_names"], tally.notes["unknown_enum_names"])


def test_snake_case_is_understood_and_counted():
    span = {
        "trace_id": TRACE,
        "span_id": "00f067aa0ba902b7",
        "start_time_unix_nano": "5",
        "attributes": [{"key": "a_b", "value": {"string_value": "x"}}, {"key": "n", "value": {"int_value": "7"}}],
    }
    log = {"observed_time_unix_nano": "6", "event_name": "e", "body": {"kvlist_value": {"values": [{"key": "c_d"}]}}}
    document = {
        "resource_spans": [{"resource": {"dropped_attributes_count": 1}, "scope_spans": [{"spans": [span]}]}],
        "resource_logs": [{"scope_logs": [{"log_records": [log]}]}],
    }
    tally = Tally()
    batch = read(dump(document), tally=tally)
    assert ({"a_b": "x", "n": 7}, 5, 1) == (
        batch.spans[0].attributes,
        batch.spans[0].start,
        batch.spans[0].resource.dropped_attributes_count,
    )
    assert ("e", {"c_d": None}) == (batch.logs[0].event_name, batch.logs[0].body)
    assert tally.notes["snake_case"] > 0


def test_of_two_attributes_with_one_key_the_last_is_kept_and_counted():
    twice = [{"key": "a", "value": {"intValue": 1}}, {"key": "a", "value": {"intValue": 2}}]
    for extra in ({}, {"odd": "\ud800"}):
        tally = Tally()
        span = read(dump(plain_spans(minimal(attributes=[*twice, *twice]), **extra)), tally=tally).spans[0]
        assert ({"a": 2}, 3) == (span.attributes, tally.notes["duplicate_attribute_keys"])


def test_odd_text_survives_beside_good_spans():
    """C9: a lone surrogate and a NUL."""
    odd = minimal(2, name="\ud83e", attributes=[{"key": "\udc00", "value": {"stringValue": "a\x00b\ud800"}}])
    batch = read(json.dumps(plain_spans(minimal(1), odd)).encode())
    assert ("\ud83e", {"\udc00": "a\x00b\ud800"}) == (batch.spans[1].name, batch.spans[1].attributes)
    assert len(batch.spans) == 2
    assert batch.rejected == ()


def test_bytes_that_are_not_utf8_are_replaced_visibly_and_counted():
    tally = Tally()
    batch = read(dump(plain_spans(minimal(1, name="caf?"), minimal(2, name="ok"))).replace(b"?", b"\xe9"), tally=tally)
    assert ["caf�", "ok"] == [span.name for span in batch.spans]
    assert tally.notes["invalid_utf8"] == 1


def test_links_that_point_nowhere_are_left_out_and_counted():
    tally = Tally()
    links = [{"traceId": TRACE, "spanId": "00f067aa0ba902b7"}, {"traceId": "", "spanId": ""}]
    span = read(dump(plain_spans(minimal(links=links))), tally=tally).spans[0]
    assert (1, 1) == (len(span.links), tally.notes["invalid_links"])


@pytest.mark.parametrize(
    ("ids", "expected", "notes"),
    [
        ({}, ("", ""), 0),
        ({"traceId": "", "spanId": ""}, ("", ""), 0),
        ({"traceId": "0" * 32, "spanId": "0" * 16}, ("", ""), 0),
        ({"traceId": TRACE.upper(), "spanId": "00F067AA0BA902B7"}, (TRACE, "00f067aa0ba902b7"), 0),
        ({"traceId": TRACE}, (TRACE, ""), 0),
        ({"traceId": "CvdlGRbNQ92ESOshHIAxnA==", "spanId": "00f067aa0ba902b7"}, ("", ""), 1),
        ({"traceId": TRACE, "spanId": 5}, (TRACE, ""), 1),
    ],
)
def test_a_log_record_with_invalid_ids_belongs_to_no_span(ids, expected, notes):
    for extra in ({}, {"odd": "\ud800"}):
        tally = Tally()
        record = {"observedTimeUnixNano": "1", **ids}
        found = read(dump({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}], **extra}), tally=tally).logs[0]
        assert (*expected, notes) == (found.trace_id, found.span_id, tally.notes["invalid_log_ids"])


def test_metrics_are_skipped_and_counted():
    metrics = {
        "resourceMetrics": [{"resource": {}, "scopeMetrics": [{"scope": {}, "metrics": [{"name": "a"}, {"name": "b"}]}]}]
    }
    for extra in ({}, {"odd": "\ud800"}):
        tally = Tally()
        batch = read(b"\n".join(dump({**each, **extra}) for each in (metrics, plain_spans(minimal()), metrics)), tally=tally)
        assert (1, 4, ()) == (len(batch.spans), tally.notes["metrics_skipped"], batch.rejected)


def test_the_schema_url_of_the_scope_wins():
    for inner, outer, expected in (("i", "o", "i"), ("", "o", "o"), ("i", "", "i")):
        group = {"scopeSpans": [{"spans": [minimal()], "schemaUrl": inner}], "schemaUrl": outer}
        for extra in ({}, {"odd": "\ud800"}):
            assert expected == read(dump({"resourceSpans": [group], **extra})).spans[0].scope.schema_url


@pytest.mark.parametrize("depth", [100, 101, 5000])
def test_a_value_nested_too_deeply_is_refused_with_its_span_alone(depth):
    text = dump(plain_spans(minimal(1), minimal(2, attributes=[{"key": "k", "value": 77}]), minimal(3)))
    nested = b'{"arrayValue":{"values":[' * (depth - 1) + b'{"intValue":1}' + b"]}}" * (depth - 1)
    batch = read(text.replace(b"77", nested))
    if depth <= 100:
        assert len(batch.spans) == 3
    else:
        assert ["0000000000000001", "0000000000000003"] == [span.span_id for span in batch.spans]
        assert "deep" in batch.rejected[0].reason


def test_a_resource_that_cannot_be_read_does_not_cost_its_spans():
    document = {"resourceSpans": [{"resource": 5, "scopeSpans": [{"scope": {"name": 7}, "spans": [minimal()]}]}]}
    batch = read(dump(document))
    assert len(batch.spans) == 1
    assert ["a resource is not an object", "a scope's name is not text"] == [each.reason for each in batch.rejected]


@pytest.mark.parametrize(
    "document",
    [
        {"resourceSpans": 5},
        {"resourceSpans": [5]},
        {"resourceSpans": [{"scopeSpans": "x"}]},
        {"resourceSpans": [{"scopeSpans": [[]]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": {}}]}]},
        {"resourceMetrics": [5]},
    ],
)
def test_an_envelope_of_the_wrong_shape_is_refused_beside_what_is_right(document):
    batch = read(dump(document) + b"\n" + dump(plain_spans(minimal())))
    assert (1, 1) == (len(batch.spans), len(batch.rejected))


@settings(max_examples=100)
@given(value=otlp.values(), key=otlp.text())
def test_the_plain_and_the_careful_way_read_the_same(value, key):
    span = minimal(attributes=[{"key": key, "value": otlp.json_value(value)}])
    assert otlp.same(one(span)) == otlp.same(one(span, odd="\ud800"))


@settings(max_examples=150)
@given(text=st.text(st.characters(categories=["Cs", "Lu", "Cc"]), max_size=8))
def test_any_text_with_surrogates_is_kept(text):
    """Halves that belong together are one character, whoever wrote them; halves that do not are kept as they are."""
    expected = json.loads(json.dumps(text))
    assert expected == read(json.dumps(plain_spans(minimal(name=text))).encode()).spans[0].name
