"""Spans that went through a tracing backend or were printed by an SDK are the spans that they were."""

import base64
import contextlib
import gzip
import io
import json

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry import trace as api
from opentelemetry.sdk.resources import Resource as SdkResource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otelreplay.errors import InputError, LimitError, TraceFormatError
from otelreplay.inputs import Tally, read_batches
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.loose import any_id, moment
from otelreplay.spans.model import Link
from tests.inputs import otlp
from tests.inputs.otlp import dump, minimal, plain_spans, read

TRACE, ROOT, CHILD = "0af7651916cd43dd8448eb211c80319c", "00000000000000a1", "b7ad6b7169203331"
START = 1_790_000_000_123_456_000
ISO = "2026-09-21T14:13:20.123456Z"


def form_of(data):
    tally = Tally()
    read(data, tally=tally)
    return tally.form


def b64(text):
    return base64.b64encode(bytes.fromhex(text)).decode()


def jaeger(**more):
    tags = [
        {"key": "gen_ai.request.model", "type": "string", "value": "m"},
        {"key": "n", "type": "int64", "value": 9007199254740993},
        {"key": "as_text", "type": "int64", "value": "25"},
        {"key": "t", "type": "float64", "value": 0.5},
        {"key": "on", "type": "bool", "value": True},
        {"key": "raw", "type": "binary", "value": "aGk="},
        {"key": "span.kind", "type": "string", "value": "client"},
        {"key": "otel.status_code", "type": "string", "value": "ERROR"},
        {"key": "error", "type": "bool", "value": True},
        {"key": "otel.status_description", "type": "string", "value": "it broke"},
        {"key": "otel.scope.name", "type": "string", "value": "lib"},
        {"key": "otel.scope.version", "type": "string", "value": "1.2"},
    ]
    span = {
        "traceID": TRACE,
        "spanID": CHILD,
        "operationName": "chat",
        "references": [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": ROOT}],
        "startTime": START // 1000,
        "duration": 1500,
        "tags": tags,
        "logs": [
            {
                "timestamp": START // 1000,
                "fields": [
                    {"key": "event", "type": "string", "value": "exception"},
                    {"key": "k", "type": "string", "value": "v"},
                ],
            }
        ],
        "processID": "p1",
        **more,
    }
    process = {"serviceName": "desk", "tags": [{"key": "host", "type": "string", "value": "h"}]}
    return {"data": [{"traceID": TRACE, "spans": [span], "processes": {"p1": process}}], "total": 0, "errors": None}


def zipkin(**more):
    return {
        "traceId": TRACE,
        "id": CHILD,
        "parentId": ROOT,
        "name": "chat",
        "kind": "CLIENT",
        "timestamp": START // 1000,
        "duration": 1500,
        "localEndpoint": {"serviceName": "desk"},
        "tags": {
            "gen_ai.request.model": "m",
            "otel.status_code": "ERROR",
            "error": "it broke",
            "otel.library.name": "lib",
            "otel.library.version": "1.2",
            "otel.dropped_attributes_count": "3",
        },
        "annotations": [{"timestamp": START // 1000, "value": '"exception": {"k": "v"}'}, {"timestamp": 1, "value": "plain"}],
        **more,
    }


def tempo(**more):
    span = {
        "traceId": b64(TRACE),
        "spanId": b64(CHILD),
        "parentSpanId": b64(ROOT),
        "name": "chat",
        "kind": "SPAN_KIND_CLIENT",
        "startTimeUnixNano": str(START),
        "endTimeUnixNano": str(START + 1_500_000),
        "attributes": [
            {"key": "gen_ai.request.model", "value": {"stringValue": "m"}},
            {"key": "n", "value": {"intValue": "7"}},
        ],
        "events": [
            {"name": "exception", "timeUnixNano": str(START), "attributes": [{"key": "k", "value": {"stringValue": "v"}}]}
        ],
        "links": [{"traceId": b64(TRACE), "spanId": b64(ROOT)}],
        "status": {"code": "STATUS_CODE_ERROR", "message": "it broke"},
        **more,
    }
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "desk"}}]}
    library = {"name": "lib", "version": "1.2"}
    return {
        "resource": resource,
        "instrumentationLibrarySpans": [{"instrumentationLibrary": library, "spans": [span]}],
    }


def javascript(**more):
    return {
        "name": "chat",
        "kind": 2,
        "spanContext": {"traceId": TRACE, "spanId": CHILD, "traceFlags": 1},
        "parentSpanContext": {"traceId": TRACE, "spanId": ROOT},
        "startTime": [START // 10**9, START % 10**9],
        "endTime": [START // 10**9, START % 10**9 + 1_500_000],
        "attributes": {"gen_ai.request.model": "m", "n": 7, "unset": None},
        "status": {"code": 2, "message": "it broke"},
        "events": [{"name": "exception", "time": [START // 10**9, START % 10**9], "attributes": {"k": "v"}}],
        "links": [],
        "resource": {"attributes": {"service.name": "desk"}},
        "instrumentationScope": {"name": "lib", "version": "1.2"},
        **more,
    }


def flat(**more):
    return {
        "trace_id": TRACE,
        "span_id": CHILD,
        "parent_span_id": ROOT,
        "name": "chat",
        "kind": "CLIENT",
        "start_time": START,
        "end_time": START + 1_500_000,
        "attributes": {"gen_ai.request.model": "m", "n": 7},
        "status": {"code": "ERROR", "message": "it broke"},
        "span_events": [{"name": "exception", "timestamp": START, "attributes": {"k": "v"}}],
        "resource": {"service.name": "desk"},
        "scope": {"name": "lib", "version": "1.2"},
        **more,
    }


FILES = {
    "Jaeger JSON": dump(jaeger()),
    "Zipkin JSON": dump([zipkin()]),
    "a Tempo trace": dump({"batches": [tempo()]}),
    "a list of spans": dump([flat()]),
}
VARIANTS = {
    "jaeger, pretty": dump(jaeger(), indent=4),
    "jaeger, processes first": dump({"data": [dict(reversed(jaeger()["data"][0].items()))]}),
    "jaeger, one trace": dump(jaeger()["data"][0]),
    "jaeger, lines": dump(jaeger()) + b"\n" + dump({"data": []}) + b"\n",
    "zipkin, traces": dump([[zipkin()]]),
    "tempo, v2": dump({"trace": {"batches": [tempo()]}, "metrics": {}}),
    "tempo, new names": dump({"trace": {"resourceSpans": [tempo()]}}),
    "jaeger v3": dump({"result": {"resourceSpans": [tempo()]}}),
    "javascript": dump([javascript()]),
    "javascript, lines": dump(javascript()) + b"\n",
    "flat, in an object": dump({"session_id": "s", "spans": [flat()]}, indent=2),
    "flat, gzip": gzip.compress(dump([flat()]), mtime=0),
    "flat, times as text": dump([flat(start_time=ISO, end_time="2026-09-21 14:13:20.124956+00:00")]),
    "flat, hexadecimal numbers": dump([flat(trace_id=f"0x{TRACE}", span_id=int(CHILD, 16))]),
}


@pytest.mark.parametrize("data", [*FILES.values(), *VARIANTS.values()], ids=[*FILES, *VARIANTS])
def test_a_span_is_the_same_whatever_form_it_went_through(data):
    batch = read(data)
    assert batch.rejected == ()
    (span,) = batch.spans
    assert (TRACE, CHILD, ROOT) == (span.trace_id, span.span_id, span.parent_span_id)
    assert ("chat", 3, START, START + 1_500_000) == (span.name, span.kind, span.start, span.end)
    assert (2, "it broke") == (span.status_code, span.status_message)
    assert span.attributes["gen_ai.request.model"] == "m"
    assert ("exception", START, {"k": "v"}) == (span.events[0].name, span.events[0].time, span.events[0].attributes)
    assert span.resource.attributes["service.name"] == "desk"
    assert ("lib", "1.2") == (span.scope.name, span.scope.version)
    assert {"otel.status_code", "error", "span.kind", "unset"}.isdisjoint(span.attributes)


@pytest.mark.parametrize("label", FILES)
def test_the_form_is_told_by_the_content(label):
    assert label == form_of(FILES[label])


def test_typed_tags_of_jaeger_keep_their_types():
    (span,) = read(dump(jaeger())).spans
    kept = {name: span.attributes[name] for name in ("n", "as_text", "t", "on", "raw")}
    assert otlp.same({"n": 9007199254740993, "as_text": 25, "t": 0.5, "on": True, "raw": b"hi"}) == otlp.same(kept)
    assert {"service.name": "desk", "host": "h"} == span.resource.attributes


def test_other_references_of_jaeger_are_links_and_short_ids_are_padded():
    other = {"refType": "FOLLOWS_FROM", "traceID": "abc", "spanID": "1"}
    mine = {"refType": "CHILD_OF", "traceID": TRACE, "spanID": "a1"}
    (span,) = read(dump(jaeger(references=[other, mine]))).spans
    assert span.parent_span_id == ROOT
    assert span.links == (Link("abc".rjust(32, "0"), "1".rjust(16, "0")),)


def test_zipkin_says_that_its_attributes_are_text():
    tally = Tally()
    (span,) = read(dump([zipkin()]), tally=tally).spans
    assert 1 == tally.notes["text_attributes"]
    assert (3, "plain") == (span.dropped_attributes_count, span.events[1].name)


def test_what_tempo_cut_is_said():
    batch = read(dump({"trace": {"batches": [tempo()]}, "status": "PARTIAL", "message": "too large"}))
    assert 1 == len(batch.spans)
    assert ["the backend gave a part of the trace only: it was too large"] == [each.reason for each in batch.rejected]


def test_a_root_of_a_backend_has_no_parent():
    for data in (
        dump([zipkin(parentId=None)]),
        dump({"batches": [tempo(parentSpanId="AAAAAAAAAAA=")]}),
        dump([flat(parent_span_id="0x0000000000000000")]),
        dump([javascript(parentSpanContext=None)]),
        dump(jaeger(references=[])),
    ):
        assert [""] == [span.parent_span_id for span in read(data).spans]


# The Python SDK


def sdk_spans():
    exporter, provider = InMemorySpanExporter(), TracerProvider(resource=SdkResource({"service.name": "desk", "n": 1}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("lib", "1.2")
    with tracer.start_as_current_span("root") as root:
        root.set_attribute("texts", ["a", "b"])
        link = api.Link(root.get_span_context(), {"l": True})
        with tracer.start_as_current_span("child", kind=api.SpanKind.CLIENT, links=[link]) as child:
            child.set_attributes({"i": 3, "f": 0.25, "s": "}\n{"})
            child.add_event("told", {"k": "v"}, timestamp=START)
            child.set_status(api.Status(api.StatusCode.ERROR, "no"))
    return exporter.get_finished_spans()


@pytest.mark.parametrize("shape", ["console", "lines", "array", "between output"])
def test_what_the_python_sdk_prints_is_what_it_recorded(shape):
    originals = sdk_spans()
    texts = [span.to_json(indent=None if shape == "lines" else 4) for span in originals]
    data = {
        "console": "\n".join(texts) + "\n",
        "lines": "\n".join(texts),
        "array": f"[{','.join(texts)}]",
        "between output": "Hello, I am the agent.\n" + "\nanswer: 42\n".join(texts) + "\ndone\n",
    }[shape].encode()
    tally = Tally()
    batch = read(data, tally=tally)
    assert batch.rejected == ()
    assert "spans as the Python SDK prints them" == tally.form
    assert (3 if shape == "between output" else 0) == tally.notes["text_lines"]
    child, root = batch.spans
    assert [f"{span.context.trace_id:032x}" for span in originals] == [child.trace_id, root.trace_id]
    assert root.span_id == child.parent_span_id
    assert {"i": 3, "f": 0.25, "s": "}\n{"} == child.attributes
    assert {"texts": ["a", "b"]} == root.attributes
    assert (3, 1, 2, "no") == (child.kind, root.kind, child.status_code, child.status_message)
    (event,) = child.events
    assert ("told", START // 1000, {"k": "v"}) == (event.name, event.time // 1000, event.attributes)
    assert (Link(root.trace_id, root.span_id, attributes={"l": True}),) == child.links
    assert abs(originals[0].start_time - child.start) <= 1000  # it prints microseconds
    assert {"service.name": "desk", "n": 1} == child.resource.attributes


def test_log_records_that_the_sdk_prints_are_log_records():
    record = {
        "body": {"content": "x"},
        "severity_number": 9,
        "severity_text": "INFO",
        "attributes": {"a": 1},
        "dropped_attributes": 0,
        "timestamp": ISO,
        "observed_timestamp": ISO,
        "trace_id": f"0x{TRACE}",
        "span_id": f"0x{CHILD}",
        "trace_flags": 1,
        "resource": {"attributes": {"service.name": "desk"}, "schema_url": ""},
        "event_name": "gen_ai.choice",
    }
    (log,) = read(dump(record, indent=4) + b"\n").logs
    assert (TRACE, CHILD, START, {"content": "x"}) == (log.trace_id, log.span_id, log.time, log.body)
    assert (9, "gen_ai.choice", {"a": 1}) == (log.severity_number, log.name, log.attributes)


# Phoenix


def row(**more):
    return {
        "name": "llm",
        "span_kind": "LLM",
        "parent_id": None,
        "start_time": START // 10**6,
        "end_time": "2026-09-21T14:13:21+00:00",
        "status_code": "OK",
        "status_message": "",
        "events": [],
        "context.span_id": CHILD,
        "context.trace_id": TRACE,
        **more,
    }


MESSAGES = [{"message.role": "user", "message.content": "hi"}]
NESTED = [{"message": {"role": "user", "content": "hi"}}]


@pytest.mark.parametrize(
    "data",
    [
        dump([row(**{"attributes.llm.model_name": "m", "attributes.llm.input_messages": MESSAGES, "attributes.x": None})]),
        dump(row(**{"attributes.llm.model_name": "m", "attributes.llm.input_messages": NESTED})) + b"\n",
        dump(
            {
                "data": [
                    row(
                        context={"trace_id": TRACE, "span_id": CHILD},
                        attributes={"llm": {"model_name": "m", "input_messages": NESTED}},
                    )
                ]
            }
        ),
    ],
    ids=["data frame", "lines", "REST"],
)
def test_rows_of_phoenix_are_spans_in_the_flat_attributes_of_the_convention(data):
    (span,) = read(data).spans
    assert {
        "llm.model_name": "m",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "hi",
        "openinference.span.kind": "LLM",
    } == span.attributes
    assert (TRACE, CHILD, "", 1) == (span.trace_id, span.span_id, span.parent_span_id, span.status_code)
    assert (START // 10**6 * 10**6, 1_790_000_001_000_000_000) == (span.start, span.end)


def test_attributes_that_phoenix_parsed_are_json_text_again():
    (span,) = read(dump([row(**{"attributes.metadata": {"a": [1]}, "attributes.tool.parameters": {"p": {}}})])).spans
    assert ('{"a":[1]}', '{"p":{}}') == (span.attributes["metadata"], span.attributes["tool.parameters"])


# Langfuse


def observation(**more):
    return {
        "id": CHILD,
        "traceId": TRACE,
        "parentObservationId": ROOT,
        "type": "GENERATION",
        "name": "chat",
        "startTime": ISO,
        "endTime": "2026-09-21T14:13:20.124956Z",
        "level": "DEFAULT",
        "statusMessage": None,
        "input": [{"role": "user", "content": "hi"}],
        "output": {"role": "assistant", "content": "hello"},
        "model": "m",
        "modelParameters": {"temperature": 0},
        "usageDetails": {"input": 3, "output": 4},
        "metadata": {"team": "blue"},
        **more,
    }


def langfuse(*observations, **trace):
    return {"trace": {"id": TRACE, "projectId": "p", "sessionId": "s-1", **trace}, "observations": list(observations)}


@pytest.mark.parametrize(
    "data",
    [
        dump(langfuse(observation())),
        dump([observation()]),
        dump(observation()) + b"\n",
        dump({"data": [observation()], "meta": {}}),
        dump({"id": TRACE, "projectId": "p", "observations": [observation()]}),
        dump({"trace": {"id": TRACE, "projectId": "p", "observations": [observation()]}}),
    ],
    ids=["trace and observations", "list", "lines", "API", "trace of the API", "inside of the trace"],
)
def test_an_observation_is_a_span_in_the_attributes_of_langfuses_sdk(data):
    (span,) = read(data).spans
    assert (TRACE, CHILD, ROOT, START, START + 1_500_000) == (
        span.trace_id, span.span_id, span.parent_span_id, span.start, span.end,
    )  # fmt: skip
    at = "langfuse.observation."
    assert ("generation", "m") == (span.attributes[f"{at}type"], span.attributes[f"{at}model.name"])
    assert [{"role": "user", "content": "hi"}] == json.loads(span.attributes[f"{at}input"])
    assert {"input": 3, "output": 4} == json.loads(span.attributes[f"{at}usage_details"])
    assert "blue" == span.attributes[f"{at}metadata.team"]


def test_the_copies_inside_of_a_trace_are_not_taken_twice():
    batch = read(dump(langfuse(observation(), observations=[observation(input=None, output=None)])))
    assert 1 == len(batch.spans)
    assert "langfuse.observation.input" in batch.spans[0].attributes
    assert "s-1" == batch.spans[0].attributes["session.id"]


def test_the_original_span_is_put_back_and_what_it_holds_is_not_told_twice():
    original = {"openinference.span.kind": "LLM", "input.value": '[{"role": "user", "content": "hi"}]', "output.value": "x"}
    metadata = {
        "attributes": original,
        "resourceAttributes": {"service.name": "desk"},
        "scope": {"name": "lib", "version": "1"},
    }
    (span,) = read(dump(langfuse(observation(metadata=json.dumps(metadata))))).spans
    assert original.items() <= span.attributes.items()
    assert "langfuse.observation.input" not in span.attributes
    assert "langfuse.observation.output" in span.attributes  # which is not what the original holds
    assert ("desk", "lib") == (span.resource.attributes["service.name"], span.scope.name)


def test_what_langfuse_took_out_of_the_ai_sdks_spans_is_put_back():
    calls = [{"toolName": "t", "toolCallId": "c", "input": "{}"}]
    metadata = {"attributes": {"ai.operationId": "ai.generateText.doGenerate"}}
    (span,) = read(dump(langfuse(observation(metadata=metadata, output=calls)))).spans
    assert json.loads(span.attributes["ai.response.toolCalls"]) == calls
    assert [{"role": "user", "content": "hi"}] == json.loads(span.attributes["ai.prompt.messages"])


def test_ids_that_are_no_opentelemetry_ids_stay_the_same_id_everywhere():
    tally = Tally()
    uuid = "0af76519-16cd-43dd-8448-eb211c80319c"
    first, second = read(
        dump([observation(id="one", traceId=uuid), observation(parentObservationId="one", traceId=uuid)]), tally=tally
    ).spans
    assert (TRACE, TRACE, first.span_id) == (first.trace_id, second.trace_id, second.parent_span_id)
    assert len(first.span_id) == 16
    assert 2 == tally.notes["ids_derived"]


def test_an_observation_that_failed_is_a_span_that_failed():
    (span,) = read(dump([observation(level="ERROR", statusMessage="no")])).spans
    assert (2, "no") == (span.status_code, span.status_message)


# The Collector's file exporter


def test_every_form_of_the_collectors_file_exporter_is_read():
    requests = [plain_spans(minimal(1)), plain_spans(minimal(2))]
    lines = b"".join(dump(each) + b"\n" for each in requests)
    messages = [otlp.traces_data(read(dump(each)).spans) for each in requests]
    files = {
        "json": lines,
        "proto": otlp.fixed(*messages),
        "json, zstd": otlp.fixed(*(zstandard.compress(dump(each)) for each in requests)),
        "proto, zstd": otlp.fixed(*(zstandard.compress(each) for each in messages)),
    }
    for data in files.values():
        assert [1, 2] == [int(span.span_id, 16) for span in read(data).spans]


def test_a_cut_compressed_file_of_the_collector_keeps_what_was_whole():
    data = otlp.fixed(*(zstandard.compress(dump(plain_spans(minimal(number)))) for number in (1, 2)))
    batch = read(data[:-5])
    assert [1] == [int(span.span_id, 16) for span in batch.spans]
    assert batch.rejected
    whole, junk = read(data).spans, read(data + b"\0\0\0\x09garbage")
    assert whole == junk.spans
    assert 1 == len(junk.rejected)


def test_a_length_of_the_collector_that_promises_more_than_there_is_is_refused():
    message = zstandard.compress(dump(plain_spans(minimal(1))))
    batch = read((len(message) + 9).to_bytes(4, "big") + message)
    assert 1 == len(batch.spans)
    assert ["the data ends inside this message"] == [each.reason for each in batch.rejected]


# Values


@pytest.mark.parametrize("written", [TRACE, TRACE.upper(), f"0x{TRACE}", int(TRACE, 16), b64(TRACE), b64(TRACE).rstrip("=")])
def test_an_id_is_the_same_id_in_every_spelling(written):
    assert TRACE == any_id(written, 32, "id")


@pytest.mark.parametrize(
    "written", ["", None, "zz" * 16, TRACE[:-1], "0" * 32, 0, True, 16**32, [TRACE], "not base64 at all ===="]
)
def test_what_is_no_id_is_refused(written):
    with pytest.raises(RefusedError):
        any_id(written, 32, "id")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (START, START),
        (str(START), START),
        (START // 1000, START),
        (START // 10**6, START // 10**6 * 10**6),
        (START // 10**9, START // 10**9 * 10**9),
        ("1790000000.123456", START),
        (1790000000.5, 1_790_000_000_500_000_000),
        (ISO, START),
        ("2026-09-21T16:13:20.123456+02:00", START),
        ("2026-09-21 09:13:20.123456-0500", START),
        ([1790000000, 123456000], START),
        (None, 0),
        ("", 0),
    ],
)
def test_a_time_is_the_same_time_in_every_spelling(written, expected):
    assert expected == moment(written, "it")


@pytest.mark.parametrize(
    "written", ["2026-02-30T00:00:00Z", "soon", True, -1, float("nan"), float("inf"), [1], {}, "9999-99-99"]
)
def test_what_is_no_time_is_refused(written):
    with pytest.raises(RefusedError):
        moment(written, "it")


def test_a_process_of_jaeger_may_stand_in_its_span_and_a_broken_one_costs_no_span():
    (span,) = read(dump(jaeger(process={"serviceName": "own", "tags": []}))).spans
    assert "own" == span.resource.attributes["service.name"]
    broken = jaeger()
    broken["data"][0]["processes"]["p1"] = 7
    batch = read(dump(broken))
    assert (1, 1) == (len(batch.spans), len(batch.rejected))


def test_both_sides_of_a_call_that_share_an_id_in_zipkin_are_two_spans_and_the_server_s_stands_inside():
    client, server = read(dump([zipkin(kind="CLIENT"), zipkin(kind="SERVER", shared=True)])).spans
    assert server.span_id != client.span_id == server.parent_span_id
    (again,) = read(dump([zipkin(kind="SERVER", shared=True)])).spans
    assert again.span_id == server.span_id


def test_a_remote_endpoint_of_zipkin_is_kept():
    (span,) = read(dump([zipkin(remoteEndpoint={"serviceName": "db", "ipv4": "192.0.2.1", "port": 5432})])).spans
    kept = {name: span.attributes[name] for name in ("peer.service", "net.peer.ip", "net.peer.port")}
    assert {"peer.service": "db", "net.peer.ip": "192.0.2.1", "net.peer.port": 5432} == kept


# Damage and hostility


@pytest.mark.parametrize(
    ("good", "bad", "why"),
    [
        (jaeger()["data"][0]["spans"][0], {"spanID": "zz"}, "span id"),
        (zipkin(), {"traceId": None}, "trace id is missing"),
        (flat(), {"start_time": "yesterday"}, "the start time is no time"),
        (flat(), {"attributes": {"a": json.loads("[" * 200 + "]" * 200)}}, "levels deep"),
        (observation(), {"startTime": True}, "a time is no time"),
        (row(), {"events": "{"}, "its events are not valid JSON"),
        (javascript(), {"events": [1]}, "an event is not an object"),
    ],
    ids=["jaeger", "zipkin", "list", "depth", "langfuse", "phoenix", "javascript"],
)
def test_a_bad_record_costs_no_other(good, bad, why):
    pair = [{**good, **bad}, good]
    data = dump({"data": [{"traceID": TRACE, "spans": pair, "processes": {}}]} if "spanID" in good else pair)
    batch = read(data)
    assert 1 == len(batch.spans)
    (refusal,) = batch.rejected
    assert why in refusal.reason
    assert "yesterday" not in refusal.reason + refusal.where


def test_a_cut_export_keeps_the_records_before_the_cut():
    for data in (dump([flat(), flat(), flat()]), dump(jaeger(), indent=1), dump(langfuse(observation(), observation()))):
        batch = read(data[: int(len(data) * 0.95)])
        assert batch.spans
        assert any("broken" in each.reason for each in batch.rejected)


def test_a_record_beyond_the_limit_is_refused_alone():
    batch = read(dump([flat(name="n" * 5000), flat()]), max_record=2000)
    assert 1 == len(batch.spans)
    assert ["it is larger than 2000 bytes"] == [each.reason for each in batch.rejected]


def test_spans_that_wait_for_their_process_are_bounded():
    data = dump({"data": [{"traceID": TRACE, "spans": [{"traceID": "1", "spanID": "1"}] * 200, "processes": {}}]})
    with pytest.raises(LimitError) as caught:
        read(data, max_record=5000)
    assert "input.limit" == caught.value.code


def test_a_file_of_nothing_but_bad_records_is_refused_with_the_reason():
    with pytest.raises(TraceFormatError, match=r"not what it looks like \(Zipkin JSON\): trace id is missing") as caught:
        read(dump([zipkin(traceId=None)]))
    assert "input.unrecognised" == caught.value.code


@pytest.mark.parametrize(
    "data",
    [
        dump({"gen_ai.request.model": "m", "gen_ai.input.messages": "[]"}),
        dump({"spanName": "x", "attributes": {"ai.model.id": "m"}}),
    ],
)
def test_attributes_without_ids_are_refused_as_such(data):
    with pytest.raises(TraceFormatError) as caught:
        read(data)
    assert "input.no_ids" == caught.value.code


def test_a_trace_that_talks_of_other_forms_is_still_a_trace():
    talk = {key: {"stringValue": "x"} for key in ("traceID", "operationName", "observations", "spanContext", "batches", "data")}
    attributes = [{"key": key, "value": value} for key, value in talk.items()]
    inner = {"kvlistValue": {"values": [{"key": "spans", "value": {"arrayValue": {"values": []}}}]}}
    data = dump(plain_spans(minimal(attributes=[*attributes, {"key": "x", "value": inner}])))
    assert form_of(data).startswith("OTLP JSON")


SEEDS = [*FILES.values(), VARIANTS["jaeger v3"], VARIANTS["javascript"], dump([row()]), dump(langfuse(observation()))]
SEEDS += ["\n".join(span.to_json() for span in sdk_spans()).encode()]


@settings(max_examples=200)
@given(seed=st.sampled_from(SEEDS), at=st.floats(0, 1, exclude_max=True), piece=st.binary(max_size=6), drop=st.integers(0, 30))
def test_damage_raises_nothing_but_input_errors(seed, at, piece, drop):
    place = int(len(seed) * at)
    with contextlib.suppress(InputError):
        list(read_batches(io.BytesIO(seed[:place] + piece + seed[place + drop :]), name="", max_record=1 << 16))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([TRACE, CHILD, ISO, "0x", "", "{", "A" * 11]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["attributes", "context", "name", "k"]), inner),
    max_leaves=6,
)


@settings(max_examples=200)
@given(
    record=st.sampled_from([zipkin(), flat(), javascript(), row(), observation(), jaeger()["data"][0]["spans"][0]]),
    junk=JUNK,
    data=st.data(),
)
def test_a_member_of_any_type_raises_nothing_but_input_errors(record, junk, data):
    key = data.draw(st.sampled_from(sorted(record)))
    records = [{**record, key: junk}, record]
    text = json.dumps({"data": [{"spans": records, "processes": {}}]} if "spanID" in record else records).encode()
    with contextlib.suppress(InputError):
        read(text)
