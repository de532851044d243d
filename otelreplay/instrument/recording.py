"""One call under way whose span is open, from its start to its single end."""

from __future__ import annotations

import time
from contextvars import Token
from typing import TYPE_CHECKING, Any

from opentelemetry import context as api
from opentelemetry import trace

from otelreplay.boundary import End
from otelreplay.canonical import dumps_reporting
from otelreplay.canonical.paths import join
from otelreplay.instrument import attributes as said
from otelreplay.instrument import failure, tracing
from otelreplay.instrument.crossing import Crossing, Invocation
from otelreplay.instrument.spec import Spec
from otelreplay.instrument.trouble import failed, say_once
from otelreplay.instrument.values import Losses, add_losses, fit, put_losses

if TYPE_CHECKING:
    from opentelemetry.context import Context

_RUNTIME = api._RUNTIME_CONTEXT
"""What ``attach`` and ``detach`` of the API stand on. ``detach`` itself logs an error where there is nothing to undo."""
_CLIENT = frozenset({"model", "retrieval"})
_INTERNAL_KIND, _CLIENT_KIND = trace.SpanKind.INTERNAL, trace.SpanKind.CLIENT

STREAM_END = "otelreplay.stream.end"
STREAM_GIVEN = "otelreplay.stream.given"
SENT = "otelreplay.sent"


def begin(call: Invocation) -> Recording | None:
    """Start the span of a call; None where nothing can be recorded."""
    spec = call.spec
    try:
        tracer = tracing.tracer()
        if tracer is None:
            return None
        title, attributes, losses = said.before(call)
        limit = tracing.limit()
        if limit is not None:
            fit(attributes, losses, limit)
            put_losses(attributes, losses)
        around = None if call.origin is None else call.origin.context
        span = tracer.start_span(
            title,
            around,
            kind=_CLIENT_KIND if spec.kind in _CLIENT else _INTERNAL_KIND,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        )
        if not span.is_recording():
            say_once("unsampled", "otelreplay: calls are not recorded, because a sampler or an unsampled parent says so")
        return (StreamRecording if spec.stream else Recording)(spec, span, losses, around)
    except Exception as error:
        failed("record a call", spec.function, error)
        return None


class Recording(Crossing):
    """An open span; see :class:`Crossing`."""

    __slots__ = ("context", "losses", "open", "span", "spec", "token")

    def __init__(self, spec: Spec, span: trace.Span, losses: Losses, around: Context | None = None) -> None:
        self.spec, self.span, self.losses = spec, span, losses
        self.context: Context = trace.set_span_in_context(span, around)
        """What is current while the function's code runs."""
        self.token: Token[Context] | None = None
        self.open = True

    def enter(self) -> None:
        """See :class:`Crossing`."""
        self.token = _RUNTIME.attach(self.context)

    def leave(self) -> None:
        """See :class:`Crossing`."""
        token, self.token = self.token, None
        if token is not None:
            try:  # noqa: SIM105 - several times as fast
                _RUNTIME.detach(token)
            except ValueError:  # in another context than it was set in: there is nothing to undo
                pass

    def returned(self, value: Any) -> None:
        """See :class:`Crossing`."""
        self._end("returned", value=value)

    def raised(self, error: BaseException) -> None:
        """See :class:`Crossing`."""
        self._end("raised", error=error)

    def stopped(self) -> None:
        """See :class:`Crossing`."""
        self._end("stopped")

    def streaming(self) -> StreamRecording:
        """See :class:`Crossing`."""
        self.span.set_attribute(STREAM_GIVEN, True)
        return StreamRecording(self.spec, self.span, self.losses, self.context)

    def _end(self, how: End, *, value: Any = None, error: BaseException | None = None) -> None:
        if not self.open:
            return
        self.open = False
        at, span = time.time_ns(), self.span
        try:
            if span.is_recording():
                self._describe(how, at, value, error)
        except Exception as trouble:
            failed("record the result", self.spec.function, trouble)
        try:
            span.end(at)
        except Exception as trouble:  # a processor of somebody else's
            failed("end the span", self.spec.function, trouble)

    def _describe(self, how: End, at: int, value: Any, error: BaseException | None) -> None:
        attributes: dict[str, Any] = {}
        losses, lost = self.losses, len(self.losses)
        self._put_stream(how, attributes)
        if error is not None:
            attributes |= failure.attributes(error, losses)
            self.span.add_event("exception", failure.event(error), at)
            self.span.set_status(trace.Status(trace.StatusCode.ERROR, failure.message(error)))
        elif how == "returned":
            said.after(self.spec, value, attributes, losses)
        limit = tracing.limit()
        if limit is not None:
            fit(attributes, losses, limit)
        if len(losses) > lost:
            put_losses(attributes, losses)
        self.span.set_attributes(attributes)

    def _put_stream(self, how: End, attributes: dict[str, Any]) -> None:
        """What a stream says besides."""


class StreamRecording(Recording):
    """An open span of a call that gives chunks."""

    __slots__ = ("chunks", "first", "held", "sends", "started")

    def __init__(self, spec: Spec, span: trace.Span, losses: Losses, around: Context | None = None) -> None:
        super().__init__(spec, span, losses, around)
        self.chunks: list[bytes] = []
        """Each chunk as it was when it was given: a consumer may change it."""
        self.held: list[Any] = []
        """The chunks of a model's stream themselves, for the message that they amount to."""
        self.sends: list[bytes] = []
        self.started = time.perf_counter()
        self.first: float | None = None

    def leave(self) -> None:
        """What the generator made current inside itself is current again when it goes on."""
        self.context = api.get_current()
        super().leave()

    def chunk(self, value: Any) -> None:
        """See :class:`Crossing`."""
        if self.first is None:
            self.first = time.perf_counter() - self.started
        try:
            data, lost = dumps_reporting(value)
            if lost:
                add_losses(self.losses, join("chunks", len(self.chunks)), lost)
            self.chunks.append(data)
            if self.spec.kind == "model":
                self.held.append(value)
        except Exception as trouble:
            failed("record a chunk", self.spec.function, trouble)

    def sent(self, value: Any) -> None:
        """See :class:`Crossing`."""
        try:
            data, lost = dumps_reporting(value)
            if lost:
                add_losses(self.losses, f"sent[{len(self.sends)}][1]", lost)
            self.sends.append(b"[%d,%s]" % (len(self.chunks) - 1, data))
        except Exception as trouble:
            failed("record a value that was sent", self.spec.function, trouble)

    def _put_stream(self, how: End, attributes: dict[str, Any]) -> None:
        attributes[said.CHUNKS] = (b"[%s]" % b",".join(self.chunks)).decode()
        attributes[STREAM_END] = how
        if self.sends:
            attributes[SENT] = (b"[%s]" % b",".join(self.sends)).decode()
        if self.first is not None and self.spec.kind == "model":
            attributes["gen_ai.response.time_to_first_chunk"] = self.first
        said.whole_stream(self.spec, self.held, attributes, self.losses)
