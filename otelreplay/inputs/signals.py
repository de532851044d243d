"""Which signal an element carries: ResourceSpans, ResourceLogs and ResourceMetrics are the same envelope on the wire.

Source: trace.proto, logs.proto, metrics.proto. All three are {1: resource, 2: scopes{1: scope, 2: records}}; the records share
field numbers too, but seldom with one type. The first record that decides it speaks for its element.
"""

from __future__ import annotations

from typing import Literal

from otelreplay.inputs import wire

Signal = Literal["traces", "logs", "metrics"]

_DECISIVE: dict[tuple[int, int], Signal] = {
    (4, wire.LEN): "traces",  # parent span id
    (6, wire.VARINT): "traces",  # kind
    (7, wire.I64): "traces",  # start
    (8, wire.I64): "traces",  # end
    (10, wire.VARINT): "traces",  # dropped attributes
    (15, wire.LEN): "traces",  # status
    (16, wire.I32): "traces",  # flags
    (1, wire.I64): "logs",  # time
    (2, wire.VARINT): "logs",  # severity
    (6, wire.LEN): "logs",  # attributes
    (8, wire.I32): "logs",  # flags
    (11, wire.I64): "logs",  # observed time
    (7, wire.LEN): "metrics",  # sum
}


def signal_of(element: bytes) -> Signal:
    """The signal of an element; "traces" when nothing in it decides."""
    try:
        for scoped in wire.walk(element, 0, len(element)):
            if scoped.number != 2 or scoped.type != wire.LEN:
                continue
            for item in wire.walk(element, scoped.start, scoped.end):
                if item.number == 2 and item.type == wire.LEN and (found := signal_of_record(element, item.start, item.end)):
                    return found
    except wire.DamageError:
        pass
    return "traces"


def signal_of_record(data: bytes, start: int, end: int) -> Signal | None:
    """The signal of the record in ``data[start:end]``; None when its fields do not tell."""
    found: dict[int, wire.Field] = {}
    try:
        for field in wire.walk(data, start, end):
            if signal := _DECISIVE.get((field.number, field.type)):
                return signal
            found[field.number] = field
    except wire.DamageError:
        return None
    # No time, no kind, no flags. Spans and metrics always have a first field; without it, what is left is a log record.
    if 1 not in found:
        return "logs" if found else None
    return "metrics" if 10 in found or any(_is_metric(data, found.get(number)) for number in (5, 9, 11)) else "traces"


def _is_metric(data: bytes, field: wire.Field | None) -> bool:
    """True for the gauge, histogram or summary of a metric, where a span has its name, an attribute or an event.

    A gauge or summary starts with its data points, which is a byte that starts no name and no event. A histogram, unlike an
    attribute, has a number (its temporality) as second field.
    """
    if field is None or field.start == field.end:
        return False
    if field.number != 9:
        return data[field.start] == 1 << 3 | wire.LEN
    try:
        return any((inner.number, inner.type) == (2, wire.VARINT) for inner in wire.walk(data, field.start, field.end))
    except wire.DamageError:
        return False


def count_records(element: bytes) -> int:
    """How many records an element holds, up to the first damage."""
    count = 0
    try:
        for scoped in wire.walk(element, 0, len(element)):
            if scoped.number == 2 and scoped.type == wire.LEN:
                count += sum(item.number == 2 for item in wire.walk(element, scoped.start, scoped.end))
    except wire.DamageError:
        pass
    return count
