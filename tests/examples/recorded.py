"""Runs a program with a real tracer provider, and converts what it exported over OTLP bytes into a cassette."""

import os
import subprocess
import sys
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otelreplay.cassette import read_cassette
from tests.project.house import ROOT


class Recorded:
    """What one program exported."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def spans(self):
        return list(self.exporter.get_finished_spans())

    def otlp(self):
        """One export request."""
        return encode_spans(self.spans()).SerializeToString()


@contextmanager
def recording(monkeypatch):
    """The provider of this process until the block ends."""
    made = Recorded()
    with monkeypatch.context() as patch:
        patch.setattr(trace, "_TRACER_PROVIDER", made.provider)
        yield made


def cassette_of(recorded, folder):
    """The one cassette of the run, as ``otelreplay convert`` makes it, and where it lies."""
    trace_file = folder / "trace.pb"
    trace_file.write_bytes(recorded.otlp())
    done = otelreplay("convert", trace_file, "--out", folder / "out", folder=folder)
    assert done.returncode == 0, done.stderr
    (path,) = (folder / "out").glob("*.cassette.jsonl")
    with path.open("rb") as stream:
        return read_cassette(stream), path


def otelreplay(*arguments, folder):
    """The command line, with keys of its own."""
    environment = os.environ | {"OTELREPLAY_KEYS": str(folder / "keys"), "COLUMNS": "120"}
    command = [sys.executable, "-m", "otelreplay", *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def boundaries(cassette):
    """(kind, name) of everything but agents and contexts, in order."""
    return [(e.kind, e.name) for e in cassette.events if e.kind not in ("agent", "context")]
