"""A protobuf element that the protobuf library refuses, record by record: keeps every record that can still be read.

What makes the library refuse a whole message: one text that is not UTF-8, one value nested beyond its limit, bytes missing at
the end. Here the wire format is walked by hand, so only the record that holds the fault suffers, and often not even that.
"""

from __future__ import annotations

from typing import NamedTuple

from otelreplay.inputs import records, wire
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.signals import Signal
from otelreplay.spans.model import Resource, Scope


class _Group(NamedTuple):
    """The parts of an element or of a scope group: both are {1: who, 2: contents, 3: schema URL}."""

    who: bytes
    contents: list[tuple[int, bytes]]
    schema_url: str
    damage: wire.DamageError | None


def take_element(data: bytes, signal: Signal, where: str, gather: Gather) -> None:
    """Put into ``gather`` every record of the element that can be read, and a refusal for each one that cannot."""
    tally = gather.tally
    element = _group(data, keep_cut=True)
    of = Resource()
    try:
        of = gather.resource(records.resource(wire.record(element.who, wire.RESOURCE, tally), tally))
    except RefusedError as refused:
        gather.refuse(where, f"its resource cannot be read: {refused}")
    for number, (at, content) in enumerate(element.contents):
        group = _group(content, keep_cut=False)
        place = f"{where}, scope {number}"
        by = Scope(schema_url=group.schema_url or element.schema_url)
        try:
            by = gather.scope(records.scope(wire.record(group.who, wire.SCOPE, tally), by.schema_url, tally))
        except RefusedError as refused:
            gather.refuse(place, f"its scope cannot be read: {refused}")
        for index, (_, record) in enumerate(group.contents):
            try:
                if signal == "traces":
                    gather.spans.append(records.span(wire.record(record, wire.SPAN, tally), of, by, tally))
                else:
                    gather.logs.append(records.log(wire.record(record, wire.LOG, tally), of, by, tally))
            except RefusedError as refused:
                gather.refuse(f"{place}, record {index}", str(refused), _ids(record, signal))
        if group.damage is not None and element.damage is None:
            gather.refuse(f"{where}, {at + group.damage.at} bytes in", f"the data is damaged: {group.damage.why}")
    if element.damage is not None:
        gather.refuse(f"{where}, {element.damage.at} bytes in", f"the data is damaged: {element.damage.why}")


def _ids(data: bytes, signal: Signal) -> tuple[str, str]:
    """Trace id and span id of a record that was refused, as far as they can be read."""
    numbers = {1: "traceId", 2: "spanId"} if signal == "traces" else {9: "traceId", 10: "spanId"}
    found: dict[str, str] = {}
    try:
        for field in wire.walk(data, 0, len(data)):
            if field.type == wire.LEN and field.number in numbers:
                found[numbers[field.number]] = data[field.start : field.end].hex()
    except wire.DamageError:
        pass  # what stands before the damage was read
    return records.ids_of(found)


def _group(data: bytes, *, keep_cut: bool) -> _Group:
    """Split a group.

    What a cut left of the last scope group is kept, because the records before the cut are whole. What it left of a record
    is not: cut between two fields it would look like a whole one.
    """
    who, url = b"", b""
    contents: list[tuple[int, bytes]] = []
    damage = None
    try:
        for field in wire.walk(data, 0, len(data)):
            content = data[field.start : field.end]
            if field.type != wire.LEN:
                continue
            if field.number == 1:
                who = content
            elif field.number == 2:
                contents.append((field.start, content))
            elif field.number == 3:
                url = content
    except wire.DamageError as found:
        damage = found
        if keep_cut and found.content and found.number == 2:
            contents.append((found.content, data[found.content :]))
    return _Group(who, contents, url.decode("utf-8", "replace"), damage)
