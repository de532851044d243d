"""A real SDK with an exporter in memory, as the decorators meet it from outside."""

import gc
import json

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otelreplay.canonical import loads


class Open(SpanProcessor):
    """Counts the spans that have not ended."""

    count = 0

    def on_start(self, span, parent_context=None):
        self.count += 1

    def on_end(self, span):
        self.count -= 1


class Recorded:
    """What was exported so far."""

    def __init__(self, **options):
        self.exporter, self._open = InMemorySpanExporter(), Open()
        self.provider = TracerProvider(**options)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.provider.add_span_processor(self._open)

    def all(self):
        """Spans that have ended, in this order."""
        if self._open.count:
            gc.collect()  # it ends those of generators that nobody holds any more; slow in a large process
        return list(self.exporter.get_finished_spans())

    def one(self, name=None):
        """The only span (of that name)."""
        found = [span for span in self.all() if name in (None, span.name)]
        assert len(found) == 1, [span.name for span in found]
        return found[0]

    def payload(self, attribute, name=None):
        """A payload attribute of the only span, decoded."""
        return loads(self.one(name).attributes[attribute])

    def losses(self, name=None):
        """(path, reason) of each loss."""
        return [(each["path"], each["reason"]) for each in json.loads(self.one(name).attributes.get("otelreplay.losses", "[]"))]


def parents(spans):
    """Name of each span → name of its parent."""
    names = {span.context.span_id: span.name for span in spans}
    return {span.name: names.get(span.parent.span_id) if span.parent else None for span in spans}


def current():
    """Name of the span that is current; None where there is none."""
    return getattr(trace.get_current_span(), "name", None)


def use(monkeypatch, recorded):
    """Make it the provider of this process until the test ends."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", recorded.provider)
    return recorded
