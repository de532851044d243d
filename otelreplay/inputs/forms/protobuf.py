"""OTLP protobuf: one message (an export request, TracesData or LogsData), or many behind length prefixes.

Theory of operation. A message is walked on the wire, one element (ResourceSpans, ResourceLogs, ResourceMetrics) at a time, so a
file that is one message of any size needs memory for one element only. An element above ``_WHOLE`` is walked as well and
handed on in slices, each with the element's resource and scope written before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from otelreplay.inputs import framing, wire
from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.protobuf import take_element
from otelreplay.inputs.source import Source
from otelreplay.spans.model import Batch

_WHOLE = 4 << 20
_SLICE = 1 << 20
_PREFIX = 20
"""Bytes that are enough for a tag and a length."""
_ALL = 1 << 62


class _Messages:
    """Reads messages from a source."""

    def __init__(self, source: Source, reading: Reading) -> None:
        self._source, self._reading = source, reading
        self.gather = Gather(reading.name, reading.tally)
        self.cut = False
        """True once the data of the present message turned out to be damaged or incomplete."""

    def message(self, end: int | None) -> Iterator[Batch]:
        """The message up to offset ``end`` (None: to the end of the data). What is damaged is refused, up to ``end``."""
        source, gather = self._source, self.gather
        try:
            while (field := self._field(end)) is not None:
                if field.number == 1 and field.type == wire.LEN:
                    self._reading.recognise()
                    yield from self._element(field, end)
                else:
                    source.skip(field.end)
                if gather.full:
                    yield gather.batch()
        except wire.DamageError as damage:
            self._damaged(damage, end)

    def _damaged(self, damage: wire.DamageError, end: int | None) -> None:
        """Refuse what is damaged, and go on behind what holds it."""
        rest = self._source.skip(_ALL if end is None else end - self._source.offset)
        self.gather.refuse(f"byte {damage.at}", f"the data is damaged ({damage.why}); {rest} bytes after it were passed over")
        self.cut = True

    def _field(self, end: int | None) -> wire.Field | None:
        """The next field's header, the source standing at its content then.

        ``start`` of the result is where the field begins in the file, ``end`` the size of its content.
        """
        source = self._source
        begin = source.offset
        head = source.peek(_PREFIX if end is None else min(_PREFIX, end - begin))
        if not head:
            return None
        try:
            tag, at = wire.varint(head, 0, len(head))
            kind, size = tag & 7, {wire.I64: 8, wire.I32: 4}.get(tag & 7, 0)
            if kind == wire.LEN:
                size, at = wire.varint(head, at, len(head))
            elif kind == wire.VARINT:
                _, at = wire.varint(head, at, len(head))
            elif not size:
                raise wire.DamageError(0, "a field has a type that OTLP does not use")
        except wire.DamageError as damage:
            raise wire.DamageError(begin, damage.why) from None
        if not tag >> 3:
            raise wire.DamageError(begin, "a field has an impossible number")
        source.advance(at)
        return wire.Field(tag >> 3, kind, begin, size)

    def _element(self, field: wire.Field, end: int | None) -> Iterator[Batch]:
        source, size = self._source, field.end
        stop = source.offset + size
        if end is not None and stop > end:
            self.gather.refuse(f"byte {field.start}", "this element is longer than the message that holds it")
            stop = end
        if stop - source.offset <= _WHOLE:
            self._decode(source.take(stop - source.offset), f"byte {field.start}")
        else:
            try:
                yield from self._large_element(stop)
            except wire.DamageError as damage:
                self._damaged(damage, stop)
        if source.offset < stop and not self.cut:
            self.gather.refuse(f"byte {source.offset}", f"the data ends inside the element that starts at byte {field.start}")
            self.cut = True

    def _large_element(self, end: int) -> Iterator[Batch]:
        head = b""
        while (field := self._inner(end)) is not None:
            if field.type != wire.LEN or field.number > 2:
                self._late(field)
            elif field.number == 1:
                head = wire.header(1, field.end) + self._take(field)
            elif field.end <= _WHOLE:
                content = self._source.take(field.end)
                self._decode(head + wire.header(2, field.end) + content, f"byte {field.start}")
            else:
                yield from self._large_group(head, self._source.offset + field.end)
            if self.gather.full:
                yield self.gather.batch()

    def _large_group(self, head: bytes, end: int) -> Iterator[Batch]:
        scope, held, first = b"", bytearray(), self._source.offset
        try:
            while (field := self._inner(end)) is not None:
                if field.type != wire.LEN or field.number > 2:
                    self._late(field)
                    continue
                content = self._take(field)
                if field.number == 1:
                    scope = wire.header(1, len(content)) + content
                    continue
                if len(content) == field.end:
                    first = first if held else field.start
                    held += wire.header(2, len(content)) + content
                if len(held) >= _SLICE:
                    self._decode_group(head, scope + held, first)
                    held.clear()
                    if self.gather.full:
                        yield self.gather.batch()
        finally:
            self._decode_group(head, scope + held, first)

    def _inner(self, end: int) -> wire.Field | None:
        """A field inside an element: it has to fit."""
        field = self._field(end)
        if field is not None and self._source.offset + field.end > end:
            raise wire.DamageError(field.start, "a field is longer than what holds it")
        return field

    def _decode_group(self, head: bytes, group: bytes, first: int) -> None:
        self._decode(head + wire.header(2, len(group)) + group, f"from byte {first}")

    def _decode(self, element: bytes, where: str) -> None:
        take_element(element, where, self.gather)
        self.gather.weight += len(element)

    def _take(self, field: wire.Field) -> bytes:
        """A field's content; nothing (and a refusal) when it is beyond the limit."""
        if field.end <= self._reading.max_record:
            return self._source.take(field.end)
        if self._source.skip(field.end) == field.end:
            self.gather.refuse(f"byte {field.start}", f"it is larger than {self._reading.max_record} bytes")
        return b""

    def _late(self, field: wire.Field) -> None:
        self._source.skip(field.end)
        if field.number == 3 and field.end:
            self.gather.tally.note("schema_url_after_records")


def _read_message(source: Source, reading: Reading) -> Iterator[Batch]:
    messages = _Messages(source, reading)
    yield from messages.message(None)
    yield from messages.gather.drain()


def _read_frames(source: Source, reading: Reading, kind: framing.Framing) -> Iterator[Batch]:
    messages = _Messages(source, reading)
    gather = messages.gather
    while head := source.peek(_PREFIX):
        begin, messages.cut = source.offset, False
        try:
            size, at = framing.prefix(head, 0, kind)
            if size and at < len(head) and head[at] != framing.ENVELOPE_TAG:
                raise wire.DamageError(0, "no OTLP message follows this length")
        except wire.DamageError as damage:
            rest = source.skip(_ALL)
            gather.refuse(f"byte {begin}", f"the data is damaged ({damage.why}); the last {rest} bytes cannot be read")
            break
        source.advance(at)
        end = source.offset + size
        yield from messages.message(end)
        if source.offset < end and not messages.cut:
            gather.refuse(f"byte {source.offset}", f"the data ends inside the message that starts at byte {begin}")
        yield from gather.drain()
    yield from gather.drain()


def _form(label: str, kind: framing.Framing, read: Callable[[Source, Reading], Iterator[Batch]]) -> Form:
    def sniff(head: Head) -> bool:
        return framing.framing(head.data) == kind

    return Form(label, sniff, read)


PROTOBUF = _form("OTLP protobuf", "message", _read_message)
PROTOBUF_FIXED = _form(
    "OTLP protobuf, each message behind its length in four bytes",
    "fixed",
    lambda source, reading: _read_frames(source, reading, "fixed"),
)
PROTOBUF_VARINT = _form(
    "OTLP protobuf, each message behind its length as a varint",
    "varint",
    lambda source, reading: _read_frames(source, reading, "varint"),
)
