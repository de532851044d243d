"""Answers of OTLP: success messages and google.rpc.Status, in the form of the request. No I/O.

Source: opentelemetry-proto docs/specification.md (responses, retryable codes) and google/rpc/{status,error_details}.proto.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from google.rpc import error_details_pb2, status_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from otelreplay.inputs.signals import Signal
from otelreplay.receiver.decoding import Form
from otelreplay.receiver.door import Accepted, Kind, RefusedError

CONTENT_TYPES: dict[str, Form] = {"application/x-protobuf": "protobuf", "application/json": "json"}
"""Media type to form."""
GRPC_CODES: dict[Kind, int] = {
    "bad_data": 3,  # INVALID_ARGUMENT
    "too_large": 8,  # RESOURCE_EXHAUSTED; without RetryInfo: not to be sent again
    "unsupported": 3,
    "unauthenticated": 16,
    "busy": 14,  # UNAVAILABLE, with RetryInfo
    "unavailable": 14,
    "internal": 13,
}
HTTP_CODES: dict[Kind, int] = {
    "bad_data": 400,
    "too_large": 413,
    "unsupported": 415,
    "unauthenticated": 401,
    "busy": 429,
    "unavailable": 503,
    "internal": 500,
}
_RESPONSES: dict[Signal, Any] = {
    "traces": trace_service_pb2.ExportTraceServiceResponse,
    "logs": logs_service_pb2.ExportLogsServiceResponse,
    "metrics": metrics_service_pb2.ExportMetricsServiceResponse,
}
_COUNTED: dict[Signal, tuple[str, str]] = {
    "traces": ("rejected_spans", "rejectedSpans"),
    "logs": ("rejected_log_records", "rejectedLogRecords"),
    "metrics": ("rejected_data_points", "rejectedDataPoints"),
}


def success(accepted: Accepted, signal: Signal, form: Form) -> bytes:
    """The response message; ``partial_success`` is left unset when all went well."""
    name, json_name = _COUNTED[signal]
    if form == "json":
        if not (accepted.rejected or accepted.message):
            return b"{}"
        said: dict[str, str] = {json_name: str(accepted.rejected)} if accepted.rejected else {}
        return _json({"partialSuccess": {**said, "errorMessage": accepted.message}})
    message = _RESPONSES[signal]()
    if accepted.rejected or accepted.message:
        setattr(message.partial_success, name, accepted.rejected)
        message.partial_success.error_message = accepted.message
    done: bytes = message.SerializeToString()
    return done


def status(refused: RefusedError) -> Any:
    """The refusal as a google.rpc.Status message, with BadRequest or RetryInfo where they belong."""
    made = status_pb2.Status(code=GRPC_CODES[refused.kind], message=refused.message)
    if refused.kind in ("bad_data", "unsupported"):
        violation = error_details_pb2.BadRequest.FieldViolation(description=refused.message)
        made.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    if refused.retry_after:
        info = error_details_pb2.RetryInfo()
        info.retry_delay.FromTimedelta(timedelta(seconds=refused.retry_after))
        made.details.add().Pack(info)
    return made


def failure(refused: RefusedError, form: Form) -> bytes:
    """The body of an HTTP error."""
    if form == "protobuf":
        done: bytes = status(refused).SerializeToString()
        return done
    details: list[dict[str, Any]] = []
    if refused.kind in ("bad_data", "unsupported"):
        details.append(
            {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"description": refused.message}]}
        )
    if refused.retry_after:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{refused.retry_after:g}s"})
    return _json({"code": GRPC_CODES[refused.kind], "message": refused.message, "details": details})


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
