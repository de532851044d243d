"""What a policy left on a span, sent along with it.

A sender that redacts knows which values its policy removed whole, and how long changed texts were. OTLP has no field for that,
so it travels as one attribute and becomes the fields of the model again where the span is taken in:

    otelreplay.redaction = {"removed": [[path, rule, action], ...], "lengths": {attribute: characters, ...}}

Without it the receiver would take what was removed for what was never recorded. An attribute of that name that holds anything
else is an attribute like any other.
"""

from __future__ import annotations

from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.spans.model import Removal, Span

ATTRIBUTE = "otelreplay.redaction"


def carrying(span: Span) -> Span:
    """The span with its marks as an attribute; the same span if it has none."""
    if not span.removed and not span.lengths:
        return span
    told: dict[str, Any] = {}
    if span.removed:
        told["removed"] = [[each.path, each.rule, each.action] for each in span.removed]
    if span.lengths:
        told["lengths"] = dict(span.lengths)
    attributes = span.attributes | {ATTRIBUTE: canonical.dumps(told).decode("utf-8", "replace")}
    return msgspec.structs.replace(span, attributes=attributes, removed=(), lengths={})


def lifted(span: Span) -> Span:
    """The inverse of :func:`carrying`."""
    told = span.attributes.get(ATTRIBUTE)
    if told is None:
        return span
    found = _read(told)
    if found is None:
        return span
    removed, lengths = found
    attributes = {key: value for key, value in span.attributes.items() if key != ATTRIBUTE}
    return msgspec.structs.replace(
        span, attributes=attributes, removed=(*span.removed, *removed), lengths={**span.lengths, **lengths}
    )


def _read(told: Any) -> tuple[tuple[Removal, ...], dict[str, int]] | None:
    is_json, value = canonical.read_json(told) if isinstance(told, str) else (False, None)
    if not is_json or not isinstance(value, dict) or value.keys() - {"removed", "lengths"}:
        return None
    removed, lengths = value.get("removed", []), value.get("lengths", {})
    if not isinstance(removed, list) or not isinstance(lengths, dict):
        return None
    if not all(isinstance(each, list) and len(each) == 3 and all(isinstance(part, str) for part in each) for each in removed):
        return None
    if not all(type(length) is int and length >= 0 for length in lengths.values()):
        return None
    return tuple(Removal(*each) for each in removed), lengths
