"""OTLP/gRPC, from the wire: sizes, packing, statuses, tokens."""

import gzip
import logging

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

from otelreplay.errors import UsageError
from otelreplay.receiver.inbox import InboxError
from otelreplay.testing.inboxes import sample_log, sample_span
from tests.inputs import otlp
from tests.receiver.posts import LOGS_SERVICE, TRACE_SERVICE, cassettes, partial, pending_spans, refusal, request, served

METRICS_SERVICE = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_every_packing_is_taken(post, compression):
    body = request(sample_span(1, attributes={"text": "words " * 500}))
    assert post.call(body, compression=compression) == b""
    assert post.call(body, compression=compression) == b""
    assert list(pending_spans(post)) == [f"{1:016x}"]
    assert post.status["duplicates"]["spans"] == 1


def test_logs_and_metrics_have_their_services(post):
    assert post.call(otlp.logs_data([sample_log()]), LOGS_SERVICE) == b""
    assert post.call(otlp.metrics_data("a"), METRICS_SERVICE) == b""
    assert (post.status["stored"]["logs"], post.status["metrics_dropped"]) == (1, 1)


def test_an_empty_request_succeeds(post):
    assert post.call(b"") == b""


def test_a_span_of_six_megabytes_is_taken_with_the_small_ones_beside_it(post):
    """C1: gRPC's own default is 4 MiB, and refusing the request would lose the small ones too."""
    large = sample_span(1, attributes={"gen_ai.input.messages": "prompt " * 900_000})
    assert post.call(request(large, *(sample_span(n) for n in range(2, 52)))) == b""
    assert len(pending_spans(post)) == 51
    assert len(pending_spans(post)[large.span_id].attributes["gen_ai.input.messages"]) > 6_000_000


def test_a_real_exporter_sends_six_megabytes(post):
    """C1, with the exporter that people use."""
    exporter = GrpcSpans(endpoint=f"http://127.0.0.1:{post.receiver.grpc.port}", insecure=True)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("tests")
    with tracer.start_as_current_span("large", attributes={"text": "x" * 6_000_000}):
        for number in range(50):
            tracer.start_span(f"small {number}").end()
    provider.shutdown()
    assert len(pending_spans(post)) == 51


def test_what_is_beyond_the_limit_is_refused_with_both_sizes_and_not_to_be_sent_again(tmp_path):
    with served(tmp_path / "store", limit=1 << 20) as post:
        for body, compression in ((bytes((1 << 20) + 10), None), (bytes(5 << 20), grpc.Compression.Gzip)):
            with pytest.raises(grpc.RpcError) as error:
                post.call(body, compression=compression)
            assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            code, message, details = refusal(error.value)
            assert (code, details) == (8, {})
            assert str(1 << 20) in message


def test_a_bomb_is_refused(tmp_path):
    """C8, on this way in: the library's own unpacking has no part in it."""
    bomb = gzip.compress(b"\0" * (300 << 20), 9)
    with served(tmp_path / "store", limit=8 << 20) as post:
        with pytest.raises(grpc.RpcError) as error:
            post.call(bomb)
        assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_what_cannot_be_read_is_an_invalid_argument(post):
    with pytest.raises(grpc.RpcError) as error:
        post.call(b"\xff\xfe garbage")
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    code, message, details = refusal(error.value)
    assert (code, list(details)) == (3, ["BadRequest"])
    assert "garbage" not in message


def test_a_part_that_is_refused_is_named(post):
    """C6: over gRPC, as a partial success."""
    rejected, message = partial(
        post.call(request(sample_span(1)) + request(sample_span(2, trace_id="0" * 32)) + request(sample_span(3)))
    )
    assert (rejected, len(pending_spans(post))) == (1, 2)
    assert "element 1" in message
    assert "all zero" in message


def test_no_room_and_no_disk_are_unavailable_with_a_time_to_wait(post, monkeypatch):
    """OTLP senders try again after UNAVAILABLE, and after nothing else that would fit."""

    def full(deliveries):
        raise InboxError("the disk is full", code="inbox.full")

    monkeypatch.setattr(post.receiver._inbox, "put", full)
    with pytest.raises(grpc.RpcError) as error:
        post.call(request(sample_span(1)))
    assert error.value.code() is grpc.StatusCode.UNAVAILABLE
    assert refusal(error.value)[2]["RetryInfo"].retry_delay.seconds == 5
    assert post.post(request(sample_span(1)))[:1] == (503,)
    monkeypatch.undo()
    post.receiver._budget.take(post.receiver._budget.limit)
    with pytest.raises(grpc.RpcError) as error:
        post.call(request(sample_span(1)))
    assert refusal(error.value)[2]["RetryInfo"].retry_delay.seconds == 1
    post.receiver._budget.give(post.receiver._budget.limit)
    assert post.call(request(sample_span(1))) == b""
    assert post.status["refused"] == {"unavailable": 2, "busy": 1}


def test_a_fault_of_ours_quotes_nothing(post, monkeypatch):
    def broken(deliveries):
        raise KeyError("a secret")

    monkeypatch.setattr(post.receiver._inbox, "put", broken)
    with pytest.raises(grpc.RpcError) as error:
        post.call(request(sample_span(1)))
    assert error.value.code() is grpc.StatusCode.INTERNAL
    assert "secret" not in error.value.details()


def test_one_faulty_delivery_does_not_harm_those_it_is_written_with(post, monkeypatch):
    real = post.receiver._inbox.put

    def put(deliveries):
        if any(span.name == "faulty" for each in deliveries for span in each.spans):
            raise KeyError("faulty")
        return real(deliveries)

    monkeypatch.setattr(post.receiver._inbox, "put", put)
    committer = post.receiver._committer
    from otelreplay.receiver.committer import _Waiting
    from otelreplay.receiver.inbox import delivery

    waiting = [_Waiting(delivery([span])) for span in (sample_span(1), sample_span(2, name="faulty"), sample_span(3))]
    committer._write(waiting)
    assert [each.receipt is not None for each in waiting] == [True, False, True]


def test_a_token_names_the_tenant(tmp_path):
    with served(tmp_path / "store", tokens={"a-token-of-some-length": "acme"}) as post:
        for metadata in ((), (("authorization", "Bearer wrong"),)):
            with pytest.raises(grpc.RpcError) as error:
                post.call(request(sample_span(1)), metadata=metadata)
            assert error.value.code() is grpc.StatusCode.UNAUTHENTICATED
        post.call(request(sample_span(1)), metadata=(("authorization", "Bearer a-token-of-some-length"),))
    (cassette,) = cassettes(tmp_path / "store").values()
    assert cassette.header.policy["tenant"] == "acme"


def test_a_port_that_is_taken_is_said_to_be(post, tmp_path):
    """Not shared, as the library would do by default."""
    from otelreplay.receiver.server import Settings
    from otelreplay.wiring.serving import serving

    for name, taken in (("grpc", post.receiver.grpc.port), ("http", post.receiver.http.port)):
        settings = Settings(**{"grpc": None, "http": None, name: ("127.0.0.1", taken)})
        with (
            pytest.raises(UsageError) as error,
            serving(tmp_path / name, policy="off", settings=settings, tokens={}, say=print),
        ):
            pass
        assert error.value.code == "serve.address"


def exporters(post):
    grpc_end, http_end = f"http://127.0.0.1:{post.receiver.grpc.port}", f"http://127.0.0.1:{post.receiver.http.port}"
    return {
        "grpc": (GrpcSpans(endpoint=grpc_end, insecure=True), OTLPLogExporter(endpoint=grpc_end, insecure=True)),
        "grpc, gzip": (
            GrpcSpans(endpoint=grpc_end, insecure=True, compression=grpc.Compression.Gzip),
            OTLPLogExporter(endpoint=grpc_end, insecure=True, compression=grpc.Compression.Gzip),
        ),
        "http": (HttpSpans(endpoint=f"{http_end}/v1/traces"), HttpLogs(endpoint=f"{http_end}/v1/logs")),
        "http, gzip": (
            HttpSpans(endpoint=f"{http_end}/v1/traces", compression=Compression.Gzip),
            HttpLogs(endpoint=f"{http_end}/v1/logs", compression=Compression.Gzip),
        ),
    }


@pytest.mark.parametrize("way", ["grpc", "grpc, gzip", "http", "http, gzip"])
def test_real_exporters_of_spans_and_logs(post, way):
    """The exporters of the OpenTelemetry SDK, as a program would use them."""
    spans, logs = exporters(post)[way]
    traces, records = TracerProvider(shutdown_on_exit=False), LoggerProvider(shutdown_on_exit=False)
    traces.add_span_processor(SimpleSpanProcessor(spans))
    records.add_log_record_processor(SimpleLogRecordProcessor(logs))
    logger = records.get_logger("tests")
    with traces.get_tracer("tests").start_as_current_span("root"):
        from opentelemetry._logs import LogRecord, SeverityNumber

        logger.emit(LogRecord(body={"said": "hello"}, event_name="gen_ai.x", severity_number=SeverityNumber.INFO))
    traces.shutdown()
    records.shutdown()
    logging.getLogger("opentelemetry").handlers.clear()
    assert [span.name for span in pending_spans(post).values()] == ["root"]
    inbox = post.receiver._inbox
    ((_, (record,)),) = [inbox.read([state.key]) for state in inbox.pending()]
    assert (record.body, record.event_name) == ({"said": "hello"}, "gen_ai.x")
    assert record.span_id in pending_spans(post)


def test_the_services_are_where_exporters_look(post):
    with pytest.raises(grpc.RpcError) as error:
        post.call(b"", TRACE_SERVICE.replace("Export", "Other"))
    assert error.value.code() is grpc.StatusCode.UNIMPLEMENTED
