"""Which package made a span, and the exact switch that makes it record content.

Facts read off the packages named (util-genai 1.3b0, openai-v2 2.1b0 to 2.4b0, google-genai 0.3b0 to 1.3b0, Anthropic SDK 2.x,
mcp 2.x). A scope name tells the package; conventions are still told by the attributes present.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from otelreplay import semconv as sc
from otelreplay.spans import Span

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
SPAN_ONLY = f"set {CAPTURE}=span_only (or span_and_event) where the agent runs; the old value true is ignored by this package"
TRUE_AND_LOGS = (
    f"set {CAPTURE}=true where the agent runs and set up a logs pipeline (a LoggerProvider, on SDKs before 1.37 also an "
    "EventLoggerProvider)"
)
SPAN_MODES = (
    f"set {CAPTURE}=span_only or span_and_event: with event_only this package keeps arguments and results of tools nowhere"
)
COUNT_LIMIT = "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT (default 128) where the agent runs"
LENGTH_LIMIT = "unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT where the agent runs"
RESOLVE = "fetch the referenced object; the span holds only its address"
LOST = "look for a sampler, a full export queue or a process that ended before it flushed"
CURRENT_OPENAI = "use opentelemetry-instrumentation-genai-openai, which records it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What is known of one instrumentation package."""

    content: str
    """The switch that records messages."""
    tools: str = ""
    """The switch that records arguments and results of tools; the same as ``content`` where empty."""
    carries_content: bool = True
    carries_tools: bool = True
    """False: no mode of the package records the tools that a request declares."""
    carries_agents: bool = True
    """False: no mode of the package records what goes into an agent and comes out of it."""
    drops_text_beside_calls: bool = False
    """True: the text of a history message that also has tool calls is lost."""
    drops_calls: bool = False
    """True: turns of the history that call tools are left out."""
    last_call_only: bool = False
    """True: of several calls in a reply of the Responses API, the last one alone is recorded."""
    carries_system: bool = True
    """False: no mode of the package records the system prompt."""
    message_a_chunk: bool = False
    """True: a streamed reply is one message a chunk."""
    items_as_text: bool = False
    """True: the items of a request of the Responses API are one text, and a reply of calls alone is an empty one."""
    names_in_ids: bool = False
    """True: the name of the tool stands before the id of a call in replies, and not in the history."""
    invents_ids: bool = False
    """True: call ids are made up by the package (``NAME_0``) and cross no wire; they differ between a reply and its history."""


_LATEST = Package(content=SPAN_ONLY, tools=SPAN_MODES)
_PACKAGES: tuple[tuple[str, Package], ...] = (
    ("com.anthropic.sdk", Package(
        content="add opentelemetry-instrumentation-genai-anthropic: the Anthropic SDK's own spans hold no content",
        carries_content=False)),
    ("mcp-python-sdk", Package(
        content="instrument the tool itself or the MCP client's caller: the MCP SDK's spans hold no arguments and no results",
        carries_content=False)),
    ("opentelemetry.instrumentation.genai.openai_agents", Package(
        content="add opentelemetry-instrumentation-genai-openai: the agents instrumentation makes no model spans",
        tools=SPAN_MODES, carries_agents=False)),
    ("opentelemetry.instrumentation.genai.", _LATEST),
    ("opentelemetry.instrumentation.google_genai", Package(content=SPAN_ONLY, tools=SPAN_MODES, invents_ids=True)),
    ("opentelemetry.util.genai", _LATEST),
    ("azure.core.tracing.", Package(
        content="set AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true where the agent runs")),
    ("@traceloop/instrumentation-openai", Package(
        content="leave traceContent of the instrumentation on where the agent runs", items_as_text=True)),
    ("gemini-cli", Package(
        content="set telemetry.traces and telemetry.logPrompts to true in the settings of Gemini CLI",
        message_a_chunk=True, names_in_ids=True)),
    ("openlit.", Package(content="leave capture_message_content on in openlit.init where the agent runs",
        drops_calls=True, last_call_only=True)),
    ("opentelemetry.instrumentation.openai_v2", Package(
        content=f"set {CAPTURE}=span_only with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
        carries_tools=False)),
)  # fmt: skip
_LEGACY = {
    "opentelemetry.instrumentation.openai_v2": Package(
        content=TRUE_AND_LOGS, carries_tools=False, drops_text_beside_calls=True
    ),
    "opentelemetry.instrumentation.google_genai": Package(content=TRUE_AND_LOGS, carries_tools=False),
}
_AGENTS_V2 = Package(
    content="use opentelemetry-instrumentation-genai-openai beside the agents instrumentation, which records requests whole",
    carries_tools=False, carries_system=False,
)  # fmt: skip
UNKNOWN = Package(content="switch on content capture in the instrumentation that made this span")


def package_of(span: Span) -> Package:
    """What is known of the package that made the span. Some wrote the convention of 1.36 and before in one mode."""
    legacy = sc.SYSTEM in span.attributes and sc.PROVIDER not in span.attributes
    return _package(span.scope.name, span.scope.version, legacy)


@lru_cache(maxsize=256)
def _package(name: str, version: str, legacy: bool) -> Package:
    if legacy and name in _LEGACY:
        return _LEGACY[name]
    if name == "opentelemetry.util.genai.handler" and version.startswith("0."):
        return Package(content=SPAN_ONLY, tools=SPAN_MODES, carries_tools=False)  # openai-v2 before 1.0 of the shared library
    if name == "opentelemetry.instrumentation.openai_agents" and not version:
        return _AGENTS_V2  # of the same name, the packages of OpenLLMetry have a version
    return next((package for prefix, package in _PACKAGES if name.startswith(prefix)), UNKNOWN)
