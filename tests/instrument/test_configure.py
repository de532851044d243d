"""``configure``: what it sets up, what it leaves alone, and what it says."""

import subprocess
import sys

import pytest

from otelreplay.errors import UsageError
from otelreplay.instrument.capture import OWN, SHARED, resolve_capture
from otelreplay.instrument.destination import resolve_destination
from otelreplay.spans import lifted

DEAD = "http://127.0.0.1:1"


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["pydantic", "grpc", "google", "sqlite3", "yaml", "re2", "msgspec"]
    heavy += ["opentelemetry.sdk", "otelreplay.redaction", "otelreplay.events"]
    code = (
        "import sys, otelreplay\notelreplay.configure, otelreplay.flush\n"
        f"print(*[name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "\n" == done.stdout


def test_nothing_is_cut_or_dropped(lab, sink):
    """Beyond every default limit of the SDK, whatever its variables say."""
    lab.environment |= {
        "OTEL_ATTRIBUTE_COUNT_LIMIT": "2",
        "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "10",
        "OTEL_BSP_MAX_QUEUE_SIZE": "1",
    }
    lab.run(
        """
        configure()
        with tracer.start_as_current_span("big") as span:
            for n in range(300):
                span.set_attribute(f"key {n}", "x" * 20)
                span.add_event(f"event {n}", {f"k{m}": m for m in range(200)} if n == 0 else {})
            span.set_attribute("long", "word " * 100_000)
            span.add_link(span.get_span_context(), {"a": 1})
        """
    )
    (span,) = sink.spans()
    assert (301, 300, 1) == (len(span.attributes), len(span.events), len(span.links))
    assert (500_000, 200) == (len(span.attributes["long"]), len(span.events[0].attributes))
    assert (0, 0, 0) == (span.dropped_attributes_count, span.dropped_events_count, span.dropped_links_count)


def test_a_seeded_program_sees_the_numbers_it_would_see_without_recording(lab):
    body = """
    import random
    random.seed(7)
    {configure}
    for n in range(50):
        with tracer.start_as_current_span("x"):
            pass
    {flush}
    time.sleep(0.7)  # a failed attempt, and one after its wait
    print([random.random() for _ in range(3)], random.getstate()[1][:3])
    """
    recorded = lab.run(body.format(configure="configure()", flush="otelreplay.flush()"), url=DEAD)
    assert recorded.out == lab.run(body.format(configure="", flush="")).out


def test_spans_below_an_unsampled_caller_are_recorded_and_stay_unsampled(lab, sink):
    done = lab.run(
        """
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator as W3C
        configure()
        around = W3C().extract({"traceparent": "00-" + "ab" * 16 + "-" + "cd" * 8 + "-00"})
        with tracer.start_as_current_span("below", context=around) as span:
            carrier = {}
            W3C().inject(carrier)
        print(carrier["traceparent"][-3:])
        """
    )
    (span,) = sink.spans()
    assert ("below", "ab" * 16, "cd" * 8) == (span.name, span.trace_id, span.parent_span_id)
    assert "-00\n" == done.out, "what is called must not be made to record"


def test_a_sampler_of_the_environment_loses_nothing(lab, sink):
    lab.environment["OTEL_TRACES_SAMPLER"] = "always_off"
    lab.run("configure()\nwith tracer.start_as_current_span('x'):\n    pass")
    assert ["x"] == sink.names()


def test_the_environment_says_where_to_send_what_and_as_whom(tmp_path, any_lab, any_sink):
    any_lab.environment |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": any_sink.url,
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20token-of-mine, x-other=1",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip" if any_sink.protocol == "grpc" else "",
        "OTEL_SERVICE_NAME": "shop",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
    }
    any_lab.run("otelreplay.configure(outbox=os.environ['OUTBOX'])\nwith tracer.start_as_current_span('x'):\n    pass")
    (span,) = any_sink.spans()
    assert {"service.name": "shop", "deployment.environment": "test"}.items() <= span.resource.attributes.items()
    headers = any_sink.taken[0].headers
    assert ("Bearer token-of-mine", "1") == (headers["authorization"], headers["x-other"])
    assert [] == [path for path, data in any_lab.bytes_on_disk().items() if b"token-of-mine" in data]


def test_a_disabled_sdk_is_left_disabled(lab, sink):
    lab.environment["OTEL_SDK_DISABLED"] = "true"
    done = lab.run(
        "print(configure().active)\nwith tracer.start_as_current_span('x'):\n    pass\nprint(otelreplay.flush().sent)"
    )
    assert "False\n0\n" == done.out
    assert "recording nothing: OTEL_SDK_DISABLED is set" in done.err
    assert 0 == sink.asked


def test_under_a_replay_nothing_is_recorded_or_sent(lab, sink):
    done = lab.run(
        """
        from otelreplay import boundary
        boundary.install(object())
        print(configure().why)
        with tracer.start_as_current_span('x'):
            pass
        """
    )
    assert "this is a replay\n" == done.out
    assert 0 == sink.asked


def test_calling_it_twice_is_fine(lab, sink):
    done = lab.run(
        """
        assert configure() is configure()
        with tracer.start_as_current_span('x'):
            pass
        assert configure(service_name="other").active
        """
    )
    assert ["x"] == sink.names()
    assert 1 == done.err.count("[configure.twice]")


def test_a_provider_that_is_there_is_kept_and_what_it_will_cost_is_said(lab, sink):
    done = lab.run(
        """
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        theirs = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(theirs))
        trace.set_tracer_provider(provider)
        setup = configure()
        assert trace.get_tracer_provider() is provider and not setup.own_provider
        print(*sorted(c.code for c in setup.cautions))
        with tracer.start_as_current_span('x'):
            pass
        assert [s.name for s in theirs.get_finished_spans()] == ["x"]
        """
    )
    assert "configure.ids configure.limits configure.sampler\n" == done.out
    assert ["x"] == sink.names()
    assert "cuts what is beyond 128 attributes a span" in done.err


def test_a_provider_without_those_faults_gives_no_caution(lab, sink):
    done = lab.run(
        """
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.sampling import ALWAYS_ON
        from otelreplay.instrument.sdk import SystemIds, no_limits
        trace.set_tracer_provider(TracerProvider(id_generator=SystemIds(), span_limits=no_limits(), sampler=ALWAYS_ON))
        print(configure().cautions)
        """
    )
    assert "()\n" == done.out


def test_a_provider_that_takes_no_processor_is_an_error_at_start(lab):
    done = lab.run(
        "trace.set_tracer_provider(trace.NoOpTracerProvider())\n"
        "try:\n    configure()\nexcept Exception as error:\n    print(type(error).__name__, error.code)"
    )
    assert "UsageError configure.provider\n" == done.out


def test_the_state_of_content_capture_is_shown_at_start_on_one_line(lab):
    lab.environment[OWN] = "off"
    done = lab.run("configure()\nfrom otelreplay.instrument.capture import captures_content\nprint(captures_content())")
    assert "False\n" == done.out
    assert 1 == len(done.err.splitlines())
    assert f"content capture OFF ({OWN}=off)" in done.err


def test_the_line_goes_to_the_log_where_the_program_has_one(lab):
    done = lab.run("import logging\nlogging.basicConfig(level='INFO', format='%(name)s|%(message)s')\nconfigure()")
    assert done.err.startswith("otelreplay|recording to ")


@pytest.mark.parametrize("name", [OWN, SHARED])
def test_a_misspelt_capture_setting_is_an_error_that_names_the_valid_ones(name):
    with pytest.raises(UsageError) as caught:
        resolve_capture(None, {name: "ture"})
    assert "configure.capture" == caught.value.code
    assert name == caught.value.where
    assert "true" in caught.value.next_step
    with pytest.raises(UsageError):
        resolve_capture(True, {name: "ture"})


@pytest.mark.parametrize(
    ("argument", "environ", "on"),
    [
        (None, {}, True), (None, {OWN: "off"}, False), (None, {OWN: "ON"}, True), (None, {SHARED: "NO_CONTENT"}, False),
        (None, {SHARED: "span_and_event"}, True), (None, {SHARED: "false", OWN: "on"}, True), (False, {OWN: "on"}, False),
        (True, {SHARED: "false"}, True), (None, {SHARED: " "}, True),
    ],
)  # fmt: skip
def test_capture_is_decided_by_the_argument_then_our_variable_then_the_shared_one(argument, environ, on):
    assert on == resolve_capture(argument, environ).on


@pytest.mark.parametrize(
    ("endpoint", "protocol", "environ", "found"),
    [
        (None, None, {}, ("grpc", "http://localhost:4317")),
        ("http://h:4318", None, {}, ("http/protobuf", "http://h:4318/v1/traces")),
        ("http://h:4318/", None, {}, ("http/protobuf", "http://h:4318/v1/traces")),
        ("http://h:4318/v1/traces", None, {}, ("http/protobuf", "http://h:4318/v1/traces")),
        ("https://h/otlp", "http/protobuf", {}, ("http/protobuf", "https://h/otlp/v1/traces")),
        ("127.0.0.1:4317", None, {}, ("grpc", "http://127.0.0.1:4317")),
        ("https://h", "grpc", {}, ("grpc", "https://h")),
        (None, None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://e:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
         ("http/protobuf", "http://e:1/v1/traces")),
        (None, None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t:4318/in", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://e:1"},
         ("http/protobuf", "http://t:4318/in")),
        ("http://a:1", None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://e:4318"}, ("grpc", "http://a:1")),
    ],
)  # fmt: skip
def test_endpoint_and_protocol_follow_the_specification(endpoint, protocol, environ, found):
    to = resolve_destination(endpoint, protocol, None, environ)
    assert found == (to.protocol, to.url)


@pytest.mark.parametrize(
    "endpoint", ["receiver.example:4317", "ftp://h", "http://", "http://u:p@h:1", "http://h:1?token=x", "http://h:99999", "x"]
)
def test_an_endpoint_that_cannot_be_one_is_refused_and_never_quoted(endpoint):
    with pytest.raises(UsageError) as caught:
        resolve_destination(endpoint, None, None, {})
    assert "configure.endpoint" == caught.value.code
    assert "u:p" not in str(caught.value)


def test_a_protocol_that_is_none_is_refused():
    with pytest.raises(UsageError, match=r"configure\.protocol"):
        resolve_destination("http://h:1", "carrier pigeon", None, {})


def test_destinations_of_two_tenants_are_two():
    one, two = (resolve_destination("http://h:1", None, {"Authorization": f"Bearer {t}"}, {}) for t in "ab")
    assert one.key() != two.key()
    assert "Bearer" not in repr(one)


def test_without_content_capture_no_argument_result_or_message_is_recorded(lab, sink):
    lab.environment[OWN] = "off"
    lab.run(
        """
        configure()
        @otelreplay.tool
        def look_up(order):
            if order == "broken-order-text":
                raise LookupError("no such " + order)
            return {"state": "shipped-result-text"}
        look_up("order-argument-text")
        try:
            look_up("broken-order-text")
        except LookupError:
            pass
        """
    )
    assert ["execute_tool look_up"] * 2 == sink.names()
    assert [] == [request for request in sink.taken if b"-text" in request.data]
    assert ["LookupError"] == [
        s.attributes["error.type"].rpartition(".")[2] for s in sink.spans() if "error.type" in s.attributes
    ]


def test_what_the_policy_removed_whole_is_known_to_the_receiver(lab, sink):
    (lab.folder / "policy.yaml").write_text(
        "version: 1\nname: mine\nrules:\n  - id: no-input\n    attribute: private.*\n    action: drop\n"
    )
    lab.run(
        """
        configure(policy="policy.yaml")
        with tracer.start_as_current_span("x") as span:
            span.set_attribute("private.note", "gone")
        """
    )
    (span,) = sink.spans()
    assert [("attributes.private.note", "no-input", "drop")] == [(r.path, r.rule, r.action) for r in lifted(span).removed]
    assert b"gone" not in sink.taken[0].data
