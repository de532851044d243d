"""Fixtures: a sink of either protocol, and a lab that sends to it; a provider with an exporter in memory."""

import contextlib

import pytest

from otelreplay.testing.sinks import Sink
from tests.instrument.program import Lab
from tests.instrument.recorded import Recorded, use


@pytest.fixture
def sink():
    with Sink() as made:
        yield made


@pytest.fixture(params=["grpc", "http/protobuf"])
def any_sink(request):
    with Sink(request.param) as made:
        yield made


@pytest.fixture
def lab(tmp_path, sink):
    with contextlib.closing(Lab(tmp_path, sink.url)) as made:
        yield made


@pytest.fixture
def any_lab(tmp_path, any_sink):
    """Over either protocol; it is named, since a free port tells nothing."""
    with contextlib.closing(Lab(tmp_path, any_sink.url, {"OTEL_EXPORTER_OTLP_PROTOCOL": any_sink.protocol})) as made:
        yield made


@pytest.fixture
def recorded(monkeypatch):
    """The spans of this test."""
    return use(monkeypatch, Recorded())
