"""What tracing backends that know tags only keep of a span's other parts: under the tags that OpenTelemetry's exporters write.

Source: the specification's "OpenTelemetry to Jaeger" and "… to Zipkin transformation".
"""

from __future__ import annotations

from typing import Any, NamedTuple

from otelreplay.inputs.gather import Gather
from otelreplay.spans.model import Attributes, Scope

_SCOPES = (("otel.scope.name", "otel.scope.version"), ("otel.library.name", "otel.library.version"))
_STATUS, _MESSAGE, _ERROR = "otel.status_code", "otel.status_description", "error"
_DROPPED = {
    "dropped_attributes_count": "otel.dropped_attributes_count",
    "dropped_events_count": "otel.dropped_events_count",
    "dropped_links_count": "otel.dropped_links_count",
}


class Lifted(NamedTuple):
    """The tags that are attributes, and what the others said of the span."""

    attributes: Attributes
    fields: dict[str, Any]


def lifted(tags: Attributes, gather: Gather) -> Lifted:
    """Take status, scope, dropped counts and trace state out of the tags."""
    left = dict(tags)
    fields: dict[str, Any] = _status(left)
    names = next(((name, version) for name, version in _SCOPES if isinstance(left.get(name), str)), None)
    if names is not None:
        fields["scope"] = gather.scope(Scope(str(left.pop(names[0])), str(left.pop(names[1], "") or "")))
        for name, version in _SCOPES:
            left.pop(name, None)
            left.pop(version, None)
    for field, tag in _DROPPED.items():
        found = left.get(tag)
        if isinstance(found, int | str) and str(found).isdecimal() and len(str(found)) < 10:
            fields[field] = int(left.pop(tag))
    if isinstance(left.get("w3c.tracestate"), str):
        fields["trace_state"] = left.pop("w3c.tracestate")
    return Lifted(left, fields)


def _status(left: Attributes) -> dict[str, Any]:
    """Code and message; ``error`` is a flag in Jaeger, and the message in Zipkin."""
    error, said = left.get(_ERROR), left.get(_STATUS)
    if said not in ("OK", "ERROR") and error in (None, False, "false"):
        return {}
    left.pop(_STATUS, None)
    if said == "OK":
        return {"status_code": 1}
    message = left.pop(_MESSAGE, None)
    if error is not None and (error in (True, "true") or isinstance(error, str)):
        left.pop(_ERROR)
        message = error if message is None and error not in (True, "true") else message
    return {"status_code": 2, "status_message": message if isinstance(message, str) else ""}
