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
    lengths: dict[int, int] = {}
    try:
        for field in wire.walk(data, start, end):
            if found := _DECISIVE.get((field.number, field.type)):
                return found
            lengths[field.number] = field.end - field.start
    except wire.DamageError:
        return None
    # No time, no kind, no attributes. Spans and metrics always have a first field: ids of 16 and 8 bytes (or, wrongly, their
    # hex text), or a name. What is left then is a log record with a body or a trace id.
    if 1 not in lengths:
        return "logs" if lengths else None
    if lengths[1] in (16, 32) and lengths.get(2) in (8, 16):
        return "traces"
    return "metrics" if lengths.keys() & {5, 9, 10, 11} else None


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
