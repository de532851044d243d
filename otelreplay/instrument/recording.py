"""One call under way whose span is open, from its start to its single end."""

from __future__ import annotations

import time
from contextvars import Token
from typing import TYPE_CHECKING, Any

from opentelemetry import context as api
from opentelemetry import trace

from otelreplay.canonical import dumps
from otelreplay.instrument import attributes as said
from otelreplay.instrument import failure, tracing
from otelreplay.instrument.spec import Spec, clean
from otelreplay.instrument.trouble import failed, say_once
from otelreplay.instrument.values import LOSSES, Losses, fit, put_losses, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.context import Context

_CLIENT = frozenset({"model", "retrieval"})
_INTERNAL_KIND, _CLIENT_KIND = trace.SpanKind.INTERNAL, trace.SpanKind.CLIENT


def begin(spec: Spec, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Recording | None:
    """Start the span of a call; None where nothing can be recorded."""
    try:
        tracer = tracing.tracer()
        if tracer is None:
            return None
        title, attributes, losses = said.before(spec, args, kwargs)
        limit = tracing.limit()
        if limit is not None:
            fit(attributes, losses, limit)
            put_losses(attributes, losses)
        span = tracer.start_span(
            title,
            kind=_CLIENT_KIND if spec.kind in _CLIENT else _INTERNAL_KIND,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        )
        if not span.is_recording():
            say_once("unsampled", "otelreplay: calls are not recorded, because a sampler or an unsampled parent says so")
        return Recording(spec, span, losses)
    except Exception as error:
        failed("record a call", spec.function, error)
        return None


class Recording:
    """An open span. ``enter`` and ``leave`` stand around each stretch of the function's own code; one of the ends comes last.

    None of the methods raises.
    """

    __slots__ = ("chunks", "context", "first", "held", "losses", "open", "sent", "span", "spec", "started", "token")

    served = None

    def __init__(self, spec: Spec, span: trace.Span, losses: Losses) -> None:
        self.spec, self.span, self.losses = spec, span, losses
        self.context: Context = trace.set_span_in_context(span)
        self.token: Token[Context] | None = None
        self.open = True
        self.chunks: list[bytes] = []
        self.held: list[Any] = []
        """The chunks of a model's stream themselves, for the message that they are."""
        self.sent: list[tuple[int, Any]] = []

    def enter(self) -> None:
        """The function's code runs from here on: what it starts is inside this call."""
        self.token = api.attach(self.context)

    def leave(self) -> None:
        """The function's code has come to an end, or yields."""
        token, self.token = self.token, None
        if token is not None:
            tracing.detach(token)

    def returned(self, value: Any) -> None:
        """The call gave this value."""
        self._end(time.time_ns(), value=value)

    def raised(self, error: BaseException) -> None:
        """The call failed."""
        self._end(time.time_ns(), error=error)

    def _end(self, at: int, *, value: Any = None, error: BaseException | None = None) -> None:
        if not self.open:
            return
        self.open = False
        span = self.span
        try:
            if span.is_recording():
                attributes: dict[str, Any] = {}
                lost = len(self.losses)
                if error is None:
                    said.after(self.spec, value, attributes, self.losses)
                else:
                    attributes |= failure.attributes(error, self.losses)
                    span.add_event("exception", failure.event(error))
                    span.set_status(trace.Status(trace.StatusCode.ERROR, failure.message(error)))
                limit = tracing.limit()
                if limit is not None:
                    fit(attributes, self.losses, limit)
                if len(self.losses) > lost:
                    put_losses(attributes, self.losses)
                span.set_attributes(attributes)
        except Exception as trouble:
            failed("record the result", self.spec.function, trouble)
        try:
            span.end(at)
        except Exception as trouble:  # a processor of somebody else's
            failed("end the span", self.spec.function, trouble)
