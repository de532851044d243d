"""A tracer provider that somebody else set up: it is kept as it is, and what it will cost is said."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from otelreplay.errors import UsageError
from otelreplay.instrument.capture import SHARED
from otelreplay.instrument.setup import Caution

_LIMITS = {
    "max_span_attributes": "attributes a span",
    "max_span_attribute_length": "characters an attribute",
    "max_events": "events a span",
    "max_links": "links a span",
    "max_event_attributes": "attributes an event",
    "max_attribute_length": "characters an attribute of an event",
}
_FIRST = "call otelreplay.configure before it is set up"
_THIRD_PARTY = ("openai_v2", "openai_agents", "anthropic", "vertexai", "google_genai", "langchain", "weaviate")


def existing_provider() -> Any:
    """The provider that is set up already; None if there is none. Raises UsageError for one that takes no processor."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        return None
    if not callable(getattr(provider, "add_span_processor", None)):
        raise UsageError(
            "the tracer provider that is set up takes no span processor", code="configure.provider",
            where=f"{type(provider).__module__}.{type(provider).__qualname__}", next_step=_FIRST,
        )  # fmt: skip
    return provider


def cautions_about(provider: Any) -> tuple[Caution, ...]:
    """What this provider will lose or change."""
    found = []
    limits = getattr(provider, "_span_limits", None)
    cuts = [f"{getattr(limits, name)} {what}" for name, what in _LIMITS.items() if getattr(limits, name, None) is not None]
    if cuts:
        found.append(Caution(
            code="configure.limits",
            text=f"the tracer provider that was there cuts what is beyond {', '.join(cuts)}; {_FIRST}, or raise its limits",
        ))  # fmt: skip
    if isinstance(getattr(provider, "id_generator", None), RandomIdGenerator):
        found.append(Caution(
            code="configure.ids",
            text="the tracer provider that was there draws its ids from the program's random generator, so that a seeded "
            f"program sees other numbers while it is recorded; {_FIRST}",
        ))  # fmt: skip
    sampler = getattr(provider, "sampler", ALWAYS_ON)
    if sampler is not ALWAYS_ON:
        found.append(Caution(
            code="configure.sampler",
            text="the tracer provider that was there has a sampler that can leave spans out, as below a caller whose trace is "
            f"not sampled; {_FIRST}",
        ))  # fmt: skip
    return tuple(found)


def others(environ: Mapping[str, str]) -> tuple[Caution, ...]:
    """What instrumentation beside the decorators needs, if there is any. Nothing is set for it."""
    names = [name for name in _THIRD_PARTY if f"opentelemetry.instrumentation.{name}" in sys.modules]
    if not names or environ.get(SHARED, "").strip():
        return ()
    text = f"opentelemetry.instrumentation.{names[0]} records no content unless {SHARED} is set, as to span_only"
    return (Caution(code="configure.third_party_content", text=text),)
