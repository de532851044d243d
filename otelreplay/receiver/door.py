"""One export request, whatever way it came: unpacked, decoded, redacted, made durable. The one place that decides its fate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from otelreplay.errors import OtelReplayError
from otelreplay.inputs import Tally
from otelreplay.inputs.signals import Signal
from otelreplay.receiver.budget import Budget, FullError
from otelreplay.receiver.committer import Committer
from otelreplay.receiver.counters import Counters
from otelreplay.receiver.decoding import Form, UndecodableError, decode
from otelreplay.receiver.inbox import InboxError, Receipt, delivery
from otelreplay.receiver.inflate import DamagedError, TooLargeError, inflate
from otelreplay.redaction import Redactor
from otelreplay.spans import Batch, LogRecord, Rejected, Span, lifted, mark_twins, placed_in_session, with_lengths

LIMIT = 64 << 20
"""Bytes of one request, packed and unpacked: the default that OTLP recommends."""
_QUOTED = 5
Kind = Literal["bad_data", "too_large", "unsupported", "unauthenticated", "busy", "unavailable", "internal"]
_RETRY_AFTER = {"busy": 1.0, "unavailable": 5.0}


class RefusedError(Exception):
    """A whole request is refused. ``kind`` decides the status on every way in; the message quotes no payload."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message
        self.retry_after: float = _RETRY_AFTER.get(kind, 0.0)
        """Seconds; 0 if trying again is of no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An export request as it came."""

    signal: Signal
    form: Form
    encoding: str
    body: bytes
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A request was taken in, but for ``rejected`` of its records; ``message`` says why, or warns."""

    rejected: int = 0
    message: str = ""


class Door:
    """Takes requests in. ``redactor_of`` gives the redactor of a tenant. For several threads."""

    def __init__(
        self,
        committer: Committer,
        *,
        redactor_of: Callable[[str], Redactor],
        counters: Counters,
        budget: Budget,
        limit: int = LIMIT,
    ) -> None:
        self.counters, self.budget, self.limit = counters, budget, limit
        self._committer, self._redactor_of = committer, redactor_of

    def take(self, request: Request) -> Accepted:
        """Make a request durable. Raises RefusedError; every refusal is counted."""
        self.counters.add(received_requests=1, received_bytes=len(request.body))
        try:
            return self._take(request)
        except RefusedError as refused:
            self.counters.refuse(refused.kind, said=f"a request was refused: {refused.message}")
            raise
        except Exception as error:  # ours; its text may quote payload
            self.counters.refuse("internal", said=f"a request was refused: {type(error).__name__}")
            raise RefusedError("internal", f"this is a bug in otelreplay: {type(error).__name__}") from None

    def too_large(self, size: int, *, unpacked: bool = False) -> RefusedError:
        """The refusal of a request of that size."""
        form = "bytes when unpacked" if unpacked else "bytes"
        return RefusedError("too_large", f"the request has {size} {form}, {self.limit} are allowed")

    @contextmanager
    def room(self, size: int) -> Iterator[None]:
        """Hold memory for a request; RefusedError when there is none now."""
        try:
            self.budget.take(size)
        except FullError:
            raise RefusedError("busy", "the receiver is busy: too many requests at once") from None
        try:
            yield
        finally:
            self.budget.give(size)

    def _take(self, request: Request) -> Accepted:
        with self.room(len(request.body)):
            data = self._unpacked(request)
            with self.room(len(data)):
                return self._keep(request, data)

    def _unpacked(self, request: Request) -> bytes:
        if len(request.body) > self.limit:
            raise self.too_large(len(request.body))
        try:
            return inflate(request.body, request.encoding, self.limit)
        except TooLargeError as error:
            raise RefusedError("too_large", f"the request is too large: {error}") from None
        except DamagedError as error:
            raise RefusedError("bad_data", f"the request cannot be read: {error}") from None

    def _keep(self, request: Request, data: bytes) -> Accepted:
        tally = Tally()
        try:
            batch = decode(data, request.form, request.signal, tally=tally, limit=self.limit)
        except UndecodableError as error:
            raise RefusedError("bad_data", f"the request cannot be read: {error}") from None
        self.counters.add(
            received_spans=len(batch.spans), received_logs=len(batch.logs), metrics_dropped=tally.notes["metrics_skipped"]
        )
        redactor = self._redactor_of(request.tenant)
        rejected = list(batch.rejected)
        spans = list(_redacted_spans(redactor, batch, rejected))
        every = mark_twins(list(_redacted_logs(redactor, batch, rejected)))
        logs = [record for record in every if record.trace_id]
        self.counters.add(unplaced_logs=len(every) - len(logs))
        receipt = Receipt()
        if spans or logs:
            try:
                receipt = self._committer.put(delivery(spans, logs, tenant=request.tenant))
            except OtelReplayError as error:
                ours = isinstance(error, InboxError) or error.code.startswith("inbox.")  # a damaged one can be restored
                kind: Kind = "unavailable" if ours else "internal"
                raise RefusedError(kind, f"nothing can be stored now: {error.what}") from None
        self._count(receipt)
        return self._answer(rejected, batch.unlisted, receipt)

    def _count(self, receipt: Receipt) -> None:
        self.counters.add(
            stored_spans=receipt.spans,
            stored_logs=receipt.logs,
            duplicate_spans=receipt.duplicate_spans,
            duplicate_logs=receipt.duplicate_logs,
            conflicts=receipt.conflicts,
            late_spans=receipt.late_spans,
            late_logs=receipt.late_logs,
        )

    def _answer(self, rejected: Sequence[Rejected], unlisted: int, receipt: Receipt) -> Accepted:
        refused = len(rejected) + unlisted
        said = [f"{each.where}: {each.reason}" for each in rejected]
        late = receipt.late_spans + receipt.late_logs
        if refused:
            self.counters.refuse("record", refused)
            for sentence in said[:_QUOTED]:
                self.counters.refuse("record", 0, said=sentence)
        if late:
            said.append(f"{late} came too late: their run is sealed and its spans are no longer held")
            self.counters.refuse("late", late, said=said[-1])
        further = len(said) + unlisted - _QUOTED
        more = f"; and {further} more" if further > 0 else ""
        return Accepted(refused + late, "; ".join(said[:_QUOTED]) + more)


def _redacted_spans(redactor: Redactor, batch: Batch, rejected: list[Rejected]) -> Iterator[Span]:
    for span in map(lifted, batch.spans):
        try:
            yield with_lengths(redactor.span(span), span)
        except Exception as error:  # fails closed: what cannot be redacted is not kept
            rejected.append(Rejected(f"span {span.span_id}", f"it cannot be redacted ({type(error).__name__})"))


def _redacted_logs(redactor: Redactor, batch: Batch, rejected: list[Rejected]) -> Iterator[LogRecord]:
    for record in batch.logs:
        try:
            yield placed_in_session(redactor.log(record))
        except Exception as error:
            rejected.append(Rejected("a log record", f"it cannot be redacted ({type(error).__name__})"))
