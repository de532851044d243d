"""The parts of a tracer provider that records everything and changes nothing the program can see."""

from __future__ import annotations

import os
from collections.abc import Sequence

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes


class SystemIds(IdGenerator):
    """Ids from the system's generator.

    The SDK's own draws from the ``random`` module: a seeded program would see other numbers as soon as it is recorded, and two
    forked children would make the same ids. The system's generator has no state in the process.
    """

    def generate_span_id(self) -> int:
        """64 bits, not all zero."""
        return int.from_bytes(os.urandom(8), "big") or self.generate_span_id()

    def generate_trace_id(self) -> int:
        """128 bits, not all zero."""
        return int.from_bytes(os.urandom(16), "big") or self.generate_trace_id()

    def is_trace_id_random(self) -> bool:
        """They are: samplers downstream may rely on it."""
        return True


class RecordAll(Sampler):
    """Records what another sampler would drop, without marking it as sampled.

    So a recording is whole also below a caller whose trace header says "not sampled", and yet other exporters of this provider,
    and the services that are called, do what they would have done.
    """

    def __init__(self, inner: Sampler = ALWAYS_ON) -> None:
        self._inner = inner

    def should_sample(  # noqa: PLR0917 - the SDK's signature
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,  # noqa: ARG002
    ) -> SamplingResult:
        """The inner sampler's decision, with "drop" made into "record only"."""
        found = self._inner.should_sample(parent_context, trace_id, name, kind, attributes, links)
        if found.decision is not Decision.DROP:
            return found
        return SamplingResult(Decision.RECORD_ONLY, attributes, found.trace_state)

    def get_description(self) -> str:
        """Names this sampler and the one inside."""
        return f"RecordAll({self._inner.get_description()})"


def no_limits() -> SpanLimits:
    """Limits that cut nothing, whatever the environment says: a cut message list cannot be read again."""
    unset = SpanLimits.UNSET
    return SpanLimits(
        max_attributes=unset, max_events=unset, max_links=unset, max_span_attributes=unset, max_event_attributes=unset,
        max_link_attributes=unset, max_attribute_length=unset, max_span_attribute_length=unset,
    )  # fmt: skip


def make_provider(service_name: str | None) -> TracerProvider:
    """A provider without limits. The environment's sampler (``OTEL_TRACES_SAMPLER``) still marks what is sampled."""
    attributes: dict[str, str] = {"service.name": service_name} if service_name else {}
    provider = TracerProvider(
        resource=Resource.create(attributes),  # merges OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
        id_generator=SystemIds(),
        span_limits=no_limits(),
        shutdown_on_exit=False,
    )
    provider.sampler = RecordAll(provider.sampler)
    return provider
